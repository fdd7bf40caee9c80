// Keys of rtfig.toml for remote execution. test/remote-execution/single-script.test.ts tests the rest.
import { expect } from "bun:test";
import { createCertificates } from "../support/servers/certificates.ts";
import { createProject, type Files } from "../support/project.ts";
import { openReapiServer, type ReapiServer } from "../support/servers/reapi-server.ts";
import { cleanEnvironment, type Environment, runRt } from "../support/rt.ts";
import { trustAll } from "../support/trusted.ts";
import { effect } from "./effects.ts";

const isLinux = process.platform === "linux";
const SYSTEM = `${process.platform}-${process.arch}`;

interface RemoteScript {
  readonly script?: string;
  readonly files?: Files;
  readonly env?: Environment;
  readonly words?: readonly string[];
}

/** Runs the script `t` on a server. @param more lines of [run.remote], and tables below it */
async function runRemotely(
  server: Pick<ReapiServer, "url">,
  more: string,
  { script = "echo there", files = {}, env = {}, words = ["t"] }: RemoteScript = {},
) {
  const system = more.includes("system =") ? "" : `system = "${SYSTEM}"\n`;
  await using project = await createProject({
    "package.json": { scripts: { t: script } },
    ...files,
    "rtfig.toml": `[run.remote]\nurl = "${server.url}"\n${system}${more}\n`,
  });
  await Bun.spawn(["git", "init", "-q"], { cwd: project.path, env: cleanEnvironment() }).exited;
  const result = await runRt({
    args: ["run", "--remote", "--silent", ...words],
    cwd: project.path,
    env: { ...(await trustAll(project.path)), ...env },
  });
  const made = Bun.file(project.join("made"));
  return { ...result, made: (await made.exists()) ? await made.text() : undefined };
}

effect("run.remote.url", "is the address of the server", async () => {
  if (!isLinux) return;
  await using server = await openReapiServer();
  expect(await runRemotely(server, "")).toMatchObject({ stdout: "there\n", stderr: "", status: 0 });
});

effect("run.remote.instance", "is sent with each call", async () => {
  if (!isLinux) return;
  await using server = await openReapiServer();
  expect((await runRemotely(server, 'instance = "main/two"')).status).toBe(0);
  expect(server.instances).toEqual(new Set(["main/two"]));
});

effect("run.remote.headers.*", "is sent, with variables expanded", async () => {
  if (!isLinux) return;
  await using server = await openReapiServer();
  const table = '[run.remote.headers]\nx-key = "Bearer ${KEY}, $KEY"';
  expect((await runRemotely(server, table, { env: { KEY: "k1" } })).status).toBe(0);
  expect(server.headers.get("x-key")).toBe("Bearer k1, k1");
});

effect("run.remote.properties.*", "selects a worker", async () => {
  if (!isLinux) return;
  await using server = await openReapiServer();
  expect((await runRemotely(server, '[run.remote.properties]\nOSFamily = "linux"\nArch = "x"')).status).toBe(
    0,
  );
  const properties = server.commands[0]!.platform!.properties.map(({ name, value }) => `${name}=${value}`);
  expect(properties).toEqual(["Arch=x", "OSFamily=linux"]);
});

effect("run.remote.system", "must be this machine's system", async () => {
  await using server = await openReapiServer();
  expect((await runRemotely(server, 'system = "linux-mips"')).stderr).toStartWith(
    `error: The script cannot run remotely: the server runs linux-mips, and node_modules is for ${SYSTEM}\n`,
  );
  expect(server.calls).toEqual([]);
});

effect("run.remote.timeout", "ends a call without a response", async () => {
  if (!isLinux) return;
  using silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const server = { url: `grpc://127.0.0.1:${silent.port}` };
  const { stderr, status } = await runRemotely(server, "timeout = 1");
  expect(stderr).toStartWith(`error: The server ${server.url} `);
  expect(status).toBe(1);
});

async function runBehindTls(names: readonly string[]): Promise<number | string> {
  await using certificates = await createCertificates();
  const { key, cert, authority } = certificates;
  const ca = await Bun.file(authority).text();
  await using server = await openReapiServer({}, { key, cert, ca });
  const files = { "ca.pem": ca, "cert.pem": cert, "key.pem": key };
  const more = names.map((name) => `${name} = "${name}.pem"`).join("\n");
  return (await runRemotely(server, more, { files })).status;
}

effect("run.remote.ca", "verifies the server's certificate", async () => {
  if (!isLinux) return;
  expect(await runBehindTls(["ca", "cert", "key"])).toBe(0);
  expect(await runBehindTls(["cert", "key"])).toBe(1);
});

effect("run.remote.cert", "identifies rt, together with the key", async () => {
  if (!isLinux) return;
  expect(await runBehindTls(["ca"])).toBe(1);
});

