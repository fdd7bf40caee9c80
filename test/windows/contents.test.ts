// Tests the contents of the program for Windows: it has rt's additions for Windows and no code for other systems.
import { beforeAll, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { unpackScripts } from "../../src/runtime/modules/embedded-modules.ts";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import { RT } from "../support/rt.ts";
import { canRunWindows, windowsRt } from "../support/programs/windows.ts";

let program: Buffer;
beforeAll(async () => {
  if (canRunWindows) program = await readFile(await windowsRt());
}, PREPARATION_TIMEOUT);

const absent = ["org.freedesktop.secrets", "gnome-keyring-daemon", "kSecClass", "libc.so.6", "/proc/self/fd"];

test.skipIf(!canRunWindows)(
  "rt.exe contains the Credential Manager's functions and the reader of the registry",
  () => {
    for (const text of ["CredEnumerateW", "CreateProcessW", "VaultSvc", "GetDWORDRegKey", "winregistry"])
      expect([text, program.includes(text)]).toEqual([text, true]);
  },
);

test.skipIf(!canRunWindows)(
  "rt.exe contains no code for other systems, also not in its embedded scripts",
  () => {
    const parts = unpackScripts(program)!.parts.win32;
    expect(parts.includes("CredReadW")).toBe(true);
    for (const text of absent)
      expect([text, program.includes(text), parts.includes(text)]).toEqual([text, false, false]);
  },
);

test.skipIf(process.platform === "win32")("rt for another system contains no code for Windows", async () => {
  const own = await readFile(RT);
  const parts = unpackScripts(own)!.parts.linux;
  for (const text of ["CredEnumerateW", "VaultSvc", "winregistry"])
    expect([text, own.includes(text), parts.includes(text)]).toEqual([text, false, false]);
});
