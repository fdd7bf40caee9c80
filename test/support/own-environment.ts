// The environment of the test's own process. rt reads its own settings through libc, since process.env also has the values of
// `.env` files. A test that runs rt's source in its own process must set both.
import { dlopen, FFIType } from "bun:ffi";

const { i32, ptr: pointer } = FFIType;

const libc =
  process.platform === "win32"
    ? undefined
    : dlopen(process.platform === "darwin" ? "/usr/lib/libSystem.B.dylib" : "libc.so.6", {
        setenv: { args: [pointer, pointer, i32], returns: i32 },
        unsetenv: { args: [pointer], returns: i32 },
      }).symbols;

const cString = (text: string) => new TextEncoder().encode(`${text}\0`);

/** Sets variables, or removes undefined ones; returns the previous values. */
export function setVariables(values: Record<string, string | undefined>): Record<string, string | undefined> {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) {
      delete process.env[name];
      libc?.unsetenv(cString(name));
    } else {
      process.env[name] = value;
      libc?.setenv(cString(name), cString(value), 1);
    }
  }
  return before;
}