effect("run.remote.key", "needs a certificate", async () => {
  if (!isLinux) return;
  await using server = await openReapiServer();
  for (const only of ["cert", "key"])
    expect((await runRemotely(server, `${only} = "x.pem"`)).stderr).toBe(
      "error: run.remote.cert and run.remote.key belong together\nhint: give both, or neither\n",
    );
  const none = { "x.pem": "no certificate" };
  const { stderr } = await runRemotely(
    { url: "grpcs://localhost:1" },
    'ca = "x.pem"\ncert = "x.pem"\nkey = "x.pem"',
    { files: none },
  );
  expect(stderr).toStartWith("error: The server grpcs://localhost:1 ");
  expect(stderr.split("\n").length).toBe(3);
});

effect("run.remote.scripts.*.outputs", "lists the files that are downloaded", async () => {
  if (!isLinux) return;
  await using server = await openReapiServer();
  const script = "echo it > made";
  const table = '[run.remote.scripts.t]\noutputs = ["made"]';
  expect(await runRemotely(server, table, { script })).toMatchObject({ made: "it\n", status: 0 });
  expect((await runRemotely(server, "", { script })).made).toBeUndefined();
});

effect("run.remote.scripts.*.env", "lists the variables that the script gets", async () => {
  if (!isLinux) return;
  await using server = await openReapiServer();
  const table = '[run.remote.scripts.t]\nenv = ["A"]';
  const { stdout } = await runRemotely(server, table, { script: "echo $A$B", env: { A: "1", B: "2" } });
  expect(stdout).toBe("1\n");
});

effect("run.remote.scripts.*.inputs", "adds files to upload", async () => {
  if (!isLinux) return;
  await using server = await openReapiServer();
  const files = { ".gitignore": "made-*", "made-a": "a", "made-b": "b" };
  const table = '[run.remote.scripts.t]\ninputs = ["made-a"]';
  expect((await runRemotely(server, table, { script: "ls", files })).stdout).toBe(
    "made-a\npackage.json\nrtfig.toml\n",
  );
});

effect("run.remote.scripts.*.remote", "runs a script locally or remotely", async () => {
  if (!isLinux) return;
  await using server = await openReapiServer();
  const ran = { stdout: "there\n", status: 0 };
  const table = (value: boolean) => `[run.remote.scripts.t]\nremote = ${value}`;
  expect(await runRemotely(server, table(false))).toMatchObject(ran);
  expect(server.commands).toEqual([]);
  expect(await runRemotely(server, table(true))).toMatchObject(ran);
  expect(server.commands.length).toBe(1);
});

effect("run.remote.concurrency", "limits the number of concurrent remote scripts", async () => {
  if (!isLinux) return;
  const packages = ["a", "b"].map((name) => [
    `${name}/package.json`,
    { name, scripts: { t: `echo ${name}` } },
  ]);
  const files = { "package.json": { workspaces: ["a", "b"] }, ...Object.fromEntries(packages) };
  for (const most of [1, 2]) {
    let running = 0;
    const seen: number[] = [];
    const all = Promise.withResolvers<void>();
    await using server = await openReapiServer({
      async started() {
        seen.push(++running);
        if (running === most) all.resolve();
        await all.promise;
      },
      result: () => void running--,
    });
    const options = { files, words: ["--filter", "*", "t"] };
    expect((await runRemotely(server, `concurrency = ${most}`, options)).status).toBe(0);
    expect(seen).toEqual(most === 1 ? [1, 1] : [1, 2]);
  }
});

effect(
  "tasks.*.remote",
  "runs a script locally or remotely, with its declared files and variables",
  async () => {
    if (!isLinux) return;
    await using server = await openReapiServer();
    const table = (value: boolean) =>
      `[tasks.t]\nremote = ${value}\noutputs = ["made/**"]\nenv = ["A"]\ninputs = ["in-a"]`;
    const more = {
      script: "mkdir -p made; ls; echo $A$B | tee made/it",
      env: { A: "1", B: "2" },
      files: { ".gitignore": "in-*", "in-a": "", "in-b": "" },
    };
    const local = await runRemotely(server, table(false), more);
    expect([local.stdout.includes("in-b"), server.commands.length]).toEqual([true, 0]);
    const { stdout, status } = await runRemotely(server, table(true), more);
    expect({ stdout, status }).toEqual({ stdout: "in-a\nmade\npackage.json\nrtfig.toml\n1\n", status: 0 });
    expect(server.commands.length).toBe(1);
    const wrong = await runRemotely(server, table(true).replace("made/**", "*.js"), more);
    expect(wrong.stderr).toBe(
      'error: tasks.t.outputs: "*.js" is not a file or directory of the package\n' +
        'hint: write names, such as "dist" or "coverage/report.json", without wildcards\n',
    );
  },
);
