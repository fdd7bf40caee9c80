// The runtime as one script: what a Worker loads before the user's code, and what the engine loads first when it
// was started anew (see src/run/engine.ts). It travels as a `data:` URL, so that nothing is written to disk.
//
// It hides the hand-over from the user's code: options that were compiled in, or added by rt, are not the
// user's, and argv[0] is rt. The build wraps the script into a named evaluation, because a stack trace would
// otherwise show the whole URL.
import { PARTS } from "./embedded-parts.ts";
import { installRuntime } from "./install.ts";

/** The URL that this script came from. Given by the build's wrapper. */
declare const preloadUrl: string;

installRuntime(PARTS, () => preloadUrl);

/** The preload, and a configuration that is none or a copy of ours (see src/config/handover.ts). */
const HANDED_OVER = /^--config=(?:\/dev\/null|\\\\\.\\NUL|.*[\\/]rt-files-\d+[\\/]config-\w+\.json)$/;
const COMPILED_IN = /^--loader=\.[a-z0-9]+:file$/;
const isOurs = (option: string) =>
  option === `--preload=${preloadUrl}` ||
  HANDED_OVER.test(option) ||
  (!Bun.isMainThread && COMPILED_IN.test(option));
process.execArgv = process.execArgv.filter((option) => !isOurs(option));
process.argv[0] = process.execPath;
delete process.env.RT_BECAME;
if (process.env.BUN_BE_BUN === "1") process.env.BUN_BE_BUN = "0";
