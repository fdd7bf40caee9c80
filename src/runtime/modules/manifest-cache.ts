/** The variable that tells the engine what to do with the registry's answers of before: "0" is to ask again. */
export const MANIFEST_CACHE = "BUN_MANIFEST_CACHE";
