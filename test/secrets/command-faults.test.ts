// `rt secrets` with wrong arguments and with a failing store: one line each, exit code 2, and no value in the output.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { ABSENT, RT, runRt } from "../support/rt.ts";

const VALUE = "pass phrase 7f3a";

describe.skipIf(process.platform !== "linux")("rt secrets", () => {
  let keyring: Keyring;
  beforeAll(async () => {
    keyring = await startKeyring();
  });
  afterAll(() => keyring?.[Symbol.asyncDispose]());
  const run = (args: string[], stdin?: string) =>
    runRt({ args: ["secrets", ...args], stdin, env: keyring.env });
  const printed = (stdout: string, status = 0) => ({ stdout, stderr: "", status });

  describe("misuse", () => {
    test("a name that is not UTF-8 is rejected, not replaced", async () => {
      const program = ["bash", "-c", `"$0" secrets set misuse $'a\\xff'`, RT];
      const result = await runRt({ program, stdin: VALUE, env: keyring.env });
      const stderr = "error: Service and name must be text in UTF-8\n";
      expect(result).toEqual({ stdout: "", stderr, status: 2 });
      expect((await run(["list", "misuse"])).stdout).toBe("");
    });

    test.each([
      [
        ["steal"],
        /^error: Unknown command: rt secrets steal\nhint: use one of: get, set, delete, list, import, check, share, env, helper\n$/,
      ],
      [["constructor"], /^error: Unknown command: rt secrets constructor\n/],
      [
        ["get", "a"],
        /^error: rt secrets get needs a service and a name\nhint: rt secrets get <service> <name>\n$/,
      ],
      [["get", "acme/token"], /: two arguments, not "service\/name" as in rtfig\.toml\n$/],
      [["get", "a", "b", "c"], /^error: rt secrets get takes at most 2 arguments\n/],
      [["list", "a", "b"], /^error: rt secrets list takes at most 1 argument\n/],
      [["get", "", "b"], /^error: service must not be empty\n$/],
      [["get", "a", "b".repeat(256)], /^error: name must have at most 255 characters, got 256\n$/],
      [["set", "a", "b", "--json"], /^error: rt secrets set takes no --json: it prints nothing/],
      [["set", "a", "b", `--value=${VALUE}`], /^error: Unknown option "--value"\nhint: .*--json/],
      [["set", "a", "b", `-p${VALUE}`], /^error: Unknown option "-p"\n/],
      [["x\u001b[2J\n::a::"], /^error: Unknown command: rt secrets x\\u001b\[2J\\n::a::\nhint: [^\n]+\n$/],
      [["get", "--x\u202e\n::a::"], /^error: Unknown option "--x\\u202e\\n::a::"\nhint: [^\n]+\n$/],
    ])("%j exits with 2", async (args, stderr) => {
      const result = await run(args, "value");
      expect(result).toMatchObject({ stdout: "", status: 2 });
      expect(result.stderr).toMatch(stderr);
      expect(result.stderr).not.toContain(VALUE);
    });

    test("a name that begins with - is accepted after --", async () => {
      await run(["set", "--", "-s", "--json"], VALUE);
      expect(await run(["get", "--", "-s", "--json"])).toEqual(printed(VALUE));
    });

    test("every form of help is the same and names every command", async () => {
      const help = await run(["--help"]);
      expect(help).toMatchObject({ stderr: "", status: 0 });
      for (const word of [
        "get <service> <name>",
        "set <service> <name>",
        "delete",
        "list [service]",
        "--json",
      ])
        expect(help.stdout).toContain(word);
      expect(await run([])).toEqual(help);
      expect(await run(["get", "-h"])).toEqual(help);
      expect(await runRt({ args: ["--help", "secrets"] })).toEqual(help);
    });
  });

  describe("a failing store", () => {
    const FORMS: [string, string[]][] = [
      ["get", ["get", "a", "b"]],
      ["set", ["set", "a", "b"]],
      ["delete", ["delete", "a", "b"]],
      ["list", ["list"]],
    ];

    test.each(FORMS)(
      "%s without a bus names the address, rt doctor and files, and exits with 2",
      async (_way, args) => {
        const { stdout, stderr, status } = await runRt({ args: ["secrets", ...args], stdin: VALUE });
        expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
        expect(stderr).toMatch(
          /^error: .*\nhint: .*dbus-run-session.*\nhint: run rt doctor .*\nhint: .*--file secrets\.age; rt help encrypted-file\n$/,
        );
        expect(stderr.split("\n")[0]).toContain(`${ABSENT}/rt-test-bus`);
      },
    );

    test.each(FORMS)("%s of a locked keyring fails with one line and exits with 2", async (_way, args) => {
      await using locked = await startKeyring();
      await runRt({ args: ["secrets", "set", "a", "b"], stdin: "before", env: locked.env });
      await locked.lock();
      const { stdout, stderr, status } = await runRt({
        args: ["secrets", ...args],
        stdin: VALUE,
        env: locked.env,
      });
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr).toMatch(/^error: The keyring needs a password.*\nhint: unlock it.*\n$/);
    });

    test("--json also prints the error's code", async () => {
      const { stdout, status } = await runRt({ args: ["secrets", "get", "a", "b", "--json"] });
      const { error } = JSON.parse(stdout);
      expect(error).toMatchObject({ code: "ERR_SECRETS_UNAVAILABLE", message: expect.any(String) });
      expect(error.hint).toContain("dbus-run-session");
      expect(status).toBe(2);
    });
  });
});
