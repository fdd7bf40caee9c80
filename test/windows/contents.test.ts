// The program for Windows, looked into: what rt adds to the engine is there, and nothing of another system.
import { beforeAll, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { unpackScripts } from "../../src/runtime/modules/embedded-modules.ts";
import { PREPARATION } from "../support/programs/compiled.ts";
import { RT } from "../support/rt.ts";
import { canRunWindows, windowsRt } from "../support/programs/windows.ts";

let program: Buffer;
beforeAll(async () => {
  if (canRunWindows) program = await readFile(await windowsRt());
}, PREPARATION);

const absent = ["org.freedesktop.secrets", "gnome-keyring-daemon", "kSecClass", "libc.so.6", "/proc/self/fd"];

test.skipIf(!canRunWindows)("has the Credential Manager and the registry's reader", () => {
  for (const text of ["CredEnumerateW", "CreateProcessW", "VaultSvc", "GetDWORDRegKey", "winregistry"])
    expect([text, program.includes(text)]).toEqual([text, true]);
});

test.skipIf(!canRunWindows)("has nothing of other systems, in its parts neither", () => {
  const parts = unpackScripts(program)!.parts.win32;
  expect(parts.includes("CredReadW")).toBe(true);
  for (const text of absent)
    expect([text, program.includes(text), parts.includes(text)]).toEqual([text, false, false]);
});

test.skipIf(process.platform === "win32")(
  "has left nothing of Windows in the program of another system",
  async () => {
    const own = await readFile(RT);
    const parts = unpackScripts(own)!.parts.linux;
    for (const text of ["CredEnumerateW", "VaultSvc", "winregistry"])
      expect([text, own.includes(text), parts.includes(text)]).toEqual([text, false, false]);
  },
);
