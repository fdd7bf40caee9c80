// Variables that a project's files send to a server: the user must allow each variable for each server.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openRegistry } from "../../options/registry.ts";
import { createProject, type Project } from "../../support/project.ts";
import { openReapiServer } from "../../support/servers/reapi-server.ts";
import { cleanEnvironment, type Environment, RT, runRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";
import { trustAll, hashIn } from "../../support/trusted.ts";

const VALUE = "value-of-another-service";

const isLinux = process.platform === "linux";

describe.skipIf(!isLinux)("variables for a server", () => {
  let project: Project;
  let home: Project;
  let server: ReturnType<typeof Bun.serve>;
  const sent: (string | null)[] = [];
  beforeAll(async () => {
    server = Bun.serve({
      port: 0,
      fetch({ headers, method }) {
        sent.push(headers.get("authorization"));
        return method === "PUT" ? Response.json({ urls: [] }) : new Response("", { status: 404 });
      },
    });
    home = await createProject();
  });
  afterAll(async () => {
    await server?.stop(true);
    await project?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    sent.length = 0;
    await project?.[Symbol.asyncDispose]();
    project = await createProject({
      "package.json": { name: "app", scripts: { build: "echo built" } },
      "rtfig.toml": config(server.url.origin),
    });
  });

  const config = (url: string, token = 'token = "$OTHER_SECRET"') =>
    `[run.cache]\nbuild = true\n[cache.remote]\nurl = "${url}"\nsignature = false\n${token}\n`;
  const env = (extra: Environment = {}) => ({ OTHER_SECRET: VALUE, XDG_CACHE_HOME: home.path, ...extra });
  const rt = (args: readonly string[], extra?: Environment) =>
    runRt({ args, cwd: project.path, env: env(extra) });
  const BUILD = ["--force", "run", "build"];

  test("the shared cache gets no variable of the environment without consent, also in a dry run", async () => {
    const { stdout, stderr, status } = await rt(BUILD);
    expect([stdout, status]).toEqual(["built\n", 0]);
    expect(stderr).toStartWith(
      `warning: shared cache disabled: ${project.path} is not allowed to send OTHER_SECRET to the shared cache ${server.url.origin}\n` +
        "hint: review the secrets with rt secrets env, then allow them on a terminal: rt trust\n" +
        `hint: without a terminal, as in CI: RT_TRUST=${hashIn({ stderr })}\n`,
    );
    for (const words of [["--filter=*"], ["--sequential"]]) {
      const dry = await rt(["--cache=local:rw,remote:rw", "run", "--dry-run", ...words, "build"]);
      expect([dry.status, dry.stderr]).toEqual([
        0,
        expect.stringContaining("OTHER_SECRET to the shared cache"),
      ]);
    }
    expect(sent).toEqual([]);
  });

  test("consent applies to one variable and one server", async () => {
    const allowed = await trustAll(project.path);
    expect((await rt(BUILD, allowed)).stderr).not.toContain("warning");
    expect(new Set(sent)).toEqual(new Set([`Bearer ${VALUE}`]));
    sent.length = 0;
    await project.write({ "rtfig.toml": config(`${server.url.origin}/elsewhere`) });
    expect((await rt(BUILD, allowed)).stderr).toContain("OTHER_SECRET to the shared cache");
    await project.write({ "rtfig.toml": config(server.url.origin, 'token = "$THIRD"') });
    expect((await rt(BUILD, { ...allowed, THIRD: VALUE })).stderr).toContain("THIRD to the shared cache");
    expect(sent).toEqual([]);
  });

  test("TURBO_TOKEN is sent to a server of rtfig.toml with consent, and to that of TURBO_API without", async () => {
    const turbo = { TURBO_TOKEN: "token-of-turbo" };
    const refused = await rt(BUILD, turbo);
    expect(refused.stderr).toContain("is not allowed to send TURBO_TOKEN to the shared cache");
    expect(sent).toEqual([]);
    const hash = hashIn(refused)!;
    await rt(BUILD, { ...turbo, RT_TRUST: hash });
    expect(new Set(sent)).toEqual(new Set(["Bearer token-of-turbo"]));
    sent.length = 0;
    const named = await rt(BUILD, { ...turbo, TURBO_API: server.url.origin });
    expect(named.stderr).not.toContain("warning");
    expect(new Set(sent)).toEqual(new Set(["Bearer token-of-turbo"]));
    sent.length = 0;
    const other = await rt(BUILD, { TURBO_API: server.url.origin });
    expect(other.stderr).toContain("is not allowed to send OTHER_SECRET");
    expect(sent).toEqual([]);
  });

  test("rt secrets env shows each server with its variables, and rt trust asks for them on a terminal", async () => {
    const line = `the shared cache ${server.url.origin} gets OTHER_SECRET`;
    expect((await rt(["secrets", "env"])).stdout).toBe(`${line}: not allowed\n`);
    const [use] = JSON.parse((await rt(["secrets", "env", "--json"])).stdout).servers;
    expect(use).toMatchObject({ names: ["OTHER_SECRET"], trusted: false });
    const place = { HOME: home.path };
    await using terminal = startOnTerminal(
      ["/bin/sh", "-c", 'cd "$0" && exec "$@"', project.path, RT, "trust"],
      cleanEnvironment(place),
    );
    await terminal.awaitOutput("Allow it? [y/N] ");
    expect(terminal.shown.replaceAll("\r\n", "\n")).toContain(
      `rt: ${project.path} wants to send your variables to a server:\n  ${line}\n`,
    );
    terminal.type("y\r");
    expect(await terminal.awaitExit()).toBe(0);
    expect((await rt(["secrets", "env"], place)).stdout).toBe(`${line}: allowed\n`);
    expect((await rt(["trust", "--list"], place)).stdout).toBe(
      `${project.path}\tOTHER_SECRET\t${use.hash}\n`,
    );
    expect((await rt(BUILD, place)).stderr).not.toContain("warning");
    expect(new Set(sent)).toEqual(new Set([`Bearer ${VALUE}`]));
  });

  test("the server of [run.remote] gets headers and variables of scripts only with consent", async () => {
    await using remote = await openReapiServer();
    const system = `${process.platform}-${process.arch}`;
    const text = (more: string) => `[run.remote]\nurl = "${remote.url}"\nsystem = "${system}"\n${more}`;
    await Bun.spawn(["git", "init", "--quiet"], { cwd: project.path, env: cleanEnvironment() }).exited;
    for (const more of [
      '[run.remote.headers]\nx-key = "Bearer $OTHER_SECRET"\n',
      '[run.remote.scripts.build]\nenv = ["OTHER_SECRET"]\n',
    ]) {
      await project.write({ "rtfig.toml": text(more) });
      const args = ["run", "--remote", "build"];
      const { stdout, stderr, status } = await rt(args);
      expect([stdout, status]).toEqual(["", 1]);
      expect(stderr).toStartWith(
        `error: ${project.path} is not allowed to send OTHER_SECRET to the server ${remote.url}, which runs scripts\n`,
      );
      expect(remote.calls).toEqual([]);
      expect((await rt(["run", "--remote", "--dry-run", "--sequential", "build"])).status).toBe(0);
      expect(await rt(args, await trustAll(project.path))).toMatchObject({ stdout: "built\n", status: 0 });
      expect(remote.calls.length).toBeGreaterThan(0);
      remote.calls.length = 0;
    }
  });

  test("a variable of [secrets] is not sent to the server that runs scripts", async () => {
    await using remote = await openReapiServer();
    const system = `${process.platform}-${process.arch}`;
    await Bun.spawn(["git", "init", "--quiet"], { cwd: project.path, env: cleanEnvironment() }).exited;
    await project.write({
      "package.json": { name: "app", scripts: { build: "echo has ${OTHER_SECRET-nothing}" } },
      "rtfig.toml":
        `[secrets.OTHER_SECRET]\nfrom = "a/b"\n[run.remote]\nurl = "${remote.url}"\nsystem = "${system}"\n` +
        '[run.remote.scripts.build]\nenv = ["OTHER_SECRET"]\n',
    });
    const { stdout, stderr } = await rt(["run", "--remote", "build"], await trustAll(project.path));
    expect(stdout).toBe("has nothing\n");
    expect(stderr).toContain("warning: OTHER_SECRET of run.remote.scripts.build.env is not sent");
  });

  test("registries of rtfig.toml and of the project's .npmrc get variables only with consent", async () => {
    await using registry = await openRegistry([]);
    const { host } = new URL(registry.url);
    const own = { ...registry.env, OTHER_SECRET: VALUE };
    const install = (extra: Environment = {}) =>
      runRt({ args: ["install"], cwd: project.path, env: { ...own, ...extra } });
    await project.write({ "package.json": { name: "app", dependencies: { none: "1.0.0" } } });
    const places: [string, string][] = [
      ["rtfig.toml", `[install.registry]\nurl = "${registry.url}"\ntoken = "$OTHER_SECRET"\n`],
      [".npmrc", `registry=${registry.url}\n//${host}/:_authToken=\${OTHER_SECRET}\n`],
    ];
    for (const [name, text] of places) {
      await project.write({ "rtfig.toml": "", ".npmrc": "", [name]: text });
      const { stderr, status } = await install({ BUN_CONFIG_REGISTRY: undefined });
      expect(status).toBe(1);
      expect(stderr).toContain("is not allowed to send OTHER_SECRET to the registry ");
      expect(registry.credentials).toEqual([]);
      const allowed = await trustAll(project.path);
      await install({ BUN_CONFIG_REGISTRY: undefined, ...allowed });
      expect(registry.credentials).toContain(`Bearer ${VALUE}`);
      registry.credentials.length = 0;
      // The environment lacks the variable now, so there is nothing to send.
      await install({ BUN_CONFIG_REGISTRY: undefined, OTHER_SECRET: undefined });
      expect(registry.credentials.join()).not.toContain(VALUE);
      registry.credentials.length = 0;
    }
  });

  test("a variable with a registry's standard name needs no consent for that registry", async () => {
    await project.write({
      "rtfig.toml": "",
      ".npmrc":
        "//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n//registry.npmjs.org/:_password=${OTHER_SECRET}\n",
    });
    expect((await rt(["secrets", "env"])).stdout).toBe(
      "the registry https://registry.npmjs.org/ gets OTHER_SECRET: not allowed\n",
    );
    await project.write({ ".npmrc": "//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n" });
    expect(await rt(["secrets", "env"])).toMatchObject({ stdout: "", status: 2 });
  });
});
