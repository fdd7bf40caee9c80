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

const PAGE = 4096;
/** Of an entry of the page map: whether the page is in memory or swapped out, and not merely reserved. */
const HAS_PAGE = 0xc0;

/** Occurrences in the writable memory of a process. Reads present pages only: the engine reserves gigabytes. */
export async function countInMemory(pid: number, texts: string[]): Promise<number[]> {
  const maps = await readFile(`/proc/${pid}/maps`, "utf8");
  await using memory = await open(`/proc/${pid}/mem`, "r");
  await using pages = await open(`/proc/${pid}/pagemap`, "r");
  const STEP = 1 << 27;
  const entries = Buffer.alloc((STEP / PAGE) * 8);
  const counts = texts.map(() => 0);
  const count = async (start: number, length: number) => {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await memory.read(bytes, 0, length, start).catch(() => ({ bytesRead: 0 }));
    const found = bytes.subarray(0, bytesRead);
    for (const [index, text] of texts.entries()) {
      for (let at = found.indexOf(text); at >= 0; at = found.indexOf(text, at + 1)) counts[index]!++;
    }
  };
  for (const line of maps.split("\n")) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    if (!from || !to) continue;
    const end = Number.parseInt(to, 16);
    /** Where the present pages begin that have not been looked at. */
    let begin: number | undefined;
    for (let start = Number.parseInt(from, 16); start < end; start += STEP) {
      const length = Math.min(STEP, end - start);
      const { bytesRead } = await pages.read(entries, 0, (length / PAGE) * 8, (start / PAGE) * 8);
      for (let at = 0; at < bytesRead; at += 8) {
        const address = start + (at / 8) * PAGE;
        if ((entries[at + 7]! & HAS_PAGE) !== 0) {
          begin ??= address;
        } else if (begin !== undefined) {
          await count(begin, address - begin);
          begin = undefined;
        }
      }
    }
    if (begin !== undefined) await count(begin, end - begin);
  }
  return counts;
}
