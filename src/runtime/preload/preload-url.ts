// Defines the unique URL prefixes by which the preload scripts are recognized.

/** Contains /node_modules/, because the engine excludes such paths from coverage reports. */
export const PRELOAD_URL_START = "data:text/javascript;rt=/node_modules/;base64,";

/** Prefix of the preload of a compiled program (see compiled-program.ts). */
export const PROGRAM_URL_START = "data:text/javascript;rt=";

/** Option that carries the scripts of a compiled program. It has no effect: the engine emits no warning of that name. */
export const SCRIPTS_OPTION = "--disable-warning=rt:scripts=";
/** Separates the scripts of lazy-modules.ts and deferred-modules.ts, each compressed and base64url-encoded. */
export const SCRIPTS_SEPARATOR = ".";
