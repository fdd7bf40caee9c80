// `rt secrets set` on a terminal: it prompts for the value, never shows it, and restores the terminal's modes.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { NOTHING_TYPED, typeKeys } from "../../src/secrets/hidden-prompt.ts";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { RT, runRt } from "../support/rt.ts";
import { startOnTerminal, type TerminalProgram } from "../support/programs/terminal.ts";

const VALUE = "pass phrase 7f3a";

describe.skipIf(process.platform !== "linux")("rt secrets", () => {
  let keyring: Keyring;
  beforeAll(async () => {
    keyring = await startKeyring();
  });
  afterAll(() => keyring?.[Symbol.asyncDispose]());
  const run = (args: string[]) => runRt({ args: ["secrets", ...args], env: keyring.env });
  const lookUp = (service: string, account: string) =>
    keyring.run(["secret-tool", "lookup", "service", service, "account", account]);

  describe("set on a terminal", () => {
    const startPrompt = (name: string) =>
      startOnTerminal([RT, "secrets", "set", "prompt", name], keyring.env);

    test("prompts for the value and never shows it", async () => {
      await using terminal = startPrompt("typed");
      await terminal.awaitOutput("Value for prompt typed");
      expect(terminal.isInDefaultMode).toBe(false);
      terminal.type(`${VALUE}\r`);
      expect(await terminal.awaitExit()).toBe(0);
      expect(terminal.isInDefaultMode).toBe(true);
      for (const word of VALUE.split(" ")) expect(terminal.shown).not.toContain(word);
      expect(await lookUp("prompt", "typed")).toBe(VALUE);
    });

    test("accepts a value longer than a terminal's line buffer", async () => {
      await using terminal = startPrompt("long");
      await terminal.awaitOutput("Value for");
      const value = "0123456789".repeat(900);
      terminal.type(`${value}\r`);
      expect(await terminal.awaitExit()).toBe(0);
      expect((await lookUp("prompt", "long")) === value).toBe(true);
    });

    test.each([
      ["Ctrl-C", "abc\x03"],
      ["Ctrl-D", "\x04"],
    ])("%s ends the prompt, stores nothing and restores the terminal", async (_key, keys) => {
      await using terminal = startPrompt("given up");
      await terminal.awaitOutput("Value for");
      terminal.type(keys);
      expect(await terminal.awaitExit()).toBe(130);
      expect(terminal.isInDefaultMode).toBe(true);
      expect((await run(["get", "prompt", "given up"])).status).toBe(1);
    });

    const PASTES_ARE_PLAIN = "\x1b[?2004l";

    test.each(["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const)(
      "%s restores the terminal and ends the program",
      async (signal) => {
        await using terminal = startPrompt("killed");
        await terminal.awaitOutput("Value for");
        terminal.type("abc");
        expect(terminal.isInDefaultMode).toBe(false);
        expect(terminal.shown).not.toContain(PASTES_ARE_PLAIN);
        terminal.kill(signal);
        expect(await terminal.awaitExit()).toBe(signal);
        expect(terminal.isInDefaultMode).toBe(true);
        await terminal.awaitOutput(PASTES_ARE_PLAIN);
      },
    );

    test.each([
      ["Enter", `${VALUE}\r`],
      ["Ctrl-C", "\x03"],
      ["Enter alone", "\r"],
    ])("%s leaves pastes unmarked", async (_key, keys) => {
      await using terminal = startPrompt("pasted");
      await terminal.awaitOutput("\x1b[?2004h");
      await terminal.awaitOutput("Value for");
      terminal.type(keys);
      await terminal.awaitOutput(PASTES_ARE_PLAIN);
      await terminal.awaitExit();
    });

    test.each([
      [
        "SIGTSTP",
        (terminal: TerminalProgram, pid: number) => void (terminal.pid, process.kill(pid, "SIGTSTP")),
      ],
      ["Ctrl-Z", (terminal: TerminalProgram) => terminal.type("\x1a")],
    ] as const)(
      "%s stops rt with the terminal restored, and continuing repeats the prompt once",
      async (_how, stop) => {
        const env = { ...keyring.env, PS1: "shell> " };
        await using terminal = startOnTerminal(
          ["setsid", "--ctty", "bash", "--norc", "--noediting", "-i"],
          env,
        );
        await terminal.awaitOutput("shell> ");
        terminal.type(`${RT} secrets set prompt twice\r`);
        await terminal.awaitOutput("(not shown): ");
        const children = await readFile(`/proc/${terminal.pid}/task/${terminal.pid}/children`, "utf8");
        stop(terminal, Number(children));
        await terminal.awaitOutput("Stopped");
        expect(terminal.isInDefaultMode).toBe(true);
        expect(terminal.shown.split(PASTES_ARE_PLAIN)).toHaveLength(2);
        terminal.type("fg; echo ended $?\r");
        await terminal.awaitOutput("(not shown): ", 2);
        terminal.type(`${VALUE}\r`);
        await terminal.awaitOutput("ended 0");
        expect(terminal.shown.split("(not shown)")).toHaveLength(3);
        expect(await lookUp("prompt", "twice")).toBe(VALUE);
      },
    );

    test("Ctrl-Z without a shell that could continue rt repeats the prompt, without showing input", async () => {
      await using terminal = startOnTerminal(
        ["setsid", "--ctty", RT, "secrets", "set", "prompt", "alone"],
        keyring.env,
      );
      await terminal.awaitOutput("(not shown): ");
      terminal.type("forgotten\x1a");
      await terminal.awaitOutput("(not shown): ", 2);
      expect(terminal.isInDefaultMode).toBe(false);
      terminal.type(`${VALUE}\r`);
      expect(await terminal.awaitExit()).toBe(0);
      expect(await lookUp("prompt", "alone")).toBe(VALUE);
    });

    test("Ctrl-Z returns the terminal to the shell, and continuing repeats the prompt", async () => {
      const env = { ...keyring.env, PS1: "shell> " };
      await using terminal = startOnTerminal(
        ["setsid", "--ctty", "bash", "--norc", "--noediting", "-i"],
        env,
      );
      await terminal.awaitOutput("shell> ");
      terminal.type(`${RT} secrets set prompt stopped\r`);
      await terminal.awaitOutput("Value for");
      terminal.type("forgotten\x1a");
      await terminal.awaitOutput("Stopped");
      expect(terminal.isInDefaultMode).toBe(true);
      terminal.type("fg; echo ended $?\r");
      await terminal.awaitOutput("Value for prompt stopped (not shown): ", 2);
      terminal.type(`${VALUE}\r`);
      await terminal.awaitOutput("ended 0");
      expect(terminal.shown).not.toContain("pass phrase");
      expect(terminal.shown).not.toContain("forgotten");
      expect(await lookUp("prompt", "stopped")).toBe(VALUE);
    });

    test("typed text stays hidden when another program has changed the terminal", async () => {
      await using terminal = startPrompt("continued");
      await terminal.awaitOutput("Value for");
      terminal.kill("SIGSTOP");
      terminal.setDefaultMode();
      terminal.kill("SIGCONT");
      await terminal.awaitOutput("Value for", 2);
      expect(terminal.isInDefaultMode).toBe(false);
      terminal.type(`${VALUE}\r`);
      expect(await terminal.awaitExit()).toBe(0);
      expect(await lookUp("prompt", "continued")).toBe(VALUE);
    });

    test("Enter alone stores nothing", async () => {
      await using terminal = startPrompt("nothing");
      await terminal.awaitOutput("Value for");
      terminal.type("\r");
      await terminal.awaitOutput("No value was entered");
      expect(await terminal.awaitExit()).toBe(2);
      expect((await run(["get", "prompt", "nothing"])).status).toBe(1);
    });

    test.each([
      ["a backspace takes back a character", "a🔑\x7fb\r", "ab", "entered"],
      ["Ctrl-U takes back all", "wrong\x15right\r", "right", "entered"],
      ["arrows and other keys add no characters", "a\x1b[D\x1b[1;5C\tb\x1bx\r", "ab", "entered"],
      ["a marked paste may have several lines", "\x1b[200~a\rb\r\nc\n\x1b[201~\r", "a\nb\nc\n", "entered"],
      ["text after the line is dropped", "a\rb", "a", "entered"],
      ["Ctrl-D within a value does nothing", "a\x04b", "ab", "typing"],
      ["Ctrl-Z forgets what was typed", "a\x1ab\r", "", "suspended"],
      ["a marked paste may have any character", "\x1b[200~a\x1ab\x03\x1b[201~\r", "a\x1ab\x03", "entered"],
    ] as const)("%s", (_what, keys, text, state) => {
      expect(typeKeys(NOTHING_TYPED, keys)).toMatchObject({ text, state });
    });
  });
});
