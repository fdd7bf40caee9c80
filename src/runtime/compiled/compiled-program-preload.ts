// The runtime in a program that was made with rt (see compiled-program.ts): what is loaded before the program's first line, and
// before that of each of its threads. What few programs need, and most of them later, stays compressed in an option until then.
//
// Surprising: it hides itself from the program, whose options are the ones that were compiled in after ours. A thread may be
// given others, so its URL has the scripts in it.
import { nameBuiltin } from "../modules/builtin-module.ts";
import { createParts } from "../modules/evaluated-modules.ts";
import { installRuntime } from "../install.ts";
import type { DeferredModules } from "../modules/deferred-modules.ts";
import { PROGRAM_URL_START, SCRIPTS_OPTION, SCRIPTS_SEPARATOR } from "../preload/preload-url.ts";
import { evaluate } from "../preload/embedded-script.ts";

const END = ";base64,";

/** That of the module that evaluates this script. */
declare const importMeta: ImportMeta;

/** As they stand in the option, or in a thread's URL. */
let packed = "";
const options: string[] = [];
const given = process.execArgv;
// Not by methods of arrays, each of which the engine compiles when it is first called.
for (let index = 0; index < given.length; index += 1) {
  const word = given[index]!;
  if (word.startsWith(SCRIPTS_OPTION)) packed = word.slice(SCRIPTS_OPTION.length);
  else if (!word.startsWith(`--preload=${PROGRAM_URL_START}`)) options.push(word);
}

function readScript(index: 0 | 1): string {
  const { path } = importMeta;
  const start = path.indexOf(PROGRAM_URL_START) + PROGRAM_URL_START.length;
  const scripts = packed || path.slice(start, path.indexOf(END));
  const script = scripts.split(SCRIPTS_SEPARATOR)[index]!;
  return Bun.zstdDecompressSync(Buffer.from(script, "base64url")).toString();
}

let loaded: DeferredModules | undefined;
const late = () => (loaded ??= evaluate<{ LATE: DeferredModules }>(readScript(1)).LATE);

installRuntime(
  createParts(() => readScript(0)),
  {
    createRt: (parts) => late().createRt(parts),
    moduleExports: (rt) => late().moduleExports(rt),
    isLoading: () => late().isLoading(),
    hookClassDefinition: (preload) => late().hookClassDefinition(preload),
    hookLoadedClass: (preload) => late().hookLoadedClass(preload),
  },
  () => {
    const { path } = importMeta;
    // Windows has turned the slashes of what it took for a path.
    const url = path.slice(path.indexOf("data:")).replaceAll("\\", "/");
    return packed === "" ? url : `${PROGRAM_URL_START}${packed}${url.slice(PROGRAM_URL_START.length)}`;
  },
);
nameBuiltin();

process.execArgv = options;
