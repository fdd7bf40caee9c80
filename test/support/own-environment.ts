// The environment of the test's own process. What rt decides for itself it asks libc about, since process.env has the
// values of `.env` files in it too; so a test that runs rt's source in its own process has to tell both.
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

/** Sets or, with undefined, removes; answers what was there. */
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
