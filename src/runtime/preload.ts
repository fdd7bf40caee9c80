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

const HANDED_OVER = [`--preload=${preloadUrl}`, "--config=/dev/null"];
const COMPILED_IN = /^--loader=\.[a-z0-9]+:file$/;
const isOurs = (option: string) =>
  HANDED_OVER.includes(option) || (!Bun.isMainThread && COMPILED_IN.test(option));
process.execArgv = process.execArgv.filter((option) => !isOurs(option));
process.argv[0] = process.execPath;
