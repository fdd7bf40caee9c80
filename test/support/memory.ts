// What a running program has in its memory, looked at from outside (Linux): whether it still has a canary.
//
// A canary has a character outside Latin-1 in front, so the engine keeps its string as 16-bit units: what is found as
// UTF-8 is a buffer. The program is given numbers, lest its source or arguments contain the text.
import { expect } from "bun:test";
import { open, readFile } from "node:fs/promises";

const MASK = 0x55;

export function makeCanary(what: string): string {
  return `canary ${what} ${crypto.randomUUID()}`;
}

/** As an argument of a program that has `SHOWN_CANARIES`. */
export function hideCanary(canary: string): string {
  return [...canary].map((character) => character.charCodeAt(0) ^ MASK).join();
}

/** In a program: the canaries that it was given, each with a check mark in front. */
export const SHOWN_CANARIES = `process.argv.slice(2).map((text) =>
  String.fromCharCode(0x2713, ...text.split(",").map((n) => Number(n) ^ ${MASK})))`;

/** Counts them in a program that has printed "ready", and ends it. */
export async function countCanaries(
  child: { pid: number; stdout: ReadableStream<Uint8Array>; kill(signal: NodeJS.Signals): void },
  canaries: string[],
): Promise<number[]> {
  const { value: line } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(line)).toBe("ready\n");
  const counts = await countInMemory(child.pid, canaries);
  child.kill("SIGKILL");
  return counts;
}

/** Occurrences in the writable memory of a process. Reads present pages only: the engine reserves gigabytes. */
export async function countInMemory(pid: number, texts: string[]): Promise<number[]> {
  const maps = await readFile(`/proc/${pid}/maps`, "utf8");
  await using memory = await open(`/proc/${pid}/mem`, "r");
  await using pages = await open(`/proc/${pid}/pagemap`, "r");
  const PAGE = 4096;
  const STEP = 1 << 24;
  const entries = Buffer.alloc((STEP / PAGE) * 8);
  // Of a page that was never touched: nothing, or the soft-dirty bit of its new mapping.
  const untouched = [0n, 1n << 55n].map((entry) =>
    Buffer.from(new BigUint64Array(STEP / PAGE).fill(entry).buffer),
  );
  const OVERLAP = 256;
  const buffer = Buffer.alloc(STEP + OVERLAP);
  const counts = texts.map(() => 0);
  for (const line of maps.split("\n")) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    if (!from || !to) continue;
    const end = Number.parseInt(to, 16);
    for (let start = Number.parseInt(from, 16); start < end; start += STEP) {
      const length = Math.min(STEP, end - start);
      const size = (length / PAGE) * 8;
      await pages.read(entries, 0, size, (start / PAGE) * 8);
      if (untouched.some((empty) => entries.compare(empty, 0, size, 0, size) === 0)) continue;
      const wanted = Math.min(length + OVERLAP, end - start);
      const read = await memory.read(buffer, 0, wanted, start).catch(() => undefined);
      const found = buffer.subarray(0, read?.bytesRead ?? 0);
      for (const [index, text] of texts.entries()) {
        for (let at = found.indexOf(text); at >= 0; at = found.indexOf(text, at + 1)) counts[index]!++;
      }
    }
  }
  return counts;
}
