// Declares the test of a key of rtfig.toml; keys.test.ts checks that each key has one.
import { test } from "bun:test";
import { join } from "node:path";

export function effect(key: string, claim: string, body: () => Promise<void> | void): void {
  test(`${key} ${claim}`, body);
}

/** Reads the keys with such a test from the sources of the tests in this folder. */
export async function shownKeys(): Promise<Set<string>> {
  const keys = new Set<string>();
  for (const file of new Bun.Glob("*.test.ts").scanSync(import.meta.dir)) {
    const source = await Bun.file(join(import.meta.dir, file)).text();
    for (const [, key = ""] of source.matchAll(/^\s*effect\(\s*"([^"]+)",/gm)) keys.add(key);
  }
  return keys;
}
