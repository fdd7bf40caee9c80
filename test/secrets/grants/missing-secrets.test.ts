// On a terminal, rt prompts for missing secrets without showing them, and stores them; the user may decline.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Project } from "../../support/project.ts";
import { ABSENT, RT, runRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";
import { trustOf } from "../../support/trusted.ts";

const CONFIG = `[secrets]
ONE = { from = "acme/one", about = "the \\u001b first" }
SAME = { from = "acme/one" }
TWO = { from = "acme/two" }
MAYBE = { from = "acme/maybe", optional = true }
[run.secrets]
show = ["ONE", "SAME", "TWO", "MAYBE"]
`;
const VALUE = "pass phrase 7f3a";

describe.skipIf(process.platform !== "linux")("secrets that are missing", () => {
  let keyring: Keyring;
  let project: Project;
  let env: Record<string, string>;
  beforeAll(async () => {
    const show = 'echo "$([ "$ONE$SAME$TWO" = "$EXPECTED" ] && echo right)"; read line; echo "and $line"';
    [keyring, project] = await Promise.all([
      startKeyring(),
      createProject({ "rtfig.toml": CONFIG, "package.json": { scripts: { show } } }),
    ]);
    env = { ...keyring.env, RT_TRUST: await trustOf(project.path) };
  });
  afterAll(async () => {
    await keyring?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });
  const lookUp = (account: string) =>
    keyring.run(["secret-tool", "lookup", "service", "acme", "account", account]);
  const onTerminal = (redirection = "") =>
    startOnTerminal(
      [
        "/bin/sh",
        "-c",
        `cd "$0" && exec "$@" ${redirection}`,
        project.path,
        RT,
        "--no-redact",
        "--silent",
        "run",
        "show",
      ],
      { ...env, EXPECTED: `${VALUE}${VALUE}two` },
    );

  test.each([
    ["Enter", "\r", 1],
    ["Ctrl-C", "\x03", 1],
  ])(
    "%s ends the prompts, reports the missing secrets, and stores and starts nothing more",
    async (_key, keys, status) => {
      await using terminal = onTerminal();
      await terminal.awaitOutput("ONE (the \\u001b first), acme/one (not shown): ");
      terminal.type(`${VALUE}\r`);
      await terminal.awaitOutput("TWO, acme/two (not shown): ");
      terminal.type(keys);
      await terminal.awaitOutput("hint: rt secrets set acme two");
      // The first secret is stored now.
      expect(terminal.shown).toContain("error: Missing secret: TWO");
      expect(await terminal.awaitExit()).toBe(status);
      expect(terminal.isInDefaultMode).toBe(true);
      expect(terminal.shown).not.toContain("and");
      expect(terminal.shown).not.toContain("7f3a");
      await keyring.run(["secret-tool", "clear", "service", "acme", "account", "one"]);
    },
  );

  test("no prompt appears when standard input or standard error is not a terminal", async () => {
    for (const redirection of ["</dev/null", "2>&1 | cat", "<<< typed"].slice(0, 2)) {
      await using terminal = onTerminal(redirection);
      await terminal.awaitOutput("hint: rt secrets set acme two");
      expect(terminal.shown).not.toContain("not shown");
    }
  });

  test("entered secrets are stored once for each address, and the script gets them and the terminal", async () => {
    await using terminal = onTerminal();
    await terminal.awaitOutput("acme/one (not shown): ");
    terminal.type(`${VALUE}\r`);
    await terminal.awaitOutput("acme/two (not shown): ");
    terminal.type("two\r");
    await terminal.awaitOutput("right");
    expect(terminal.isInDefaultMode).toBe(true);
    terminal.type("first\r");
    await terminal.awaitOutput("and first");
    expect(await terminal.awaitExit()).toBe(0);
    expect(terminal.shown).not.toContain("7f3a");
    expect(await Promise.all(["one", "two", "maybe"].map(lookUp))).toEqual([VALUE, "two", ""]);
  });

  test("the command that stores a missing secret is quoted for a shell", async () => {
    await using odd = await createProject({
      "rtfig.toml": `[secrets.X]\nfrom = { service = "-acme", name = "it's" }\n[run.secrets]\nshow = ["X"]\n`,
      "package.json": { scripts: { show: "echo never" } },
    });
    const trusted = { ...keyring.env, RT_TRUST: await trustOf(odd.path) };
    expect(await runRt({ args: ["run", "show"], cwd: odd.path, env: trusted })).toEqual({
      stdout: "",
      stderr: "error: Missing secret: X\nhint: rt secrets set -- -acme 'it'\\''s'\n",
      status: 1,
    });
  });

  test("an optional secret is omitted when there is no store, but not when the store is locked", async () => {
    await using optional = await createProject({
      "rtfig.toml":
        '[secrets.MAYBE]\nfrom = "acme/maybe"\noptional = true\n[run.secrets]\nshow = ["MAYBE"]\n',
      "package.json": { scripts: { show: "echo got $MAYBE" } },
    });
    const run = async (extra: Record<string, string>) =>
      await runRt({
        args: ["--silent", "run", "show"],
        cwd: optional.path,
        env: { ...keyring.env, ...extra },
      });
    const trusted = { RT_TRUST: await trustOf(optional.path) };
    const nowhere = { ...trusted, DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}` };
    expect(await run(nowhere)).toEqual({ stdout: "got\n", stderr: "", status: 0 });
    await keyring.run(
      ["secret-tool", "store", "--label=x", "service", "acme", "account", "maybe"],
      "a value of it",
    );
    expect((await run(trusted)).stdout).toBe("got [MAYBE]\n");
    await keyring.lock();
    const locked = await run(trusted);
    expect(locked).toMatchObject({ stdout: "", status: 1 });
    expect(locked.stderr).toStartWith("error: Cannot read MAYBE from the credential store: ");
  });
});
