// The native part of @vscode/windows-registry, out of this program: Windows loads libraries from files only, so it is
// written to one of the user's own first. The build puts this module in the place of the package's own.
import { readFileSync } from "node:fs";
import addon from "rt:registry-addon" with { type: "file" };
import { writePrivateFile } from "../../files/private-file.ts";

const loaded: { exports: Record<string, unknown> } = { exports: {} };
process.dlopen(loaded, writePrivateFile("winregistry", "node", readFileSync(addon)));

export const { GetDWORDRegKey, GetStringRegKey } = loaded.exports;
