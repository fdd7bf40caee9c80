// Output that waits outside of the emulator of a task.
import { Terminal } from "@xterm/headless";
import { expect, test } from "bun:test";
import { renderLine } from "../../src/reporters/list/cell-text.ts";
import { DeferredOutput } from "../../src/reporters/list/deferred-output.ts";
import { createRandom } from "../support/random.ts";

const COLUMNS = 12;
const ROWS = 4;
const SCROLLBACK = 16;
const KEPT = { keptLines: SCROLLBACK + 2 * ROWS };

const encode = (text: string) => new TextEncoder().encode(text);

function createTerminal(convertEol: boolean): Terminal {
  return new Terminal({
    cols: COLUMNS,
    rows: ROWS,
    scrollback: SCROLLBACK,
    convertEol,
    allowProposedApi: true,
  });
}

async function write(terminal: Terminal, chunks: readonly Uint8Array[]): Promise<void> {
  for (const chunk of chunks) terminal.write(chunk);
  await new Promise<void>((resolve) => terminal.write("", resolve));
}

function cellsOf({ buffer: { active } }: Terminal): { lines: string[]; x: number; y: number } {
  const cell = active.getNullCell();
  const lines = Array.from({ length: active.length }, (_, at) => renderLine(active.getLine(at)!, cell, true));
  return { lines, x: active.cursorX, y: active.baseY + active.cursorY };
}

/** Pieces of output, each with its weight. */
const PIECES: readonly (readonly [weight: number, create: (number: number, eol: string) => string])[] = [
  [30, (number, eol) => `line ${number}${eol}`],
  [10, (number, eol) => `\x1b[3${number % 8}mcolour\x1b[39m ${number}${eol}`],
  [4, (number, eol) => `a line of more than one row ${number}${eol}`],
  [4, (_, eol) => eol.repeat(10)],
  [2, () => "\x1b[1;4m"],
  [1, () => "\x1b[38;5;0m"],
  [1, () => "\x1b[48;2;0;0;0m"],
  [4, () => "\x1b[0m"],
  [2, () => "日本é\u00a0"],
  [2, () => "\r50 %\x1b[K"],
  [1, () => "\x1b[2A\r\x1b[K"],
  [1, () => "\x1b[H\x1b[2J"],
  [1, () => "\x1b[H"],
  [1, () => "\n"],
  [1, () => "\x1b[?25l"],
];
const RARE: readonly (readonly [weight: number, create: () => string])[] = [
  [1, () => "\x1b[?1049h"],
  [1, () => "\x1b[2;3r"],
  [1, () => "\x1b]0;title\x07"],
  [1, () => "\x1bM"],
  [1, () => "\u009b5C"],
];

test.each([
  ["a pipe", "\n", true, PIECES],
  ["a terminal", "\r\n", false, PIECES],
  ["a terminal in raw mode", "\n", false, [...PIECES, [1, () => "\r\n"]]],
  ["a program that changes the terminal for good", "\r\n", false, [...PIECES, ...RARE]],
] as const)("the emulator has the same cells for held output of %s", async (_, eol, convertsEol, pieces) => {
  const table = pieces.flatMap(([weight, create]) => Array.from({ length: weight }, () => create));
  let dropped = 0;
  for (let seed = 1; seed <= 10; seed += 1) {
    const random = createRandom(seed);
    const [all, held] = [createTerminal(convertsEol), createTerminal(convertsEol)];
    const output = new DeferredOutput({ ...KEPT, convertsEol });
    for (let round = 0; round < 6; round += 1) {
      const text = Array.from({ length: 1 + random.below(150) }, (_line, at) => {
        return table[random.below(table.length)]!(at, eol);
      }).join("");
      const bytes = encode(text);
      for (let at = 0; at < bytes.length;) {
        const end = at + 1 + random.below(200);
        output.add(bytes.subarray(at, end));
        at = end;
      }
      dropped += output.length < bytes.length ? 1 : 0;
      await write(all, [bytes]);
      await write(held, [output.take()]);
      expect([seed, round, cellsOf(held)]).toEqual([seed, round, cellsOf(all)]);
    }
    all.dispose();
    held.dispose();
  }
  expect(dropped).toBeGreaterThan(0);
});

test.each([
  "\x1b[6n",
  "\x1b[c",
  "\x1b[?1049h",
  "\x1b[?1049;25h",
  "\x1b[1;5r",
  "\x1b7",
  "\x0e",
  "\u009b",
  "\x1b]0;x\x07",
])("output is not held after %j", (sequence) => {
  const output = new DeferredOutput({ ...KEPT, convertsEol: true });
  output.add(encode("text\x1b[1;31m\x1b[?25l\x1b[2K\x1b[A"));
  expect(output.isUnsuitable).toBe(false);
  output.add(encode(sequence));
  expect(output.isUnsuitable).toBe(true);
});

test("lines are not dropped after a sequence in the same chunk that ends scrolling", () => {
  const output = new DeferredOutput({ ...KEPT, convertsEol: true });
  const text = encode(`text\x1b[1;2r${"\n".repeat(10 * KEPT.keptLines)}`);
  output.add(text);
  expect(output.take()).toEqual(text);
});

test("the first held line after dropped ones begins in the first column", async () => {
  const [all, held] = [createTerminal(false), createTerminal(false)];
  const output = new DeferredOutput({ ...KEPT, convertsEol: false });
  for (const text of ["abc", `${"\r\n".repeat(3)}${"x\b\n".repeat(40)}\r\n`]) {
    output.add(encode(text));
    await write(all, [encode(text)]);
    await write(held, [output.take()]);
  }
  expect(cellsOf(held)).toEqual(cellsOf(all));
  for (const terminal of [all, held]) terminal.dispose();
});
