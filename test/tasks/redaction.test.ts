// Redaction in the output of several scripts: with prefixes, in groups, in the live view and in reports.
import { describe, expect, test } from "bun:test";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";

const TOKEN = "ghp_A1b2C3d4E5f6G7h8";
const OTHER = "another-value-of-b";

/** Writes in parts, and the last line without a line break. */
const SHOW =
  'printf "a ${TOKEN%h8}"; sleep 0.03; echo "h8 b"; echo "$TOKEN" >&2; printf "$TOKEN" | base64; printf "c $TOKEN"';

async function createWorkspace(): Promise<Project> {
  return await createProject({
    "package.json": { name: "root", workspaces: ["packages/*"] },
    "packages/a/package.json": {
      name: "a",
      scripts: { show: SHOW, prompt: "test -t 1 && echo $TOKEN; read line; echo got $line" },
    },
    "packages/b/package.json": { name: "b", scripts: { show: 'echo "$OTHER and $ALIAS"' } },
    "rtfig.toml":
      '[secrets.TOKEN]\nfrom = "x/token"\n[secrets.OTHER]\nfrom = "x/other"\n' +
      '[run.secrets]\n"a#*" = ["TOKEN"]\n"b#*" = ["OTHER"]\n',
  });
}

const env = (extra = {}) => cleanEnvironment({ TOKEN, OTHER, ALIAS: TOKEN, NO_COLOR: "1", ...extra });

describe.skipIf(process.platform === "win32").concurrent("redaction of several scripts' output", () => {
  const run = async (args: readonly string[], extra = {}) => {
    await using project = await createWorkspace();
    const result = await runRt({ args: ["--silent", ...args], cwd: project.path, env: env(extra) });
    const reports = ["report.json", "run.html", "junit.xml", "trace.json"].map((name) =>
      Bun.file(project.join(name)),
    );
    const texts = reports.map(async (file) => ((await file.exists()) ? await file.text() : ""));
    const text = (await Promise.all(texts)).join("");
    const all = result.stdout + result.stderr + text;
    for (const value of [TOKEN, OTHER, TOKEN.slice(0, 9), btoa(TOKEN).slice(0, 20)])
      expect(all).not.toContain(value);
    return result;
  };
  const lines = (text: string) => text.split("\n").toSorted().join("\n");

  test("replaces values behind labels and in reports, on the stream of each line", async () => {
    const { stdout, stderr, status } = await run([
      "--parallel",
      "--filter=*",
      "--report=report.json",
      "--report=run.html",
      "--report=junit.xml",
      "--report=trace.json",
      "run",
      "show",
    ]);
    // A part that arrives late is printed up to the longest public prefix of the value, plus two letters.
    expect(lines(stdout).replace("a ghp_A1[", "a [")).toBe(
      lines("a:show | a [TOKEN] b\na:show | [TOKEN]g=\na:show | c [TOKEN]\nb:show | [OTHER] and [TOKEN]\n"),
    );
    expect(stderr).toContain("| [TOKEN]\n");
    expect(status).toBe(0);
  });

  test("replaces values behind package prefixes and in groups of GitHub Actions", async () => {
    expect((await run(["--filter=a", "run", "show"])).stdout).toMatch(/^a show: a (?:ghp_A1)?\[TOKEN\] b$/m);
    const { stdout } = await run(["--filter=*", "run", "show"], { GITHUB_ACTIONS: "true" });
    expect(stdout).toMatch(/::group::a show\na (?:ghp_A1)?\[TOKEN\] b\n/);
    expect(stdout).toContain("[OTHER] and ");
  });

  test("replaces values in the live view, and when the only script gets the terminal", async () => {
    await using project = await createWorkspace();
    const start = (...args: string[]) =>
      startOnTerminal([RT, ...args], env(), { cwd: project.path, isSessionLeader: true });
    await using live = start("--filter=*", "run", "show");
    expect(await live.awaitExit()).toBe(0);
    await live.awaitClose();
    expect(live.shown).toContain("[OTHER] and ");
    expect(live.shown).toMatch(/c \[TOKEN\]/);
    await using alone = start("--filter=a", "--report=report.json", "run", "prompt");
    await alone.awaitOutput("[TOKEN]");
    alone.type("typed\n");
    expect(await alone.awaitExit()).toBe(0);
    await alone.awaitClose();
    for (const { shown } of [live, alone]) expect(shown).not.toContain(TOKEN.slice(0, 9));
    expect(alone.shown).toContain("got typed");
    expect(alone.isInDefaultMode).toBe(true);
  });

  test("starts no script when a value is too short", async () => {
    const { stdout, stderr, status } = await run(["--parallel", "--filter=*", "run", "show"], {
      OTHER: "short",
    });
    expect([stdout, status]).toEqual(["", 1]);
    expect(stderr).toStartWith("error: The value of OTHER is too short");
  });
});
