// Searches the memory of a running program for canaries, from outside (Linux).
//
// A canary has a character outside Latin-1 in front, so the engine stores its string as 16-bit units. A match in UTF-8 is
// therefore a buffer. The program gets numbers, so that its source and arguments do not contain the text.
import { expect } from "bun:test";
import { open, readFile } from "node:fs/promises";

const MASK = 0x55;

export function makeCanary(what: string): string {
  return `canary ${what} ${crypto.randomUUID()}`;
}

/** The argument of a program that has `SHOWN_CANARIES`. */
export function hideCanary(canary: string): string {
  return [...canary].map((character) => character.charCodeAt(0) ^ MASK).join();
}

/** Code of a program that decodes the given canaries, each with a check mark in front. */
export const SHOWN_CANARIES = `process.argv.slice(2).map((text) =>
  String.fromCharCode(0x2713, ...text.split(",").map((n) => Number(n) ^ ${MASK})))`;

/** Counts the canaries in a program that has printed "ready", and kills it. */
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
/** Bits of a page map entry: the page is in memory or swapped out, not only reserved. */
const HAS_PAGE = 0xc0;

/** Counts the occurrences in a process's writable memory. Reads present pages only, because the engine reserves gigabytes. */
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
    /** Returns the addresses of present pages that were not searched yet. */
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
