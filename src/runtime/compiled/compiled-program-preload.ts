// Preload of a program compiled with rt (see compiled-program.ts). It installs the runtime before the first line of the program
// and of each of its threads. Deferred code stays compressed in an option until its first use.
//
// Non-obvious:
// - It removes rt's options from process.execArgv, so that the program sees only its own.
// - A thread may receive other options, so its preload URL also contains the scripts.
import { nameBuiltin } from "../modules/builtin-module.ts";
import { createParts } from "../modules/evaluated-modules.ts";
import { installRuntime } from "../install.ts";
import type { DeferredModules } from "../modules/deferred-modules.ts";
import { PROGRAM_URL_START, SCRIPTS_OPTION, SCRIPTS_SEPARATOR } from "../preload/preload-url.ts";
import { evaluate } from "../preload/embedded-script.ts";

const END = ";base64,";

/** The `import.meta` of the module that evaluates this script. */
declare const importMeta: ImportMeta;

/** Compressed scripts from the option; "" in a thread, whose URL contains them. */
let packed = "";
const options: string[] = [];
const given = process.execArgv;
// A loop instead of array methods: the engine compiles each method at its first call.
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
    // On Windows the engine treats the URL as a path and replaces its slashes.
    const url = path.slice(path.indexOf("data:")).replaceAll("\\", "/");
    return packed === "" ? url : `${PROGRAM_URL_START}${packed}${url.slice(PROGRAM_URL_START.length)}`;
  },
);
nameBuiltin();

process.execArgv = options;
