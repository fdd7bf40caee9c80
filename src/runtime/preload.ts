// The runtime as one script: what a Worker loads before the user's code, and what the engine loads first when it
// was started anew (see src/run/engine.ts). It travels as a `data:` URL, so that nothing is written to disk.
//
// It hides the hand-over from the user's code: options that were compiled in, or added by rt, are not the
// user's, and argv[0] is rt. The build wraps the script into a named evaluation, because a stack trace would
// otherwise show the whole URL.
//
// Surprising: this is compiled anew in each such process, so its size counts, and a pattern that is tried takes a
// tenth of a millisecond.
import { PARTS } from "./embedded-parts.ts";
import { installRuntime } from "./install.ts";
import { PRELOAD_URL_START } from "./preload-mark.ts";

/** That of the module which the build wraps around this script. Each of its properties takes time to be made. */
declare const importMeta: ImportMeta;

installRuntime(PARTS, preloadUrl);

/** The URL that this script came from, or its file: see preloadFor() in src/run/engine-preload.ts. */
function preloadUrl(): string {
  const { path } = importMeta;
  const start = path.indexOf("data:");
  if (start < 0) return path;
  // Windows has turned the slashes of what it took for a path.
  return path.slice(start).replaceAll("\\", "/");
}

/** A configuration that is none, this script, and copies of both: see platform/private-file.ts. */
function isOurs(option: string): boolean {
  if (option.startsWith("--loader=.")) return !Bun.isMainThread && option.endsWith(":file"); // compiled in
  if (option === "--config=/dev/null" || option === "--config=\\\\.\\NUL") return true;
  if (option.startsWith(`--preload=${PRELOAD_URL_START}`)) return true;
  return (
    option.includes("rt-files-") &&
    /^--(?:config|preload)=.*[\\/]rt-files-\d+[\\/](?:config|preload)-\w+\.js(?:on)?$/.test(option)
  );
}

const options: string[] = [];
for (const option of process.execArgv) if (!isOurs(option)) options.push(option);
process.execArgv = options;
process.argv[0] = process.execPath;
delete process.env.RT_BECAME;
if (process.env.BUN_BE_BUN === "1") process.env.BUN_BE_BUN = "0";
