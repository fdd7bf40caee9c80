// What build/compile.ts makes for the engine: src/runtime/preload.ts as a `data:` URL, and the script of
// src/runtime/parts.ts as a file in this program, which embedded-parts.ts finds by its marks.
import embeddedParts from "rt:parts" with { type: "file" };
import url from "rt:preload";

export const preloadUrl: string = url;

/** Named so that the file is embedded; it is not read by this name. */
export const partsFile: string = embeddedParts;
