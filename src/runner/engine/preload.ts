// Preloads for the engine, created by build/compile.ts: src/runtime/preload/preload.ts as a `data:` URL, and the
// lazily loaded modules as an embedded file.
import embeddedParts from "rt:parts" with { type: "file" };
import optionUrl from "rt:option-preload";
import url from "rt:preload";
import { host } from "../../../platform/processes/process.ts";

/**
 * The preload argument of the engine. Its debugger crashes on module URLs longer than a path, so with --inspect the
 * script is written to a file.
 */
export function preloadFor(words: readonly string[] = []): string {
  return fit(url, words);
}

/** The preload for src/runtime/preload/option-effects.ts. */
export function optionPreloadFor(words: readonly string[]): string {
  return fit(optionUrl, words);
}

function fit(url: string, words: readonly string[]): string {
  let isDebugged = Boolean(
    host.originalVariable("BUN_INSPECT") || host.originalVariable("BUN_INSPECT_CONNECT_TO"),
  );
  for (const word of words) isDebugged ||= word.startsWith("--inspect");
  if (!isDebugged) return url;
  const { writePrivateFile } =
    require("../../../platform/files/private-file.ts") as typeof import("../../../platform/files/private-file.ts");
  return writePrivateFile("preload", "js", atob(url.slice(url.indexOf(",") + 1)));
}

/** Exported so that the file is embedded; it is not read by this name. */
export const partsFile: string = embeddedParts;
