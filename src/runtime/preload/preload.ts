// The runtime as one script, loaded before the user's code by each Worker and by the engine after re-execution (see
// src/runner/engine/engine.ts). It is a `data:` URL, so that no file has to be written.
//
// Invariants:
// - User code does not see the re-execution: options added by rt are removed, and argv[0] is rt.
// Non-obvious:
// - The build wraps the script in a named evaluation, because stack traces would otherwise contain the whole URL.
// - Each process compiles it again, so its size matters: code that can wait is a text (deferred-modules.ts). Regular
//   expressions are avoided: one test takes 0.1 ms.
import { evaluate } from "./embedded-script.ts";
import { nameBuiltin } from "../modules/builtin-module.ts";
import { hideSwitch } from "./internal-env-filter.ts";
import { hookBuild } from "../compiled/build-hook.ts";
import { hideEmbeddedFiles, installRuntime } from "../install.ts";
import type { LazyModules } from "../modules/lazy-modules.ts";
import type { PreloadLate } from "./deferred-preload.ts";
import { PRELOAD_URL_START } from "./preload-url.ts";

/** The `import.meta` of the module that the build wraps around this script. Reading one of its properties takes time. */
declare const importMeta: ImportMeta;

/** The bundled text of deferred-preload.ts. */
declare const lateScript: string;

let loaded: PreloadLate | undefined;
const late = () => (loaded ??= evaluate<PreloadLate>(lateScript));

const parts: LazyModules = {
  loadSecrets: async () => await late().PARTS.loadSecrets(),
  loadCSRF: () => late().PARTS.loadCSRF(),
  loadProgram: () => late().PARTS.loadProgram(),
};
installRuntime(
  parts,
  {
    createRt: (own) => late().LATE.createRt(own),
    moduleExports: (rt) => late().LATE.moduleExports(rt),
    isLoading: () => late().LATE.isLoading(),
    hookClassDefinition: (preload) => late().LATE.hookClassDefinition(preload),
    hookLoadedClass: (preload) => late().LATE.hookLoadedClass(preload),
  },
  preloadUrl,
);
hookBuild(parts);
nameBuiltin();

/** Returns the URL or the file of this script (see preloadFor() in src/runner/engine/preload.ts). */
function preloadUrl(): string {
  const { path } = importMeta;
  const start = path.indexOf("data:");
  if (start < 0) return path;
  // On Windows the engine treats the URL as a path and replaces its slashes.
  return path.slice(start).replaceAll("\\", "/");
}

if (!Bun.isMainThread) hideEmbeddedFiles();

/** rt's options are first (see src/runner/engine/engine.ts), except in a thread and after options from the environment. */
const { execArgv } = process;
const count = execArgv[0] === "--config=/dev/null" ? 2 : 1;
const isFirst = Bun.isMainThread && execArgv[count - 1]?.startsWith(`--preload=${PRELOAD_URL_START}`);
process.execArgv = isFirst ? execArgv.slice(count) : late().withoutInternalOptions(execArgv);
process.argv[0] = process.execPath;
hideSwitch();
