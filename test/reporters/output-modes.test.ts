import { describe, expect, test } from "bun:test";
import { createProject, type Files } from "../support/project.ts";
import { RT, type RtResult, runRt } from "../support/rt.ts";

/** Waits for a file, so that the output of two scripts always interleaves in the same way. */
const wait = (file: string) => `while [ ! -e ${file} ]; do read -t 0.01 <> <(:) || :; done`;

/** `x` succeeds, `y` fails; they print x1, y1, x2, y2. */
const FILES: Files = {
  "package.json": {
    scripts: {
      x: `echo x1; touch a; ${wait("b")}; echo x2 >&2; touch c`,
      y: `${wait("a")}; echo y1; touch b; ${wait("c")}; echo y2; exit 3`,
    },
  },
};

async function runBoth(...options: string[]): Promise<RtResult> {
  await using project = await createProject(FILES);
  const args = ["run", "--parallel", "--no-exit-on-error", ...options, "x", "y"];
  const result = await runRt({ args, cwd: project.path });
  expect(result.status).toBe(3);
  return result;
}

const outputIn = (text: string) => text.match(/\b[xy][12]\b/g);

describe("--output", () => {
  // rt may receive lines of two scripts in another order than they were printed: each script has pipes of its own.
  test("stream shows the lines of each script in order", async () => {
    expect(outputIn((await runBoth("--output=stream")).stdout)?.toSorted()).toEqual(["x1", "y1", "y2"]);
  });

  test("grouped shows each script's output in one piece, with both of its streams in order", async () => {
    const { stdout, stderr } = await runBoth("--output=grouped");
    // Both end at the same time.
    expect(
      stdout
        .split(/(?=[xy] \| [xy]1)/)
        .toSorted()
        .join(""),
    ).toBe("x | x1\nx | x2\ny | y1\ny | y2\n");
    expect(stderr).toContain("x | Done in");
    expect(stderr).toContain("y | Exited with code 3");
  });

  test("errors shows the output of failed scripts only", async () => {
    const { stdout, stderr } = await runBoth("--output=errors");
    expect(stdout).toBe("y | y1\ny | y2\n");
    expect(stderr).not.toContain("x |");
    expect(stderr).toContain("1 succeeded, 1 failed");
  });

  test("json prints each event as one line on standard output", async () => {
    const { stdout, stderr } = await runBoth("--output=json");
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events[0]).toMatchObject({ type: "run-start", version: 1, tasks: [{ task: "x" }, { task: "y" }] });
    const linesOf = (name: string) =>
      events
        .filter(({ type, task }) => type === "output" && task === name)
        .map(({ stream, line }) => [stream, line]);
    expect([linesOf("x"), linesOf("y")]).toEqual([
      [
        ["stdout", "x1"],
        ["stderr", "x2"],
      ],
      [
        ["stdout", "y1"],
        ["stdout", "y2"],
      ],
    ]);
    const ends = events.filter(({ type }) => type === "task-end");
    // Both scripts end at once.
    expect(ends.sort((a, b) => String(a.task).localeCompare(String(b.task)))).toMatchObject([
      { task: "x", outcome: "success", exitCode: 0 },
      { task: "y", outcome: "failure", exitCode: 3, message: "Exited with code 3" },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "run-end" });
    expect(stderr).toBe("");
  });

  test("json escapes control sequences and CI commands of output, and prints an unfinished line", async () => {
    await using project = await createProject({
      "package.json": { scripts: { s: "printf '\\033]52;c;eA==\\007\\r\\n::error::x\\n\\377open'" } },
    });
    const { stdout } = await runRt({ args: ["run", "--output=json", "s"], cwd: project.path });
    expect(stdout).not.toMatch(/[\x1b\x07]|^\s*::/m);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { line?: string });
    expect(lines.flatMap(({ line }) => line ?? [])).toEqual([
      "\x1b]52;c;eA==\x07",
      "::error::x",
      "\ufffdopen",
    ]);
  });

  test("errors overrides the groups of GitHub Actions for successful scripts", async () => {
    await using project = await createProject({
      "package.json": { workspaces: ["*"] },
      "a/package.json": { name: "a", scripts: { t: "echo fine" } },
      "b/package.json": { name: "b", scripts: { t: "echo broken; exit 1" } },
    });
    const args = ["run", "--output=errors", "--no-exit-on-error", "--filter", "*", "t"];
    const { stdout } = await runRt({ args, cwd: project.path, env: { GITHUB_ACTIONS: "true" } });
    expect(stdout).toStartWith("::group::b t\nbroken\n::endgroup::\n");
    expect(stdout).not.toContain("fine");
  });
});

describe("--log-prefix", () => {
  test("none prints output lines unchanged", async () => {
    const { stdout } = await runBoth("--log-prefix=none");
    expect(stdout).toBe("x1\ny1\ny2\n");
  });

  test("task prefixes the lines of a single script on a terminal", async () => {
    await using project = await createProject({ "package.json": { scripts: { s: "echo out" } } });
    const line = `'${RT}' run --output=stream --log-prefix=task s`;
    const { stdout } = await runRt({ program: ["script", "-qec", line, "/dev/null"], cwd: project.path });
    expect(Bun.stripANSI(stdout)).toContain("s: out");
  });
});
