// The file extensions that rt runs as code, and those that users name by mistake.

/** What the engine runs as code. */
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

/** What only the engine's own entry point understands: a WebAssembly module, a page to serve. */
export const ENGINE_EXTENSIONS: readonly string[] = [".wasm", ".html"];

/** Files that people name by mistake, and what to call them. */
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

/** Lower case, with its dot; "" when there is none. */
export function extensionOf(path: string): string {
  // Without `Math`, which the engine makes when it is first named.
  const dot = path.lastIndexOf(".");
  const before = path[dot - 1];
  if (dot <= 0 || before === "/" || before === "\\") return "";
  const extension = path.slice(dot).toLowerCase();
  return extension.includes("/") || extension.includes("\\") ? "" : extension;
}
