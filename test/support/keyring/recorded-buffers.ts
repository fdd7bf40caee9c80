// Records every buffer that the client of a store creates during a task, to check its zeroization.
import { expect } from "bun:test";

/**
 * Records the buffers that platform/ and the secrets commands create while `task` runs. The engine's own receive buffers are out
 * of reach.
 */
export async function recordBuffers(task: () => Promise<void>): Promise<Uint8Array[]> {
  const buffers: Uint8Array[] = [];
  const keep = <T extends Uint8Array>(bytes: T): T => {
    if (/\/platform\/|\/src\/secrets\//.test(new Error().stack ?? "")) buffers.push(bytes);
    return bytes;
  };
  const { alloc, concat, from } = Buffer;
  const { Uint8Array: Original } = globalThis;
  const copy = Original.from.bind(Original);
  Buffer.alloc = (...args: Parameters<typeof alloc>) => keep(alloc(...args));
  Buffer.concat = (...args: Parameters<typeof concat>) => keep(concat(...args));
  Buffer.from = (...args: Parameters<typeof from>) => keep(from(...args));
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
  return buffers;
}

/** Checks that no buffer contains `value`. */
export function expectWithout(buffers: readonly Uint8Array[], value: string | Uint8Array): void {
  const holding = buffers.filter((bytes) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(value),
  );
  expect(holding).toEqual([]);
}
