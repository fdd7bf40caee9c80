// The runtime in a program that was made with rt (see program.ts): what is loaded before the program's first line, and
// before that of each of its threads. What is not needed before a first touch of `secrets` or `CSRF` stays compressed in the
// URL until then.
//
// Surprising: it hides itself from the program, whose options are the ones that were compiled in after ours.
import { nameBuiltin } from "./builtin-name.ts";
import { createParts } from "./created-parts.ts";
import { installRuntime } from "./install.ts";
import { LATE } from "./late.ts";
import { PROGRAM_URL_START } from "./preload-mark.ts";

/** What is in front of the parts. */
const PACKED = ";rt=";

/** That of the module that evaluates this script. */
declare const importMeta: ImportMeta;

/** parts.ts, as a script. */
function readParts(): string {
  const { path } = importMeta;
  const packed = path.slice(path.indexOf(PACKED) + PACKED.length, path.indexOf(";base64,"));
  return Bun.zstdDecompressSync(Buffer.from(packed, "base64url")).toString();
}

installRuntime(createParts(readParts), LATE, () => {
  const { path } = importMeta;
  // Windows has turned the slashes of what it took for a path.
  return path.slice(path.indexOf("data:")).replaceAll("\\", "/");
});
nameBuiltin();

process.execArgv = process.execArgv.filter((option) => !option.startsWith(`--preload=${PROGRAM_URL_START}`));
