// How the preload is told from others: by what its URL begins with, which no other has.

/** The engine leaves what has this directory in its name out of reports on coverage. */
export const PRELOAD_URL_START = "data:text/javascript;rt=/node_modules/;base64,";

/** How the preload of a program that was made with rt begins: see program.ts. */
export const PROGRAM_URL_START = "data:text/javascript;rt=";
