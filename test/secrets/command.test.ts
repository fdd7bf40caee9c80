// `rt secrets` as people and scripts use it, with a real GNOME Keyring.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { NOTHING_TYPED, typeKeys } from "../../src/secrets/hidden-prompt.ts";
import { FakeSecretService } from "../support/fake-secret-service.ts";
import { type Keyring, startKeyring } from "../support/keyring.ts";
import { createMark } from "../support/processes.ts";
import { RT, runRt, startRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/terminal.ts";

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
    test("prints what secret-tool has stored, to the byte", async () => {
      await store("get", "a", " ä\n\n");
      expect(await run(["get", "get", "a"])).toEqual(printed(" ä\n\n"));
    });

    test("prints a value of a megabyte whole into a pipe that is read late", async () => {
      const value = "0123456789abcdef".repeat(1 << 16);
      expect(await run(["set", "get", "big"], value)).toEqual(printed(""));
      const child = startRt({ args: ["secrets", "get", "get", "big"], env: keyring.env });
      const reader = child.stdout.getReader();
      let length = 0;
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        if (length === 0) await run(["list"]); // time in which the pipe stays full
        length += part.value.length;
      }
      expect([length, await child.exited]).toEqual([value.length, 0]);
    });

    test("--json prints the pair and the value", async () => {
      await store("get", "json", '"\n');
      const { stdout, stderr, status } = await run(["get", "--json", "get", "json"]);
      expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
      expect(JSON.parse(stdout)).toEqual({ service: "get", name: "json", value: '"\n' });
    });

    test("of an absent credential prints nothing, says so in one line and exits with 1", async () => {
      const stderr = 'error: There is no credential "absent" under "get"\n';
      expect(await run(["get", "get", "absent"])).toEqual({ stdout: "", stderr, status: 1 });
      const json = await run(["get", "get", "absent", "--json"]);
      expect(JSON.parse(json.stdout)).toEqual({ service: "get", name: "absent", value: null });
      expect(json).toMatchObject({ stderr, status: 1 });
    });

    test("ends the line on a terminal", async () => {
      await store("get", "terminal", VALUE);
      await using terminal = startOnTerminal([RT, "secrets", "get", "get", "terminal"], keyring.env);
      await terminal.shows(`${VALUE}\r\n`);
      expect(await terminal.ends()).toBe(0);
    });

    test("says nothing when its reader has had enough", async () => {
      await store("get", "piped", VALUE);
      const command = `"$0" secrets get get piped | true; echo "\${PIPESTATUS[0]}"`;
      const { stderr } = await runRt({ program: ["bash", "-c", command, RT], env: keyring.env });
      expect(stderr).toBe("");
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

    test("stores what secret-tool finds", async () => {
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

    test("takes no value as an argument, says why, and does not repeat it", async () => {
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

    test("standard input that cannot be read is one line", async () => {
      const result = await runRt({
        program: ["bash", "-c", '"$0" secrets set set directory < /', RT],
        env: keyring.env,
      });
      const stderr = "error: Standard input could not be read (EISDIR), so nothing was stored\n";
      expect(result).toEqual({ stdout: "", stderr, status: 2 });
    });

    test("a value that D-Bus cannot carry is refused as too large", async () => {
      const result = await run(["set", "set", "huge"], "x".repeat(2 ** 26));
      const stderr = "error: D-Bus carries values of less than 64 MiB\nhint: store a shorter value\n";
      expect(result).toEqual({ stdout: "", stderr, status: 2 });
    });

    test("keeps the value out of every argument and environment, while the store works on it", async () => {
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

  describe("set on a terminal", () => {
    const ask = (name: string) => startOnTerminal([RT, "secrets", "set", "prompt", name], keyring.env);

    test("asks for the value and never shows it", async () => {
      await using terminal = ask("typed");
      await terminal.shows("Value for prompt typed");
      expect(terminal.isOrdinary).toBe(false);
      terminal.type(`${VALUE}\r`);
      expect(await terminal.ends()).toBe(0);
      expect(terminal.isOrdinary).toBe(true);
      for (const word of VALUE.split(" ")) expect(terminal.shown).not.toContain(word);
      expect(await lookUp("prompt", "typed")).toBe(VALUE);
    });

    test("takes a value that is longer than a line of the terminal may be", async () => {
      await using terminal = ask("long");
      await terminal.shows("Value for");
      const value = "0123456789".repeat(900);
      terminal.type(`${value}\r`);
      expect(await terminal.ends()).toBe(0);
      expect((await lookUp("prompt", "long")) === value).toBe(true);
    });

    test.each([
      ["Ctrl-C", "abc\x03"],
      ["Ctrl-D", "\x04"],
    ])("%s gives up, stores nothing and leaves the terminal as it was", async (_key, keys) => {
      await using terminal = ask("given up");
      await terminal.shows("Value for");
      terminal.type(keys);
      expect(await terminal.ends()).toBe(130);
      expect(terminal.isOrdinary).toBe(true);
      expect((await run(["get", "prompt", "given up"])).status).toBe(1);
    });

    test("a signal leaves the terminal as it was", async () => {
      await using terminal = ask("killed");
      await terminal.shows("Value for");
      expect(terminal.isOrdinary).toBe(false);
      terminal.kill("SIGTERM");
      expect(await terminal.ends()).toBe("SIGTERM");
      expect(terminal.isOrdinary).toBe(true);
    });

    test("Ctrl-Z gives the terminal back to the shell, and going on asks anew", async () => {
      const env = { ...keyring.env, PS1: "shell> " };
      await using terminal = startOnTerminal(
        ["setsid", "--ctty", "bash", "--norc", "--noediting", "-i"],
        env,
      );
      await terminal.shows("shell> ");
      terminal.type(`${RT} secrets set prompt stopped\r`);
      await terminal.shows("Value for");
      terminal.type("forgotten\x1a");
      await terminal.shows("Stopped");
      expect(terminal.isOrdinary).toBe(true);
      terminal.type("fg; echo ended $?\r");
      await terminal.shows("Value for prompt stopped (not shown): ", 2);
      terminal.type(`${VALUE}\r`);
      await terminal.shows("ended 0");
      expect(terminal.shown).not.toContain("pass phrase");
      expect(terminal.shown).not.toContain("forgotten");
      expect(await lookUp("prompt", "stopped")).toBe(VALUE);
    });

    test("what is typed stays hidden when something else has changed the terminal meanwhile", async () => {
      await using terminal = ask("continued");
      await terminal.shows("Value for");
      terminal.kill("SIGSTOP");
      terminal.makeOrdinary();
      terminal.kill("SIGCONT");
      await terminal.shows("Value for", 2);
      expect(terminal.isOrdinary).toBe(false);
      terminal.type(`${VALUE}\r`);
      expect(await terminal.ends()).toBe(0);
      expect(await lookUp("prompt", "continued")).toBe(VALUE);
    });

    test("Enter alone stores nothing", async () => {
      await using terminal = ask("nothing");
      await terminal.shows("Value for");
      terminal.type("\r");
      await terminal.shows("Nothing was entered");
      expect(await terminal.ends()).toBe(2);
      expect((await run(["get", "prompt", "nothing"])).status).toBe(1);
    });

    test.each([
      ["a backspace takes back a character", "a🔑\x7fb\r", "ab", "entered"],
      ["Ctrl-U takes back all", "wrong\x15right\r", "right", "entered"],
      ["arrows and other keys are no characters", "a\x1b[D\x1b[1;5C\tb\x1bx\r", "ab", "entered"],
      ["a marked paste may have several lines", "\x1b[200~a\rb\r\nc\n\x1b[201~\r", "a\nb\nc\n", "entered"],
      ["what follows the line is dropped", "a\rb", "a", "entered"],
      ["Ctrl-D within a value does nothing", "a\x04b", "ab", "typing"],
      ["Ctrl-Z forgets what was typed", "a\x1ab\r", "", "suspended"],
      ["a marked paste may have any character", "\x1b[200~a\x1ab\x03\x1b[201~\r", "a\x1ab\x03", "entered"],
    ] as const)("%s", (_what, keys, text, state) => {
      expect(typeKeys(NOTHING_TYPED, keys)).toMatchObject({ text, state });
    });
  });

  describe("delete", () => {
    test("exits with 0 once and then with 1", async () => {
      await store("delete", "a", VALUE);
      expect(await run(["delete", "delete", "a"])).toEqual(printed(""));
      expect(await lookUp("delete", "a")).toBe("");
      const stderr = 'error: There is no credential "a" under "delete"\n';
      expect(await run(["delete", "delete", "a"])).toEqual({ stdout: "", stderr, status: 1 });
    });

    test("--json tells whether there was something", async () => {
      await store("delete", "b", VALUE);
      for (const deleted of [true, false]) {
        const { stdout, status } = await run(["delete", "delete", "b", "--json"]);
        expect(JSON.parse(stdout)).toEqual({ service: "delete", name: "b", deleted });
        expect(status).toBe(deleted ? 0 : 1);
      }
    });
  });

  describe("list", () => {
    test("prints the pairs of a service in order, whoever stored them, and no value", async () => {
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

    test("without a service prints all", async () => {
      await store("list.all", "c", VALUE);
      const { stdout, stderr, status } = await run(["list"]);
      expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
      const lines = stdout.split("\n");
      expect(lines).toContain("list.all\tc");
      expect(lines.length).toBeGreaterThan(2);
      expect(lines).toEqual([...lines.slice(0, -1).sort(), ""]);
      expect(stdout).not.toContain(VALUE);
    });

    test("of nothing prints nothing and is no error", async () => {
      expect(await run(["list", "absent"])).toEqual(printed(""));
      expect(await run(["list", "absent", "--json"])).toEqual(printed("[]\n"));
    });
  });

  test.each(["get full a", "get full a --json", "list"])(
    "%s into a full device is one line",
    async (words) => {
      await store("full", "a", VALUE);
      const program = ["bash", "-c", '"$0" secrets "$@" > /dev/full', RT];
      const result = await runRt({ program, args: words.split(" "), env: keyring.env });
      const stderr = "error: Standard output could not be written (ENOSPC)\n";
      expect(result).toEqual({ stdout: "", stderr, status: 2 });
    },
  );

  test("a name that turns the direction of writing is shown as what it is", async () => {
    await store("turned", "a\u202eb\u2066\u2028", VALUE);
    expect(await run(["list", "turned"])).toEqual(printed("turned\ta\\u202eb\\u2066\\u2028\n"));
  });

  describe("misuse", () => {
    test("a name that is not UTF-8 is refused, not replaced", async () => {
      const program = ["bash", "-c", `"$0" secrets set misuse $'a\\xff'`, RT];
      const result = await runRt({ program, stdin: VALUE, env: keyring.env });
      const stderr = "error: Service and name must be text in UTF-8\n";
      expect(result).toEqual({ stdout: "", stderr, status: 2 });
      expect(await run(["list", "misuse"])).toEqual(printed(""));
    });

    test.each([
      [["steal"], /^error: "steal" is no command of rt secrets\nhint: there are get, set, delete, list\n$/],
      [["constructor"], /^error: "constructor" is no command/],
      [
        ["get", "a"],
        /^error: rt secrets get needs a service and a name\nhint: rt secrets get <service> <name>\n$/,
      ],
      [["get", "a", "b", "c"], /^error: rt secrets get takes no more than 2 words\n/],
      [["list", "a", "b"], /^error: rt secrets list takes no more than 1 words?\n/],
      [["get", "", "b"], /^error: service must not be empty\n$/],
      [["get", "a", "b".repeat(256)], /^error: name must have at most 255 characters, got 256\n$/],
      [["set", "a", "b", "--json"], /^error: rt secrets set prints nothing/],
      [["set", "a", "b", `--value=${VALUE}`], /^error: Unknown option "--value"\nhint: .*--json/],
      [["set", "a", "b", `-p${VALUE}`], /^error: Unknown option "-p"\n/],
    ])("%j exits with 2", async (args, stderr) => {
      const result = await run(args, "value");
      expect(result).toMatchObject({ stdout: "", status: 2 });
      expect(result.stderr).toMatch(stderr);
      expect(result.stderr).not.toContain(VALUE);
    });

    test("a name that begins with - goes after --", async () => {
      await run(["set", "--", "-s", "--json"], VALUE);
      expect(await run(["get", "--", "-s", "--json"])).toEqual(printed(VALUE));
    });

    test("help is the same however it is asked for, and names every command", async () => {
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

  describe("a store that cannot", () => {
    const WAYS: [string, string[]][] = [
      ["get", ["get", "a", "b"]],
      ["set", ["set", "a", "b"]],
      ["delete", ["delete", "a", "b"]],
      ["list", ["list"]],
    ];

    test.each(WAYS)("%s without a bus names the address and exits with 2", async (_way, args) => {
      const { stdout, stderr, status } = await runRt({ args: ["secrets", ...args], stdin: VALUE });
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      expect(stderr).toMatch(/^error: .*\/nonexistent\/rt-test-bus.*\nhint: .*dbus-run-session.*\n$/);
    });

    test.each(WAYS)("%s of a locked keyring says so and exits with 2", async (_way, args) => {
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

    test("--json prints the error's code too", async () => {
      const { stdout, status } = await runRt({ args: ["secrets", "get", "a", "b", "--json"] });
      const { error } = JSON.parse(stdout);
      expect(error).toMatchObject({ code: "ERR_SECRETS_UNAVAILABLE", message: expect.any(String) });
      expect(error.hint).toContain("dbus-run-session");
      expect(status).toBe(2);
    });
  });
});
