// What a value leaves in the buffers of the client, where it crosses the bus unencrypted: nothing. Every buffer that
// platform/linux makes meanwhile is looked at afterwards; what the engine itself receives into is out of our hands.
// Encrypted sessions are in linux-product.test.ts, by a look into the memory of the program.
import { expect, test } from "bun:test";
import { type SecretProvider } from "../../platform/contract/secret-provider.ts";
import { openProvider } from "../../platform/secret-provider.ts";
import { enterFake } from "../support/session.ts";

/** Remembers what the client makes while `task` runs. */
async function recordBuffers(task: () => Promise<void>): Promise<Uint8Array[]> {
  const made: Uint8Array[] = [];
  const keep = <T extends Uint8Array>(bytes: T): T => {
    if (new Error().stack?.includes("/platform/linux/")) made.push(bytes);
    return bytes;
  };
  const { alloc, concat, from } = Buffer;
  const { Uint8Array: Original } = globalThis;
  const copy = Original.from.bind(Original);
  Buffer.alloc = ((...args: Parameters<typeof alloc>) => keep(alloc(...args))) as typeof alloc;
  Buffer.concat = ((...args: Parameters<typeof concat>) => keep(concat(...args))) as typeof concat;
  globalThis.Uint8Array = new Proxy(Original, {
    construct: (target, args, newTarget) => keep(Reflect.construct(target, args, newTarget) as Uint8Array),
  });
  Original.from = ((source: Uint8Array) => keep(copy(source))) as typeof copy;
  try {
    await task();
  } finally {
    globalThis.Uint8Array = Object.assign(Original, { from: copy });
    Object.assign(Buffer, { alloc, concat, from });
  }
  return made;
}

const VALUE = "a value that must not stay";

async function look(use: (provider: SecretProvider) => Promise<Uint8Array[]>): Promise<void> {
  await using entered = await enterFake();
  for (const name of ["a", "b", "c", "d", "e"]) entered.fake.addItem("zeroing", name, VALUE);
  const provider = await openProvider();
  let values: Uint8Array[] = [];
  const made = await recordBuffers(async () => void (values = await use(provider)));
  expect(values.map((bytes) => Buffer.from(bytes).toString())).toEqual(values.map(() => VALUE));
  // Those that were given back are the caller's to zero.
  const own = made.filter((bytes) => !values.includes(bytes));
  expect(own.length).toBeGreaterThan(5);
  expect(
    own.filter((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(VALUE)),
  ).toEqual([]);
}

test.skipIf(process.platform !== "linux").each([1, 5])(
  "%d plain reads at once leave no value in a buffer",
  async (count) => {
    await look(async (provider) => {
      const names = ["a", "b", "c", "d", "e"].slice(0, count);
      const values = await Promise.all(names.map((name) => provider.get("zeroing", name)));
      return values.map((bytes) => bytes!);
    });
  },
);

test.skipIf(process.platform !== "linux")(
  "plain writes, two in one turn of the event loop, leave no value in a buffer",
  async () => {
    await look(async (provider) => {
      const values = ["new", "newer", "a", "b"].map(() => new TextEncoder().encode(VALUE));
      await Promise.all(
        ["new", "newer", "a", "b"].map((name, index) => provider.set("zeroing", name, values[index]!)),
      );
      return values;
    });
  },
);
