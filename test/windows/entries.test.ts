// Tests the storage of values in entries of the Credential Manager, with entries in memory. Each operation is
// interrupted at each step.
import { describe, expect, test } from "bun:test";
import { type WindowsCredential, MAX_BLOB } from "../../platform/secrets/windows/credential.ts";
import {
  ChangingValue,
  listPairs,
  readValue,
  removeValue,
  type Vault,
  writeValue,
} from "../../platform/secrets/windows/chunked-credentials.ts";
import { credentialOf } from "../../platform/secrets/windows/credential-targets.ts";
import { recordBuffers } from "../support/keyring/recorded-buffers.ts";

class Died extends Error {}

/** Entries like Windows', with targets that ignore case. `steps` is the number of calls until the program dies. */
function createVault() {
  const entries = new Map<string, WindowsCredential>();
  const state = { steps: Number.POSITIVE_INFINITY, entries };
  const step = () => {
    if (state.steps-- <= 0) throw new Died();
  };
  const keyOf = (target: string) => target.toLowerCase();
  const vault: Vault = {
    async read(target) {
      step();
      const found = entries.get(keyOf(target));
      return found ? { ...found, blob: found.blob.slice() } : null;
    },
    async write(credential) {
      step();
      expect(credential.blob.length).toBeLessThanOrEqual(MAX_BLOB);
      expect(credential.comment.length).toBeLessThan(256);
      expect(credential.target.length).toBeLessThan(32_767);
      entries.set(keyOf(credential.target), { ...credential, blob: credential.blob.slice() });
    },
    async remove(target) {
      step();
      return entries.delete(keyOf(target));
    },
    async list() {
      return [...entries.values()];
    },
  };
  return { vault, state };
}

const pair = { service: "service", name: "name" };
const SIZES: Record<string, number> = {
  none: -1,
  empty: 0,
  small: 10,
  two: MAX_BLOB + 1,
  five: 5 * MAX_BLOB,
};
const valueOf = (size: number, fill: number) => new Uint8Array(size).fill(fill);

/** Returns the stored value's first byte and length as text. */
async function describeStored(vault: Vault): Promise<string> {
  const value = await readValue(vault, pair, true);
  if (!value) return "none";
  expect(new Set(value).size).toBeLessThanOrEqual(1); // never parts of two values
  return `${value[0] ?? "empty"} x ${value.length}`;
}

const describeValue = (size: number, fill: number) =>
  size < 0 ? "none" : `${size === 0 ? "empty" : fill} x ${size}`;

describe("a program that dies at any step", () => {
  for (const [before, oldSize] of Object.entries(SIZES)) {
    for (const [after, newSize] of Object.entries(SIZES)) {
      for (const isOccupied of [false, true]) {
        const where = isOccupied ? ", with the plain target occupied by another program" : "";
        test(`keeps ${before} or ${after} completely${where}`, async () => {
          let steps = 0;
          for (let isDone = false; !isDone; steps++) {
            const { vault, state } = createVault();
            if (isOccupied) {
              const foreign = { target: "service/name", userName: "NAME", comment: "", blob: valueOf(3, 9) };
              await vault.write(foreign, "enterprise");
            }
            // Twice, so that both slots have been used.
            for (const fill of [3, 1])
              if (oldSize >= 0) await writeValue(vault, pair, valueOf(oldSize, fill), "enterprise");
            state.steps = steps;
            try {
              if (newSize >= 0) await writeValue(vault, pair, valueOf(newSize, 2), "enterprise");
              else await removeValue(vault, pair);
              isDone = true;
            } catch (error) {
              if (!(error instanceof Died)) throw error;
            }
            state.steps = Number.POSITIVE_INFINITY;
            const found = await describeStored(vault);
            const possible = [describeValue(oldSize, 1), describeValue(newSize, 2)];
            if (isDone) expect(found).toBe(possible[1]!);
            else expect(possible).toContain(found);
            const listed = await listPairs(vault, undefined);
            expect(listed.filter((each) => Bun.deepEquals(each, pair))).toEqual(
              found === "none" ? [] : [pair],
            );
            // The next operation removes stale parts.
            await writeValue(vault, pair, valueOf(MAX_BLOB + 5, 4), "local");
            expect(await describeStored(vault)).toBe(`4 x ${MAX_BLOB + 5}`);
            expect(state.entries.size).toBe(3 + Number(isOccupied));
            expect(await removeValue(vault, pair)).toBe(true);
            expect(state.entries.size).toBe(Number(isOccupied));
            expect(await removeValue(vault, pair)).toBe(false);
          }
          expect(steps).toBeGreaterThan(1);
        });
      }
    }
  }
});

