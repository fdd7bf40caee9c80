// What build/compile.ts makes for the engine: src/runtime/preload/preload.ts as a `data:` URL, and the script of
// src/runtime/modules/lazy-modules.ts of every system, as a file in this program, which embedded-modules.ts finds by its marks.
import embeddedParts from "rt:parts" with { type: "file" };
import optionUrl from "rt:option-preload";
import url from "rt:preload";
import { host } from "../../../platform/processes/process.ts";

/**
 * What to give to the engine as its preload. Its debugger ends the program at a module whose URL is longer than a
 * path may be, so there the script is a file.
 */
export function preloadFor(words: readonly string[] = []): string {
  return fit(url, words);
}

/** The same for what src/runtime/preload/option-effects.ts does. */
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

/** Named so that the file is embedded; it is not read by this name. */
export const partsFile: string = embeddedParts;
