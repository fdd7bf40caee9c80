/** Environment variable of the engine's cache of registry responses; "0" disables the cache. */
export const MANIFEST_CACHE = "BUN_MANIFEST_CACHE";
