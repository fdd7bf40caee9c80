import { afterAll, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import {
  type BlockState,
  clip,
  renderBlock,
  renderFrame,
  rowsTaken,
} from "../../src/reporters/terminal/live-frame.ts";
import { displayLine, LastLines } from "../../src/reporters/terminal/tail-lines.ts";
import { createProject } from "../support/project.ts";
import { waitUntil } from "../support/processes.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";

const SOCKET = `rt-test-${process.pid}`;
const TMUX = ["tmux", "-L", SOCKET, "-f", "/dev/null"];

function tmux(...args: string[]): string {
  return Bun.spawnSync([...TMUX, ...args], {
    env: cleanEnvironment({ TERM: "xterm-256color", TMUX_TMPDIR: tmpdir() }),
  }).stdout.toString();
}

/** Returns the terminal's lines, by default with the scrollback, without trailing blanks. */
function screen(name: string, start = "-"): string[] {
  const lines = tmux("capture-pane", "-t", name, "-p", "-S", start)
    .split("\n")
    .map((line) => line.trimEnd());
  while (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Returns the first screen that meets the condition. */
async function screenWhen(name: string, isExpected: (lines: string[]) => boolean): Promise<string[]> {
  let lines: string[] = [];
  await waitUntil(() => isExpected((lines = screen(name))));
  return lines;
}

const isFinished = (lines: string[]) => /^status \d+$/.test(lines.at(-1) ?? "");

let sessions = 0;

function openTerminal(columns: number, rows: number, directory: string, args: string): string {
  const name = `s${++sessions}`;
  // The shell survives Ctrl-C to print the status.
  const command = `trap : INT; clear; ${RT} run ${args}; echo "status $?"; read end`;
  tmux(
    "new-session",
    "-d",
    "-s",
    name,
    "-x",
    String(columns),
    "-y",
    String(rows),
    "-c",
    directory,
    "bash",
    "--norc",
    "-c",
    command,
    ";",
    "set-option",
    "remain-on-exit",
    "on",
  );
  return name;
}

afterAll(() => void tmux("kill-server"));

const LONG =
  "日本語 and a text that is longer than any of the widths at which this is shown, by far, so that it has to be cut off somewhere";

const FILES = {
  "package.json": { workspaces: ["packages/*"] },
  "packages/a/package.json": {
    name: "a",
    scripts: {
      t: `for i in $(seq 30); do echo "$i ${LONG}"; done; until [ -e ../../go ]; do sleep 0.01; done; exit 3`,
    },
  },
  "packages/b/package.json": {
    name: "b",
    scripts: {
      t: "printf '10%%\\r20%%'; until [ -e ../../go ]; do sleep 0.05; done; printf '\\rfinished\\n'",
    },
  },
  "packages/c/package.json": { name: "c", scripts: { t: "echo ok" }, dependencies: { b: "*" } },
};

describe("the live view", () => {
  test.each([30, 80, 200])(
    "fits a terminal of %d columns and leaves no old lines behind",
    async (columns) => {
      await using project = await createProject(FILES);
      const name = openTerminal(columns, 18, project.path, "--concurrency 2 --filter '*' t");
      const during = await screenWhen(
        name,
        (lines) =>
          lines.includes("│ 20%") &&
          lines.some((line) => line.startsWith("│ 30 日")) &&
          lines.filter((line) => line === "└─ Running...").length === 2 &&
          lines.at(-1) === "1 waiting",
      );
      expect(during.length).toBeLessThan(18);
      expect(during.filter((line) => line.startsWith("a t $ for i in"))).toHaveLength(1);

      await project.write({ go: "" });
      const after = await screenWhen(name, isFinished);
      const live = after.slice(0, after.indexOf("a t: complete output"));
      expect(live.filter((line) => line.startsWith("a t $"))).toHaveLength(1);
      expect(live.filter((line) => line.includes("Running"))).toEqual([]);
      expect(live).toContain("│ [20 lines elided]");
      expect(live.filter((line) => /^│ \d+ 日/.test(line)).map((line) => Number(line.split(" ")[1]))).toEqual(
        [21, 22, 23, 24, 25, 26, 27, 28, 29, 30],
      );
      expect(live).toContain("│ finished");
      expect(live.filter((line) => line.startsWith("└─ Done in"))).toHaveLength(2);
      expect(live).toContain("└─ Exited with code 3");
      expect(after.slice(live.length).filter((line) => /^│ \d+ 日/.test(line))).toHaveLength(30);
      expect(after.at(-1)).toBe("status 3");
    },
  );

  test("leaves no old lines behind when the terminal is resized", async () => {
    await using project = await createProject(FILES);
    const name = openTerminal(120, 20, project.path, "--concurrency 2 --filter '*' t");
    await waitUntil(() => screen(name).some((line) => line.startsWith("│ 30 日")));
    for (const columns of [50, 24, 100]) {
      tmux("resize-window", "-t", name, "-x", String(columns), "-y", "20");
      // Only the visible rows: rt cannot erase rows that a narrower terminal pushed into the scrollback.
      const count = (isWanted: (line: string) => boolean) => screen(name, "0").filter(isWanted).length;
      await waitUntil(
        () =>
          count((line) => line.startsWith("│ 30 日") && Bun.stringWidth(line) >= columns - 2) === 1 &&
          count((line) => line.startsWith("a t $")) === 1 &&
          count((line) => /^│ \d+ 日/.test(line)) === 10 &&
          count((line) => line.includes("Running")) === 2,
      );
    }
    await project.write({ go: "" });
    await waitUntil(() => screen(name).at(-1) === "status 3");
  });

  test("shows every line with --elide-lines 0", async () => {
    await using project = await createProject({ ...FILES, go: "" });
    const name = openTerminal(60, 20, project.path, "--elide-lines 0 --silent --filter '*' t");
    const lines = await screenWhen(name, isFinished);
    expect(lines.filter((line) => /^│ \d+ 日/.test(line))).toHaveLength(30);
    expect(lines.filter((line) => line.includes("elided"))).toEqual([]);
  });

  test("gives the terminal to a single script", async () => {
    await using project = await createProject({
      ...FILES,
      "packages/a/package.json": {
        name: "a",
        scripts: { t: "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo a terminal" },
      },
    });
    const name = openTerminal(60, 20, project.path, "--filter a t");
    await waitUntil(() => screen(name).at(-1) === "status 0");
    expect(screen(name)).toContain("a terminal");
  });

  test("shortens a single script to the number of lines in --elide-lines", async () => {
    await using project = await createProject({
      ...FILES,
      "packages/a/package.json": { name: "a", scripts: { t: "seq -f 'line %g' 30" } },
    });
    const name = openTerminal(60, 20, project.path, "--silent --elide-lines 3 --filter a t");
    await waitUntil(() => screen(name).at(-1) === "status 0");
    expect(screen(name).filter((line) => line.includes("line"))).toEqual([
      "│ [27 lines elided]",
      "│ line 28",
      "│ line 29",
      "│ line 30",
    ]);
  });

  test("ends every script at Ctrl-C and exits with the signal", async () => {
    await using project = await createProject(FILES);
    const name = openTerminal(60, 20, project.path, "--concurrency 2 --filter '*' t");
    await waitUntil(() => screen(name).some((line) => line.startsWith("│ 30 日")));
    tmux("send-keys", "-t", name, "C-c");
    await waitUntil(() => screen(name).filter((line) => line === "└─ Interrupted").length === 2);
    await waitUntil(() => screen(name).at(-1) === "status 130");
  });
});

describe("renderFrame()", () => {
  const block = (lines: number): BlockState => ({
    title: "p t",
    command: "x",
    lines: Array.from({ length: lines }, (_, index) => `l${index}`),
    total: lines,
    status: "Running...",
    tone: "running",
  });
  const options = { columns: 40, elideLines: 10, waiting: 0, useColor: false };

  test("never uses more rows than the terminal has", () => {
    for (const count of [0, 1, 2, 5, 40]) {
      for (const rows of [3, 4, 8, 24]) {
        for (const lines of [0, 1, 9, 100]) {
          const frame = renderFrame(
            Array.from({ length: count }, () => block(lines)),
            { ...options, rows, waiting: 3 },
          );
          expect(frame.lines.length).toBeLessThan(rows);
        }
      }
    }
  });

  test("gives unused rows of a short script to a long one", () => {
    const { lines } = renderFrame([block(100), block(1)], { ...options, rows: 16 });
    expect(lines).toEqual([
      "p t $ x",
      "│ [91 lines elided]",
      ...Array.from({ length: 9 }, (_, index) => `│ l${index + 91}`),
      "└─ Running...",
      "p t $ x",
      "│ l0",
      "└─ Running...",
    ]);
  });

  test("counts the rows that old lines occupy in a narrower terminal", () => {
    expect(rowsTaken({ lines: ["x".repeat(40), "", "日".repeat(11)] }, 20)).toBe(2 + 1 + 2);
  });
});

test("renderBlock() and clip() keep to the width with wide and coloured characters", () => {
  expect(clip("abcdef", 6)).toBe("abcdef");
  expect(clip("abcdef", 5)).toBe("abcd…");
  expect(Bun.stringWidth(clip("日本語日本語", 6))).toBeLessThanOrEqual(6);
  expect(clip("\x1b[31mred and more\x1b[0m", 6)).toEndWith("\x1b[0m");
  const lines = renderBlock(
    {
      title: "p t",
      command: "a\n  b",
      lines: ["x".repeat(99)],
      total: 1,
      status: "Exited with code 1",
      tone: "failed",
    },
    { columns: 12, elideLines: 10, useColor: false },
  );
  for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThan(12);
});

describe("LastLines", () => {
  test.each([
    [["a\nb\nc\n"], ["b", "c"], 3],
    [["a", "b\n", "c"], ["ab", "c"], 2],
    [["a\nb\nc"], ["b", "c"], 3],
    [["\n\n"], ["", ""], 2],
    [[], [], 0],
  ])("keeps of %j the lines %j", (chunks, expected, total) => {
    const lines = new LastLines(2);
    for (const chunk of chunks) lines.append(Buffer.from(chunk));
    expect(lines.all()).toEqual(expected);
    expect(lines.total).toBe(total);
  });

  test("keeps the same lines however the bytes are split", () => {
    const bytes = Buffer.from(Array.from({ length: 200 }, (_, index) => "x".repeat(index % 7)).join("\n"));
    const whole = new LastLines(5);
    whole.append(bytes);
    for (const size of [1, 3, 50]) {
      const parts = new LastLines(5);
      for (let start = 0; start < bytes.length; start += size)
        parts.append(bytes.subarray(start, start + size));
      expect([parts.all(), parts.total]).toEqual([whole.all(), whole.total]);
    }
  });
});

test.each([
  ["10%\r20%", "20%"],
  ["done\r", "done"],
  ["a\tb", "a    b"],
  ["\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"],
  ["\x1b[2K\x1b[1Aup", "up"],
  ["\x1b]0;title\x07x", "x"],
  ["a\x07\x00b", "ab"],
  ["a\x1b", "a"],
])("displayLine(%j) returns %j", (line, shown) => {
  expect(displayLine(line)).toBe(shown);
});

test.each([
  ["get FORCE_COLOR=1", [], {}, "1"],
  ["get no FORCE_COLOR with NO_COLOR", [], { NO_COLOR: "1" }, "none"],
  ["keep FORCE_COLOR of an --env-file", ["--env-file=own.env"], {}, "0"],
])("scripts in the live view %s", async (_, options, env, shown) => {
  const show = { scripts: { t: "echo force=${FORCE_COLOR-none}." } };
  await using project = await createProject({
    "package.json": { workspaces: ["packages/*"] },
    "packages/a/package.json": { name: "a", ...show },
    "packages/b/package.json": { name: "b", ...show },
    "own.env": "FORCE_COLOR=0",
  });
  const command = ["sh", "-c", `"$0" "$@"; echo "[over]"`, RT, ...options, "run", "--filter", "*", "t"];
  await using terminal = startOnTerminal(command, cleanEnvironment(env), { cwd: project.path });
  await terminal.awaitOutput("[over]");
  const values = [...terminal.shown.matchAll(/force=(\w+)\./g)].map(([, value]) => value);
  expect([...new Set(values)]).toEqual([shown]);
});

test.each([
  ["CI is set", { CI: "true" }],
  ["TERM is dumb", { TERM: "dumb" }],
])("a terminal gets plain lines when %s", async (_, env) => {
  await using project = await createProject({
    ...FILES,
    "packages/a/package.json": { name: "a", scripts: { t: "echo out" } },
    "packages/b/package.json": { name: "b", scripts: { t: "true" } },
  });
  const command = ["sh", "-c", `cd '${project.path}' && '${RT}' run --filter '*' t; echo "[over]"`];
  await using terminal = startOnTerminal(command, cleanEnvironment(env));
  await terminal.awaitOutput("[over]");
  expect(terminal.shown).toContain("a t: out\r\n");
  expect(terminal.shown).not.toContain("Running");
  expect(terminal.shown).not.toContain("\x1b[?2026h");
});
