// Loads the native addon of @vscode/windows-registry from rt's own file: it is written to a private file first, because Windows
// loads libraries from files only. The build replaces the package's own module by this one.
import { readFileSync } from "node:fs";
import addon from "rt:registry-addon" with { type: "file" };
import { writePrivateFile } from "../../files/private-file.ts";

const loaded: { exports: Record<string, unknown> } = { exports: {} };
process.dlopen(loaded, writePrivateFile("winregistry", "node", readFileSync(addon)));

export const { GetDWORDRegKey, GetStringRegKey } = loaded.exports;