describe("a value in several parts", () => {
  const SIZE = 2 * MAX_BLOB + 7;
  const create = async () => {
    const { vault, state } = createVault();
    await writeValue(vault, pair, valueOf(SIZE, 1), "enterprise");
    const find = (pattern: RegExp) => [...state.entries.values()].find(({ target }) => pattern.test(target))!;
    return { vault, state, find };
  };

  test("fails with a part of another value, and zeroizes what it has read", async () => {
    const { vault, find } = await create();
    const last = find(/#.*3$/);
    await vault.write({ ...last, comment: last.comment.replace(/, .*/, ", another") }, "enterprise");
    const buffers = await recordBuffers(async () => {
      expect(readValue(vault, pair, true)).rejects.toBeInstanceOf(ChangingValue);
    });
    const half = buffers.filter(({ length }) => length === SIZE);
    expect(half.map((bytes) => new Set(bytes))).toEqual([new Set([0])]);
  });

  test("loses to a value that another program wrote without changing the comment", async () => {
    const { vault, find } = await create();
    const head = find(/^[^#]*$/);
    await vault.write({ ...head, blob: Buffer.from("theirs", "utf16le") }, "enterprise");
    expect(Buffer.from((await readValue(vault, pair, true))!).toString()).toBe("theirs");
  });
});

test("a value of the maximum size is stored, and one more byte is refused without a change", async () => {
  const { vault } = createVault();
  const maxSize = 256 * MAX_BLOB;
  await writeValue(vault, pair, valueOf(maxSize, 1), "enterprise");
  expect(await describeStored(vault)).toBe(`1 x ${maxSize}`);
  await expect(writeValue(vault, pair, valueOf(maxSize + 1, 2), "enterprise")).rejects.toMatchObject({
    kind: "TOO_LARGE",
    message: expect.stringContaining(`takes at most ${maxSize} bytes`),
  });
  expect(await describeStored(vault)).toBe(`1 x ${maxSize}`);
});

test("removing a missing value removes its stale parts", async () => {
  const { vault, state } = createVault();
  await writeValue(vault, pair, valueOf(9000, 1), "enterprise");
  await vault.remove("service/name");
  expect(state.entries.size).toBe(4);
  expect(await removeValue(vault, pair)).toBe(false);
  expect(state.entries.size).toBe(0);
});

test("credentialOf() does not accept a part as a credential, whatever its user name", () => {
  expect(credentialOf("rt:service/name", "name")).toEqual(pair);
  expect(credentialOf("rt:service/name%23a1", "name#a1")).toEqual({ ...pair, name: "name#a1" });
  for (const name of ["name", "name#a1"]) expect(credentialOf("rt:service/name#a1", name)).toBeUndefined();
});

test("names of every kind survive their encoding in targets", async () => {
  const texts = [
    "a",
    "A",
    "a/b",
    "rt:",
    "rt:a/b",
    "%41",
    "é",
    "e\u0301",
    "🔑",
    "a#a1",
    "a b",
    "*",
    "\\",
    "İ",
    "ß",
  ];
  const { vault } = createVault();
  const pairs = texts.flatMap((service) => texts.map((name) => ({ service, name })));
  for (const [index, each] of pairs.entries())
    await writeValue(vault, each, valueOf(index % 7 === 0 ? MAX_BLOB + 1 : 1, index % 251), "enterprise");
  const key = ({ service, name }: { service: string; name: string }) => JSON.stringify([service, name]);
  expect((await listPairs(vault, undefined)).map(key).sort()).toEqual(pairs.map(key).sort());
  for (const [index, each] of pairs.entries())
    expect((await readValue(vault, each, true))?.[0]).toBe(index % 251);
  for (const each of pairs) expect(await removeValue(vault, each)).toBe(true);
  expect(await vault.list()).toEqual([]);
});
