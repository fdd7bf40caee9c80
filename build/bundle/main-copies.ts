// Gives the main module private copies of its static imports.
//
// Non-obvious:
// - Otherwise the bundler puts them into several chunks, which other modules share. Reading several takes longer than reading one:
//   4 % of the start of a file without the front.
// - A class may therefore exist twice, and errors are identified by name.
import { dirname, join } from "node:path";
import type { BunPlugin } from "bun";

export const MAIN = join(import.meta.dir, "../../src/main.ts");

/** The query that makes a path a separate module for the bundler. */
const MARK = "?main";

export const mainCopies: BunPlugin = {
  name: "rt-main-copies",
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\/.*\.(?:ts|json)$/ }, ({ path, importer, kind }) => {
      const isCopied = kind === "import-statement" && (importer === MAIN || importer.endsWith(MARK));
      return isCopied ? { path: join(dirname(importer), path) + MARK } : undefined;
    });
    build.onLoad({ filter: /\.(?:ts|json)\?main$/ }, async ({ path }) => {
      const file = path.slice(0, -MARK.length);
      return { contents: await Bun.file(file).text(), loader: file.endsWith(".json") ? "json" : "ts" };
    });
  },
};
