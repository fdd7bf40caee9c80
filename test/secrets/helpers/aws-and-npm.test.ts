// `rt secrets helper aws|npm` with the real programs where they are installed, and the command line of all helpers.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hasProgram } from "../../../build/system-programs.ts";
import { HELPERS } from "../../../src/secrets/commands.ts";
import { openRegistry } from "../../options/registry.ts";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Project } from "../../support/project.ts";
import { ABSENT, RT, runRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";

const SECRET = "tool+secret/93fd";
const TOKEN = "npm_93fd51c7";
const KEYS = { AccessKeyId: "AKIAEXAMPLE", SecretAccessKey: SECRET };

describe.skipIf(process.platform !== "linux")("rt secrets helper", () => {
  let keyring: Keyring;
  let home: Project;
  beforeAll(async () => {
    [keyring, home] = await Promise.all([startKeyring(), createProject()]);
  });
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    await keyring?.[Symbol.asyncDispose]();
  });
  const run = (args: string[], stdin?: string) =>
    runRt({ args: ["secrets", "helper", ...args], stdin, env: keyring.env, cwd: home.path });
  const done = (stdout = "") => ({ stdout, stderr: "", status: 0 });
  const failed = (stderr: string, status = 2) => ({ stdout: "", stderr, status });

  describe("the helper for aws", () => {
    test("returns the stored key in each form that AWS' tools print", async () => {
      for (const form of [KEYS, { Version: 1, ...KEYS }, { AccessKey: { UserName: "u", ...KEYS } }]) {
        expect(await run(["aws", "store", "dev"], JSON.stringify(form))).toEqual(done());
        const { stdout, stderr, status } = await run(["aws", "get", "dev"]);
        expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
        expect(JSON.parse(stdout)).toEqual({ Version: 1, ...KEYS });
        expect(await run(["aws", "erase", "dev"])).toEqual(done());
      }
      const more = { ...KEYS, SessionToken: "t", Expiration: "2100-01-01T00:00:00Z" };
      await run(["aws", "store", "dev"], JSON.stringify({ Credentials: more }));
      expect(JSON.parse((await run(["aws", "get", "dev"])).stdout)).toEqual({ Version: 1, ...more });
    });

    test("reports missing keys and returns no expired ones", async () => {
      const absent = failed(
        'error: No access key for the profile "none"\nhint: rt secrets helper aws store none\n',
        1,
      );
      expect(await run(["aws", "get", "none"])).toEqual(absent);
      expect(await run(["aws", "erase", "none"])).toEqual(absent);
      const old = { ...KEYS, Expiration: "2020-01-01T00:00:00Z" };
      await run(["aws", "store", "old"], JSON.stringify(old));
      const { stdout, stderr, status } = await run(["aws", "get", "old"]);
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr).toContain('The access key of the profile "old" expired at 2020-01-01T00:00:00Z\nhint: ');
    });

    test.each([
      ["text that is not JSON", SECRET, "Standard input is not JSON"],
      ["nothing", "", "Standard input is not JSON"],
      [
        "the other half",
        JSON.stringify({ AccessKeyId: SECRET }),
        "lacks an access key ID or a secret access key",
      ],
      [
        "half of a key",
        JSON.stringify({ SecretAccessKey: SECRET }),
        "lacks an access key ID or a secret access key",
      ],
      ["an invalid expiration", JSON.stringify({ ...KEYS, Expiration: SECRET }), "not an ISO 8601 time"],
      ["an invalid token", JSON.stringify({ ...KEYS, SessionToken: [SECRET] }), "that is not a string"],
    ])("rejects %s from a program, and stores nothing", async (_, input, message) => {
      const { stdout, stderr, status } = await run(["aws", "store", "bad"], input);
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr).toContain(message);
      expect(stderr).not.toContain(SECRET);
      expect((await run(["aws", "get", "bad"])).status).toBe(1);
    });

    test("prompts on a terminal without showing the input", async () => {
      await using terminal = startOnTerminal([RT, "secrets", "helper", "aws", "store", "asked"], keyring.env);
      await terminal.awaitOutput("with spaces between (not shown): ");
      terminal.type(`AKIAEXAMPLE ${SECRET}\r`);
      expect(await terminal.awaitExit()).toBe(0);
      expect(terminal.shown).not.toContain(SECRET);
      expect(JSON.parse((await run(["aws", "get", "asked"])).stdout)).toEqual({ Version: 1, ...KEYS });
    });

    test("stores nothing for an invalid or aborted input", async () => {
      for (const [typed, shown, status] of [
        [`a b c ${SECRET}\r`, "error: The entered text has more than three words", 2],
        [`a\r`, "error: The entered text lacks an access key ID or a secret access key", 2],
        ["\x03", "", 130],
      ] as const) {
        const words = [RT, "secrets", "helper", "aws", "store", "unasked"];
        await using terminal = startOnTerminal(words, keyring.env);
        await terminal.awaitOutput("with spaces between (not shown): ");
        terminal.type(typed);
        await terminal.awaitOutput(shown);
        expect(await terminal.awaitExit()).toBe(status);
        expect(terminal.shown).not.toContain(SECRET);
      }
      expect((await run(["aws", "get", "unasked"])).status).toBe(1);
    });

    test.skipIf(!hasProgram("aws"))("aws itself takes them from there", async () => {
      await run(["aws", "store", "real"], JSON.stringify({ ...KEYS, SessionToken: "t" }));
      await home.write({
        config: `[profile real]\ncredential_process = "${RT}" secrets helper aws get real\n`,
      });
      const env = {
        ...keyring.env,
        AWS_CONFIG_FILE: home.join("config"),
        AWS_SHARED_CREDENTIALS_FILE: home.join("none"),
        AWS_EC2_METADATA_DISABLED: "true",
        PYENV_VERSION: process.env.PYENV_VERSION,
      };
      const seen: string[] = [];
      await using service = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch({ headers }) {
          seen.push(`${headers.get("authorization")} ${headers.get("x-amz-security-token")}`);
          return new Response("<a/>", { headers: { "Content-Type": "text/xml" } });
        },
      });
      const args = ["sts", "get-caller-identity", "--profile", "real", "--region", "eu-west-1"];
      await runRt({ program: ["aws"], args: [...args, "--endpoint-url", service.url.href], env });
      expect(seen).toEqual([expect.stringMatching(/Credential=AKIAEXAMPLE\/.* t$/)]);
    });

    test("prints no key to a terminal", async () => {
      await run(["aws", "store", "shown"], JSON.stringify(KEYS));
      await using terminal = startOnTerminal([RT, "secrets", "helper", "aws", "get", "shown"], keyring.env);
      await terminal.awaitOutput("An access key is printed for a program, not to a terminal");
      expect(await terminal.awaitExit()).toBe(2);
      expect(terminal.shown).not.toContain(SECRET);
    });
  });

  describe("the helper for npm", () => {
    test("returns the token, and pnpm's header, for every spelling of the registry", async () => {
      expect(await run(["npm", "store", "https://NPM.example:8443/team"], `${TOKEN}\n`)).toEqual(done());
      const { stdout } = await runRt({ args: ["secrets", "list", "npm"], env: keyring.env });
      expect(stdout).toBe("npm\t//npm.example:8443/team/\n");
      for (const registry of ["//npm.example:8443/team/", "npm.example:8443/team"])
        expect(await run(["npm", "get", registry])).toEqual(done(`${TOKEN}\n`));
      expect(await run(["npm", "header", "//npm.example:8443/team/"])).toEqual(done(`Bearer ${TOKEN}\n`));
      await run(["npm", "store", "basic.example"], "Basic YTpi");
      expect(await run(["npm", "header", "basic.example"])).toEqual(done("Basic YTpi\n"));
      expect(await run(["npm", "erase", "basic.example"])).toEqual(done());
      expect(await run(["npm", "get", "basic.example"])).toEqual(
        failed(
          "error: No token for the registry //basic.example/\nhint: rt secrets helper npm store //basic.example/\n",
          1,
        ),
      );
    });

    test("ignores the default port of a protocol, and treats any other port as another registry", async () => {
      expect(await run(["npm", "store", "//port.example/"], TOKEN)).toEqual(done());
      for (const registry of [
        "https://port.example:443/",
        "HTTPS://port.example:443",
        "http://port.example:80/",
      ])
        expect(await run(["npm", "get", registry])).toEqual(done(`${TOKEN}\n`));
      for (const other of ["http://port.example:443/", "https://port.example:80/", "//port.example:443/"])
        expect((await run(["npm", "get", other])).status).toBe(1);
      expect(await run(["npm", "erase", "https://port.example:443/"])).toEqual(done());
    });

    test.each([
      ["two lines", `${TOKEN}\n${TOKEN}\n`],
      ["nothing", ""],
      ["three words", `a b ${TOKEN}`],
      ["a NUL", `${TOKEN}\0`],
    ])("rejects %s", async (_, input) => {
      const refused = failed("error: The given text is not a valid registry token\n");
      expect(await run(["npm", "store", "bad.example"], input)).toEqual(refused);
    });

    test("rejects a stored token with a line break, which could add a header", async () => {
      const args = ["secrets", "set", "npm", "//evil.example/"];
      await runRt({ args, stdin: "a\nX-Other: b\n", env: keyring.env });
      for (const action of ["get", "header"])
        expect(await run(["npm", action, "evil.example"])).toEqual(
          failed("error: The stored value is not a valid registry token\n"),
        );
    });

    test("rejects invalid registry addresses", async () => {
      for (const registry of ["https://u:p@a.example/", "https://a.example/?x", "https:///", "a b"])
        expect(await run(["npm", "get", registry])).toEqual(
          failed(
            "error: Invalid registry address\nhint: use an address such as https://registry.npmjs.org/\n",
          ),
        );
    });

    test("gives npm the token through a variable in .npmrc", async () => {
      await using registry = await openRegistry([{ name: "dep", version: "1.0.0", files: {} }]);
      const { host } = new URL(registry.url);
      await run(["npm", "store", registry.url], TOKEN);
      await using project = await createProject({
        "package.json": { name: "a", dependencies: { dep: "1.0.0" } },
        ".npmrc": `registry=${registry.url}\n//${host}/:_authToken=\${NPM_TOKEN}\n`,
      });
      const command = `NPM_TOKEN=$("$0" secrets helper npm get "$1") npm install --no-audit --no-fund`;
      const env = { ...keyring.env, HOME: home.path, npm_config_cache: home.join("cache") };
      const { status } = await runRt({
        program: ["bash", "-c", command, RT, registry.url],
        cwd: project.path,
        env,
      });
      expect(status).toBe(0);
      expect(new Set(registry.credentials)).toEqual(new Set([`Bearer ${TOKEN}`]));
    });

    test("prints no token to a terminal", async () => {
      await run(["npm", "store", "shown.example"], TOKEN);
      await using terminal = startOnTerminal(
        [RT, "secrets", "helper", "npm", "get", "shown.example"],
        keyring.env,
      );
      await terminal.awaitOutput("A token is printed for a program, not to a terminal");
      expect(await terminal.awaitExit()).toBe(2);
      expect(terminal.shown).not.toContain(TOKEN);
    });
  });

  describe("the command line of the helpers", () => {
    test.each([
      [[], "rt secrets helper needs the name of a tool"],
      [["svn"], 'Unknown credential helper "svn"'],
      [["constructor", "get"], 'Unknown credential helper "constructor"'],
      [["git"], "rt secrets helper git needs an action"],
      [["git", "get", "x"], "rt secrets helper git get takes no arguments"],
      [["aws", "get"], "rt secrets helper aws get takes one argument"],
      [["aws", SECRET], "rt secrets helper aws has no such action"],
      [["npm", "store", "r.example", SECRET], "rt secrets helper npm store takes one argument"],
      [["--install"], "rt secrets helper needs the name of a tool"],
      [["--install", "aws"], "rt does not write the configuration of aws"],
      [["--install", "--uninstall", "git"], "--install cannot be used with --uninstall"],
      [["--install", "--local", "docker"], "docker has no per-project configuration"],
      [["--local", "git", "get"], "--local needs --install or --uninstall"],
      [["--json", "git"], 'Unknown option "--json"'],
    ])("%j is rejected", async (args, message) => {
      const { stdout, stderr, status } = await run(args);
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr.split("\n")[0]).toBe(`error: ${message}`);
      expect(stderr).not.toContain(SECRET);
    });

    test("ignores the .env of the folder in which a tool runs", async () => {
      await home.write({
        ".env": `DBUS_SESSION_BUS_ADDRESS=unix:path=${ABSENT}/other\nPATH=${ABSENT}\n`,
      });
      await run(["npm", "store", "env.example"], TOKEN);
      expect(await run(["npm", "get", "env.example"])).toEqual(done(`${TOKEN}\n`));
    });

    test("names every helper in its help", async () => {
      const { stdout } = await run(["--help"]);
      for (const name of Object.keys(HELPERS)) expect(stdout).toMatch(new RegExp(`^  ${name} get\\|`, "m"));
    });
  });
});
