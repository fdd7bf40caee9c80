// The runtime as one script: what a Worker loads before the user's code, and what the engine loads first when it
// was started anew (see src/runner/engine/engine.ts). It travels as a `data:` URL, so that nothing is written to disk.
//
// It hides the hand-over from the user's code: options that were compiled in, or added by rt, are not the
// user's, and argv[0] is rt. The build wraps the script into a named evaluation, because a stack trace would
// otherwise show the whole URL.
//
// Surprising: this is compiled anew in each such process, so its size counts (what can wait is a text, see deferred-modules.ts), and a
// pattern that is tried takes a tenth of a millisecond.
import { evaluate } from "./embedded-script.ts";
import { nameBuiltin } from "../modules/builtin-module.ts";
import { hideSwitch } from "./internal-env-filter.ts";
import { hookBuild } from "../compiled/build-hook.ts";
import { hideEmbeddedFiles, installRuntime } from "../install.ts";
import type { LazyModules } from "../modules/lazy-modules.ts";
import type { PreloadLate } from "./deferred-preload.ts";
import { PRELOAD_URL_START } from "./preload-url.ts";

/** That of the module which the build wraps around this script. Each of its properties takes time to be made. */
declare const importMeta: ImportMeta;

/** deferred-preload.ts, as a script. */
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

/** The URL that this script came from, or its file: see preloadFor() in src/runner/engine/preload.ts. */
function preloadUrl(): string {
  const { path } = importMeta;
  const start = path.indexOf("data:");
  if (start < 0) return path;
  // Windows has turned the slashes of what it took for a path.
  return path.slice(start).replaceAll("\\", "/");
}

if (!Bun.isMainThread) hideEmbeddedFiles();

/** Ours stand first (see src/runner/engine/engine.ts), but for what the environment adds, and in a thread. */
const { execArgv } = process;
const count = execArgv[0] === "--config=/dev/null" ? 2 : 1;
const isFirst = Bun.isMainThread && execArgv[count - 1]?.startsWith(`--preload=${PRELOAD_URL_START}`);
process.execArgv = isFirst ? execArgv.slice(count) : late().withoutInternalOptions(execArgv);
process.argv[0] = process.execPath;
hideSwitch();
