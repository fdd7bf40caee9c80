// Lists the file extensions that rt runs as code, and data files that users pass by mistake.

/** Extensions that the engine runs as code. */
export const SOURCE_EXTENSIONS: readonly string[] = [
  ".js",
  ".jsx",
  ".ts",
  ".tsx",
  ".mjs",
  ".cjs",
  ".mts",
  ".cts",
];

/** Extensions that only the engine's own entry point handles: a WebAssembly module, a page to serve. */
export const ENGINE_EXTENSIONS: readonly string[] = [".wasm", ".html"];

/** Data files, with their format's name for the error message. */
export const DATA_EXTENSIONS: Readonly<Record<string, string>> = {
  ".json": "json",
  ".jsonc": "json",
  ".yaml": "yaml",
  ".yml": "yaml",
  ".toml": "toml",
  ".txt": "text",
  ".css": "css",
  ".md": "text",
};

/** Returns the extension in lower case with its dot; "" without one. */
export function extensionOf(path: string): string {
  // Avoids `Math`, which the engine creates at its first use.
  const dot = path.lastIndexOf(".");
  const before = path[dot - 1];
  if (dot <= 0 || before === "/" || before === "\\") return "";
  const extension = path.slice(dot).toLowerCase();
  return extension.includes("/") || extension.includes("\\") ? "" : extension;
}
