// How the preload is told from others: by what its URL begins with, which no other has.

/** The engine leaves what has this directory in its name out of reports on coverage. */
export const PRELOAD_URL_START = "data:text/javascript;rt=/node_modules/;base64,";

/** How the preload of a program that was made with rt begins: see compiled-program.ts. */
export const PROGRAM_URL_START = "data:text/javascript;rt=";

/**
 * The option that carries the scripts of such a program: the engine keeps its value for warnings of that name, of which
 * there are none, and does nothing else with it.
 */
export const SCRIPTS_OPTION = "--disable-warning=rt:scripts=";
/** Between the parts (lazy-modules.ts) and what is late (deferred-modules.ts), each compressed and in base64url. */
export const SCRIPTS_SEPARATOR = ".";
