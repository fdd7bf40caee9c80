// `rt secrets` on the command line and in scripts, with a real GNOME Keyring. prompt.test.ts tests the terminal prompts,
// command-faults.test.ts the errors.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { FakeSecretService } from "../support/keyring/fake-secret-service.ts";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { createMark } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { RT, runRt, startRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";

const VALUE = "pass phrase 7f3a";

describe.skipIf(process.platform !== "linux")("rt secrets", () => {
  let keyring: Keyring;
  beforeAll(async () => {
    keyring = await startKeyring();
  });
  afterAll(() => keyring?.[Symbol.asyncDispose]());

  const run = (args: string[], stdin?: string | Uint8Array, env = keyring.env) =>
    runRt({ args: ["secrets", ...args], stdin, env });
  const printed = (stdout: string, status = 0) => ({ stdout, stderr: "", status });
  const lookUp = (service: string, account: string) =>
    keyring.run(["secret-tool", "lookup", "service", service, "account", account]);
  const store = (service: string, account: string, value: string, ...more: string[]) =>
    keyring.run(
      ["secret-tool", "store", "--label=x", "service", service, "account", account, ...more],
      value,
    );

  describe("get", () => {
    test("prints exactly the bytes that secret-tool has stored", async () => {
      await store("get", "a", " ä\n\n");
      expect(await run(["get", "get", "a"])).toEqual(printed(" ä\n\n"));
    });

    test("prints a value of a megabyte completely into a pipe that is read late", async () => {
      const value = "0123456789abcdef".repeat(1 << 16);
      expect(await run(["set", "get", "big"], value)).toEqual(printed(""));
      const child = startRt({ args: ["secrets", "get", "get", "big"], env: keyring.env });
      const reader = child.stdout.getReader();
      let length = 0;
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        if (length === 0) await run(["list"]); // gives the pipe time to become full
        length += part.value.length;
      }
      expect([length, await child.exited]).toEqual([value.length, 0]);
    });

    test("get of an empty value writes nothing to a file", async () => {
      await store("get", "empty", "");
      await using project = await createProject({ log: "one line\n", clean: "nothing\n" });
      const log = project.join("log");
      for (const words of ["get get empty", "list nobody", "check clean"])
        await keyring.run(["sh", "-c", `cd ${project.path} && ${RT} secrets ${words} >> log`]);
      expect(await readFile(log, "utf8")).toBe("one line\n");
    });

    test("--json prints the pair and the value", async () => {
      await store("get", "json", '"\n');
      const { stdout, stderr, status } = await run(["get", "--json", "get", "json"]);
      expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
      expect(JSON.parse(stdout)).toEqual({ service: "get", name: "json", value: '"\n' });
    });

    test("get of a missing credential prints one line on stderr and exits with 1", async () => {
      const stderr = 'error: No credential "absent" under "get"\n';
      expect(await run(["get", "get", "absent"])).toEqual({ stdout: "", stderr, status: 1 });
      const json = await run(["get", "get", "absent", "--json"]);
      expect(JSON.parse(json.stdout)).toEqual({ service: "get", name: "absent", value: null });
      expect(json).toMatchObject({ stderr, status: 1 });
      const dashed = 'error: No credential "--json" under "-"\n';
      expect(await run(["get", "-", "--", "--json"])).toEqual({ stdout: "", stderr: dashed, status: 1 });
    });

    test("ends the line on a terminal", async () => {
      await store("get", "terminal", VALUE);
      await using terminal = startOnTerminal([RT, "secrets", "get", "get", "terminal"], keyring.env);
      await terminal.awaitOutput(`${VALUE}\r\n`);
      expect(await terminal.awaitExit()).toBe(0);
    });

    test("prints nothing when its reader stops early", async () => {
      await store("get", "piped", VALUE);
      const command = `"$0" secrets get get piped | true; echo "\${PIPESTATUS[0]}"`;
      const { stderr } = await runRt({ program: ["bash", "-c", command, RT], env: keyring.env });
      expect(stderr).toBe("");
    });

    test("get does not exit with 1 when the reader of its output has closed the pipe", async () => {
      await store("get", "unread", VALUE);
      // The reading end closes before rt starts.
      const command = `exec 3> >(:); wait $!; "$0" secrets get get unread >&3; echo "$?"`;
      const result = await runRt({ program: ["bash", "-c", command, RT], env: keyring.env });
      expect(result).toEqual({ stdout: "2\n", stderr: "", status: 0 });
    });
  });

  describe("set", () => {
    test.each([
      ["one line loses its line break", "value\n", "value"],
      ["one line loses the line break of Windows", "value\r\n", "value"],
      ["a line without a break is kept", "value", "value"],
      ["several lines are kept", "a\nb\n", "a\nb\n"],
      ["blank lines are kept", "\n\n", "\n\n"],
      ["an empty line is an empty value", "\n", ""],
      ["a byte order mark and blanks are kept", "\ufeff a \n", "\ufeff a "],
      ["a carriage return alone is kept", "a\r", "a\r"],
    ])("reads standard input: %s", async (_what, stdin, value) => {
      expect(await run(["set", "set", "stdin"], stdin)).toEqual(printed(""));
      const { stdout } = await run(["get", "--json", "set", "stdin"]);
      expect(JSON.parse(stdout).value).toBe(value);
    });

    test("stores credentials that secret-tool finds", async () => {
      await run(["set", "set", "interop"], VALUE);
      expect(await lookUp("set", "interop")).toBe(VALUE);
    });

    test("replaces what secret-tool has stored, without a second entry", async () => {
      await store("set", "replaced", "old");
      await run(["set", "set", "replaced"], VALUE);
      expect(await lookUp("set", "replaced")).toBe(VALUE);
      const found = await keyring.run([
        "secret-tool",
        "search",
        "--all",
        "service",
        "set",
        "account",
        "replaced",
      ]);
      expect(found.match(/^\[/gm)).toHaveLength(1);
    });

    test.each([
      ["--value=hunter2", "--value"],
      ["-phunter2", "-p"],
    ])("repeats only the name of %s", async (word, shown) => {
      const { stdout, stderr, status } = await run(["set", "a", "b", word]);
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr).toStartWith(`error: Unknown option "${shown}"\n`);
      expect(stderr).not.toContain("hunter2");
    });

    test("rejects a value as an argument without repeating it", async () => {
      await run(["set", "set", "argument"], "before");
      const result = await run(["set", "set", "argument", VALUE], "from stdin");
      expect(result).toMatchObject({ stdout: "", status: 2 });
      expect(result.stderr).toMatch(/^error: .*argument.*\nhint: rt secrets set .*\n$/);
      expect(result.stderr).not.toContain(VALUE);
      expect(await lookUp("set", "argument")).toBe("before");
    });

    test.each([
      ["empty", ""],
      ["not UTF-8", Uint8Array.of(0x61, 0xff)],
    ])("standard input that is %s changes nothing", async (_what, stdin) => {
      await run(["set", "set", "kept"], "before");
      const result = await run(["set", "set", "kept"], stdin);
      expect(result).toMatchObject({ stdout: "", status: 2 });
      expect(result.stderr).toContain("nothing was stored");
      expect(await lookUp("set", "kept")).toBe("before");
    });

    test("reports unreadable standard input in one line", async () => {
      const result = await runRt({
        program: ["bash", "-c", '"$0" secrets set set directory < /', RT],
        env: keyring.env,
      });
      const stderr = "error: Standard input could not be read (EISDIR), so nothing was stored\n";
      expect(result).toEqual({ stdout: "", stderr, status: 2 });
    });

    test("rejects a value that is too large for D-Bus", async () => {
      const result = await run(["set", "set", "huge"], "x".repeat(2 ** 26));
      const stderr = "error: A keyring takes values of less than 16 MiB\nhint: store a shorter value\n";
      expect(result).toEqual({ stdout: "", stderr, status: 2 });
    });

    test("keeps the value out of all arguments and environments while the store works on it", async () => {
      await using session = await startKeyring({ service: "none" });
      await using fake = await FakeSecretService.start(session.address);
      fake.silent.add("CreateItem");
      const called = fake.called("CreateItem");
      const mark = createMark();
      const env = { ...session.env, ...mark.env };
      const child = startRt({ args: ["secrets", "set", "set", "hidden"], stdin: VALUE, env });
      await called;
      const processes = mark.find();
      expect(processes.map(({ pid }) => pid)).toContain(child.pid);
      for (const { pid, command } of processes) {
        expect(command).not.toContain(VALUE);
        expect(await readFile(`/proc/${pid}/environ`, "latin1")).not.toContain(VALUE);
      }
      child.kill("SIGKILL");
      await child.exited;
    });
  });

  describe("delete", () => {
    test("exits with 0 once and then with 1", async () => {
      await store("delete", "a", VALUE);
      expect(await run(["delete", "delete", "a"])).toEqual(printed(""));
      expect(await lookUp("delete", "a")).toBe("");
      const stderr = 'error: No credential "a" under "delete"\n';
      expect(await run(["delete", "delete", "a"])).toEqual({ stdout: "", stderr, status: 1 });
    });

    test("--json reports whether the credential existed", async () => {
      await store("delete", "b", VALUE);
      for (const deleted of [true, false]) {
        const { stdout, status } = await run(["delete", "delete", "b", "--json"]);
        expect(JSON.parse(stdout)).toEqual({ service: "delete", name: "b", deleted });
        expect(status).toBe(deleted ? 0 : 1);
      }
    });
  });

  describe("list", () => {
    test("prints the pairs of a service in order, of all programs, without values", async () => {
      await store("list", "b", VALUE);
      await store("list", "twice", VALUE);
      await store("list", "twice", VALUE, "more", "attributes");
      await run(["set", "list", "a\tb\n\\\u009b"], VALUE);
      await keyring.run(["secret-tool", "store", "--label=x", "service", "list", "username", "other"], VALUE);
      await store("list.other", "c", VALUE);
      expect(await run(["list", "list"])).toEqual(
        printed("list\ta\\tb\\n\\\\\\u009b\nlist\tb\nlist\tother\nlist\ttwice\n"),
      );
      const { stdout } = await run(["list", "--json", "list"]);
      const names = ["a\tb\n\\\u009b", "b", "other", "twice"];
      expect(JSON.parse(stdout)).toEqual(names.map((name) => ({ service: "list", name })));
    });

    test("list prints all credentials when no service is given", async () => {
      await store("list.all", "c", VALUE);
      const { stdout, stderr, status } = await run(["list"]);
      expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
      const lines = stdout.split("\n");
      expect(lines).toContain("list.all\tc");
      expect(lines.length).toBeGreaterThan(2);
      expect(lines).toEqual([...lines.slice(0, -1).sort(), ""]);
      expect(stdout).not.toContain(VALUE);
    });

    test("list says in one line that no credential matches, and prints an empty list with --json", async () => {
      const stderr = 'No secrets under "absent"\n';
      expect(await run(["list", "absent"])).toEqual({ ...printed(""), stderr });
      expect(await run(["list", "absent", "--json"])).toEqual(printed("[]\n"));
    });
  });

  test.each(["get full a", "get full a --json", "list"])(
    "rt secrets %s fails with one line when its output device is full",
    async (words) => {
      await store("full", "a", VALUE);
      const program = ["bash", "-c", '"$0" secrets "$@" > /dev/full', RT];
      const result = await runRt({ program, args: words.split(" "), env: keyring.env });
      const stderr = "error: Cannot write to standard output (ENOSPC)\n";
      expect(result).toEqual({ stdout: "", stderr, status: 2 });
    },
  );

  test("characters that reverse the text direction are escaped in names", async () => {
    await store("turned", "a\u202eb\u2066\u2028", VALUE);
    expect(await run(["list", "turned"])).toEqual(printed("turned\ta\\u202eb\\u2066\\u2028\n"));
  });
});
