// "rt:guides": the pages that `rt help <guide>` shows, as one compressed file in the program, which nothing else reads.
import { join } from "node:path";
import type { BunPlugin } from "bun";
import { GUIDES } from "../src/cli/guides.ts";

const DOCS = join(import.meta.dir, "..", "docs");

/** As src/cli/guide.ts reads them. */
async function packGuides(): Promise<Uint8Array<ArrayBuffer>> {
  const pages = Object.entries(GUIDES).map(async ([name, { page }]) => [
    name,
    await Bun.file(join(DOCS, page)).text(),
  ]);
  const text = JSON.stringify(Object.fromEntries(await Promise.all(pages)));
  return new Uint8Array(Bun.zstdCompressSync(text, { level: 19 }));
}

export const guides: BunPlugin = {
  name: "rt-guides",
  setup(build) {
    build.onResolve({ filter: /^rt:guides$/ }, () => ({ path: "rt.guides", namespace: "rt-guides" }));
    build.onLoad({ filter: /.*/, namespace: "rt-guides" }, async () => ({
      contents: await packGuides(),
      loader: "file",
    }));
  },
};
