// Keys of rtfig.toml for the secrets of scripts. test/secrets/grants tests the rest.
import { expect } from "bun:test";
import { runIn } from "../options/prove.ts";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { hashIn, trustOf } from "../support/trusted.ts";
import { effect } from "./effects.ts";

const MANIFEST = { name: "app", scripts: { show: "echo got $TOKEN", other: "echo got $TOKEN" } };
const PRINT = `from = { command = ["printf", "a value"] }`;

async function run(config: string, script = "show") {
  await using project = await createProject({ "package.json": MANIFEST, "rtfig.toml": config });
  const options = { args: ["--silent", "--no-redact", "run", script], cwd: project.path };
  const first = await runRt(options);
  return hashIn(first) ? await runRt({ ...options, env: { RT_TRUST: await trustOf(project.path) } }) : first;
}

/** Returns the source of a secret in the plan. */
async function source(from: string): Promise<string> {
  const files = {
    "package.json": MANIFEST,
    "rtfig.toml": `[secrets.TOKEN]\n${from}\n[run.secrets]\nshow = ["TOKEN"]`,
  };
  const { stderr } = await runIn(files, ["run", "show"], { env: { RT_DEBUG: "plan" } });
  return JSON.parse(stderr.split("\n")[0]!).secrets[0].source;
}

effect("project.id", "identifies the project of age files", async () => {
  await using project = await createProject({
    "package.json": MANIFEST,
    "rtfig.toml": `[project]\nid = "com.acme.shop"\n[secrets.TOKEN]\nfrom = "age:s.age"\n[run.secrets]\nshow = ["TOKEN"]`,
  });
  const { stdout: RT_AGE_KEY } = await runRt({ args: ["secrets", "share", "new-key"] });
  const rt = async (args: string[]) => {
    const env = { RT_AGE_KEY, RT_TRUST: await trustOf(project.path) };
    return await runRt({ args, cwd: project.path, env, stdin: "a value" });
  };
  expect(await rt(["secrets", "set", "--file=s.age", "TOKEN"])).toEqual({
    stdout: "",
    stderr: "",
    status: 0,
  });
  const show = ["--silent", "--no-redact", "run", "show"];
  expect((await rt(show)).stdout).toBe("got a value\n");
  const text = await Bun.file(project.join("rtfig.toml")).text();
  await project.write({ "rtfig.toml": text.replace("com.acme.shop", "com.acme.other") });
  expect((await rt(show)).stderr).toStartWith('error: s.age belongs to another project, "com.acme.shop"\n');
});

effect("run.secrets.*", "grants a secret to scripts", async () => {
  const config = `[secrets.TOKEN]\n${PRINT}\n[run.secrets]\n"sh*" = ["TOKEN"]`;
  expect(await run(config)).toEqual({ stdout: "got a value\n", stderr: "", status: 0 });
  expect(await run(config, "other")).toEqual({ stdout: "got\n", stderr: "", status: 0 });
  expect(await run(config.replace('["TOKEN"]', '["TOKNE"]'))).toEqual({
    stdout: "",
    stderr:
      'error: rtfig.toml:4: run.secrets."sh*" names TOKNE, which is not in [secrets]\nhint: did you mean TOKEN?\n',
    status: 1,
  });
});

effect("secrets.*.from", "is an address in the credential store", async () => {
  expect(await source('from = "com.acme/npm/x"')).toBe("com.acme/npm/x");
});

effect("secrets.*.from.service", "may contain a slash", async () => {
  expect(await source('from = { service = "com/acme", name = "npm" }')).toBe(
    'service "com/acme", name "npm"',
  );
});

effect("secrets.*.from.name", "is required with a service", async () => {
  const { stderr, status } = await run('[secrets.TOKEN]\nfrom.name = "npm"\n[run.secrets]\nshow = ["TOKEN"]');
  expect([stderr, status]).toEqual([
    'error: rtfig.toml:2: secrets.TOKEN.from needs service and name, or command alone\nhint: write { command = ["op", "read", "..."] }\n',
    1,
  ]);
});

effect("secrets.*.from.command", "is a program that prints the value", async () => {
  const config = (command: string) =>
    `[secrets.TOKEN]\nfrom.command = ${command}\n[run.secrets]\nshow = ["TOKEN"]`;
  expect((await run(config('["printf", "%s\\\\n", "$HOME"]'))).stdout).toBe("got $HOME\n");
  expect((await run(config('["printf", "a\\u0000b"]'))).stderr).toBe(
    "error: rtfig.toml:2: secrets.TOKEN.from has a NUL character in its command, which no program can receive\n",
  );
});

effect("secrets.*.about", "describes a missing secret", async () => {
  const config =
    '[secrets.TOKEN]\nfrom.command = ["false"]\nabout = "of \\u001b[2J"\n[run.secrets]\nshow = ["TOKEN"]';
  expect((await run(config)).stderr).toContain("TOKEN (of \\u001b[2J)");
});

effect("secrets.*.optional", "lets a script run without it", async () => {
  const config = (optional: boolean) =>
    `[secrets.TOKEN]\nfrom.command = ["false"]\noptional = ${optional}\n[run.secrets]\nshow = ["TOKEN"]`;
  expect(await run(config(true))).toEqual({ stdout: "got\n", stderr: "", status: 0 });
  expect((await run(config(false))).status).toBe(1);
});

effect("secrets.*.redact", "applies to a single secret", async () => {
  const config = (redact: string) =>
    `[secrets.TOKEN]\n${PRINT}\nredact = ${redact}\n[run.secrets]\nshow = ["TOKEN"]`;
  expect((await run(config("false"))).stdout).toBe("got a value\n");
  expect((await run(config("1"))).stderr).toBe(
    "error: rtfig.toml:3: secrets.TOKEN.redact needs true or false, not 1\n",
  );
});

effect("tasks.*.secrets", "grants a secret to scripts, besides [run.secrets]", async () => {
  const config = `[secrets.TOKEN]\n${PRINT}\n[tasks."sh*"]\nsecrets = ["TOKEN"]`;
  expect(await run(config)).toEqual({ stdout: "got a value\n", stderr: "", status: 0 });
  expect(await run(config, "other")).toEqual({ stdout: "got\n", stderr: "", status: 0 });
  expect(await run(config.replace('["TOKEN"]', '["TOKNE"]'))).toEqual({
    stdout: "",
    stderr:
      'error: rtfig.toml:4: tasks."sh*" names TOKNE, which is not in [secrets]\nhint: did you mean TOKEN?\n',
    status: 1,
  });
  expect((await run(config.replace("sh*", "//#show"))).stderr).toBe(
    'error: rtfig.toml:4: tasks."//#show".secrets needs the name of the root package\nhint: write it instead of "//"\n',
  );
});
