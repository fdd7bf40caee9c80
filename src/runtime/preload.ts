// What the engine loads before the user's code when it was started anew (see src/run/engine.ts): a script
// of its own, handed over as a `data:` URL, so that nothing is written to disk.
//
// It hides that hand-over from the user's code: what rt added to the engine's options is not the user's. The
// build wraps it into a named evaluation, because a stack trace would otherwise show the whole URL.
import { installRuntime } from "./install.ts";

/** The URL that this script came from, which the workers need too. Given by the build's wrapper. */
declare const preloadUrl: string;

installRuntime(preloadUrl);
const ours = [`--preload=${preloadUrl}`, "--config=/dev/null"];
process.execArgv = process.execArgv.filter((option) => !ours.includes(option));
