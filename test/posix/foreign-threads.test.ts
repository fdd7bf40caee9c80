// Foreign functions in worker threads: a missing library or function is an error for every caller.
import { expect, test } from "bun:test";
import { ForeignThreads } from "../../platform/secrets/foreign-threads.ts";

const C = process.platform === "darwin" ? "/usr/lib/libSystem.B.dylib" : "libc.so.6";
const getpid = { args: [], returns: "i32" };

test("ForeignThreads calls a function each time", async () => {
  const threads = new ForeignThreads([{ path: C, symbols: { getpid } }]);
  for (let time = 0; time < 2; time += 1)
    expect(await threads.use((call) => call("getpid", []))).toEqual({ value: process.pid, error: 0 });
});

test.each([
  ["library", { path: "/nowhere/libabsent.so", symbols: { getpid } }, "libabsent"],
  ["function", { path: C, symbols: { rt_has_no_such_function: getpid } }, "rt_has_no_such_function"],
])("a missing %s is named in every caller's error", async (_what, library, name) => {
  const threads = new ForeignThreads([library]);
  for (let time = 0; time < 2; time += 1)
    await expect(threads.use((call) => call(Object.keys(library.symbols)[0]!, []))).rejects.toThrow(name);
});
