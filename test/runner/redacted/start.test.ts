// Tests the start of a redacted script on a terminal. rt creates the pseudo-terminal while it reads the secrets. An
// unneeded pseudo-terminal leaves nothing behind, and only the script gets the values.
import { describe, expect, test } from "bun:test";
import { startKeyring } from "../../support/keyring/keyring.ts";
import { createMark, waitUntil } from "../../support/processes.ts";
import { createProject, type Files } from "../../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";
import { trustOf } from "../../support/trusted.ts";
import { isRoot } from "../../support/users.ts";

const TOKEN = "ghp_A1b2C3d4E5f6/G7+h8";
const RTFIG =
  '[secrets.TOKEN]\nfrom = "com.acme/token"\n[run.secrets]\n"*" = ["TOKEN"]\npresteps = ["TOKEN"]\n';

const SCRIPTS = {
  where: "pwd; ls",
  long: "echo ${#LONG} $TOKEN",
  presteps: "test -t 0 && echo before $TOKEN",
  steps: "test -t 0 && echo then $TOKEN",
  children: "read -r children </proc/$$/task/$$/children; echo ${children:-none}",
};

interface Start {
  readonly files?: Files;
  /** Relative to the project. */
  readonly from?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether the project has a trust record. */
  readonly isTrusted?: boolean;
}

/** Returns the output and the exit status when no process is left. */
async function run(
  words: readonly string[],
  { files = {}, from = ".", env = {}, isTrusted = false }: Start = {},
) {
  await using project = await createProject({
    "package.json": { scripts: SCRIPTS },
    "rtfig.toml": RTFIG,
    "inner/file": "",
    ...files,
  });
  const trust = isTrusted ? { RT_TRUST: await trustOf(project.path) } : {};
  const mark = createMark();
  await using terminal = startOnTerminal(
    [RT, ...words],
    cleanEnvironment({ TOKEN, NO_COLOR: "1", ...mark.env, ...trust, ...env }),
    { cwd: project.join(from), isSessionLeader: true },
  );
  const status = await terminal.awaitExit();
  await waitUntil(() => mark.find().length === 0);
  await terminal.awaitClose();
  const { shown, isInDefaultMode } = terminal;
  return { shown: shown.replaceAll(project.path, "<project>"), status, isInDefaultMode };
}

const endState = (shown: string, status = 0) => ({ shown, status, isInDefaultMode: true });

describe.skipIf(process.platform === "win32").concurrent("a redacted script on a terminal", () => {
  const silent = (script: string) => ["--silent", "run", script];

  test("starts in its package, wherever rt was started", async () => {
    const expected = "<project>\r\ninner  package.json  rtfig.toml\r\n";
    for (const from of [".", "inner"])
      expect(await run(silent("where"), { from })).toEqual(endState(expected));
  });

  test("gets variables that are longer than a pipe's buffer", async () => {
    const env = { LONG: "1".repeat(100_000), OTHER: "2".repeat(100_000) };
    const names = ["LONG", "OTHER", "TOKEN"];
    const rtfig = names.map((name) => `[secrets.${name}]\nfrom = "com.acme/${name}"\n`).join("");
    const files = { "rtfig.toml": `${rtfig}[run.secrets]\nlong = ${JSON.stringify(names)}\n` };
    expect(await run(silent("long"), { files, env })).toEqual(endState("100000 [TOKEN]\r\n"));
  });

  test("fails with an error when the variables are too long for the system", async () => {
    const source = { command: ["sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x"] };
    const files = {
      "rtfig.toml": `[secrets.LONG]\nfrom = { command = ${JSON.stringify(source.command)} }\n[run.secrets]\nlong = ["LONG"]\n`,
      "package.json": { scripts: { long: "echo ${#LONG}" } },
    };
    const { shown, ...rest } = await run(silent("long"), { files, isTrusted: true });
    expect(rest).toEqual({ status: 126, isInDefaultMode: true });
    expect(shown).toStartWith(
      'error: Cannot run the script "long": its arguments and variables are too long for this system\r\n',
    );
  });

  test("runs after a hook, each on a terminal", async () => {
    expect(await run(silent("steps"))).toEqual(endState("before [TOKEN]\r\nthen [TOKEN]\r\n"));
  });

  test("may be a program", async () => {
    expect(await run(["--silent", "run", "--secret", "TOKEN=a/b", "printenv", "TOKEN"])).toMatchObject({
      isInDefaultMode: true,
    });
  });

  test("never starts without a required secret, and rt leaves nothing behind", async () => {
    const env = {
      TOKEN: undefined,
      DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere",
      XDG_RUNTIME_DIR: "/nowhere",
    };
    const { shown, ...rest } = await run(silent("where"), { env, isTrusted: true });
    expect(rest).toEqual({ status: 1, isInDefaultMode: true });
    expect(shown).toStartWith("error: Cannot read TOKEN from the credential store: ");
  });
});

describe.skipIf(process.platform !== "linux").concurrent("the streams of a redacted script", () => {
  // Only root may read /proc of rt, which is not dumpable.
  test.skipIf(!isRoot)("may be pipes of which rt keeps only the reading end", async () => {
    // rt closes the ends while the script starts, so the script waits.
    const isHeld = 'ls -l /proc/$PPID/fd | grep -F "$(readlink /proc/$$/fd/1)" | grep -q ^l-w';
    const held = `while ${isHeld}; do :; done; echo let go`;
    await using project = await createProject({ "package.json": { scripts: { held } }, "rtfig.toml": RTFIG });
    const { stdout } = await runRt({ args: ["--silent", "run", "held"], cwd: project.path, env: { TOKEN } });
    expect(stdout).toBe("let go\n");
  });

  test("exist before rt has read the secrets", async () => {
    // Prints the secret only after rt has started the monitor.
    const waits =
      'until grep -qsx rt-monitor $(printf "/proc/%s/comm " $(cat /proc/$PPID/task/*/children)); do :; done; echo ' +
      TOKEN;
    const files = {
      "rtfig.toml": `[secrets.TOKEN]\nfrom = { command = ["sh", "-c", ${JSON.stringify(waits)}] }\n[run.secrets]\n"*" = ["TOKEN"]\n`,
    };
    const env = { TOKEN: undefined };
    expect(await run(["--silent", "run", "steps"], { files, env, isTrusted: true })).toEqual(
      endState("before\r\nthen [TOKEN]\r\n"),
    );
  });

  test("exist no more when no value has to be redacted", async () => {
    const files = { "rtfig.toml": RTFIG.replace("\n[run", "\noptional = true\n[run") };
    await using keyring = await startKeyring();
    const env = { ...keyring.env, TOKEN: undefined };
    expect(await run(["--silent", "run", "children"], { files, env, isTrusted: true })).toEqual(
      endState("none\r\n"),
    );
  });
});
