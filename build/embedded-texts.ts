// "rt:texts": the pages that `rt help <guide>` shows, the manual page, the declarations of `rt types` and the scripts of
// `rt completions`, as one compressed file in the program, which nothing else reads.
import { join } from "node:path";
import type { BunPlugin } from "bun";
import { GUIDES } from "../src/cli/help/guides.ts";
import { compress } from "./compress.ts";
import { renderManual } from "./docs/man-page.ts";
import { COMPLETIONS, MANUAL, TYPES } from "../src/cli/help/embedded-texts.ts";

const ROOT = join(import.meta.dir, "..");

/** As src/cli/help/embedded-texts.ts reads them. */
async function packTexts(): Promise<Uint8Array<ArrayBuffer>> {
  const files: [name: string, path: string][] = Object.entries(GUIDES).map(([name, { page }]) => [
    name,
    `docs/${page}`,
  ]);
  for (const path of [TYPES, ...Object.values(COMPLETIONS)]) files.push([path, path]);
  const texts = files.map(async ([name, path]) => [name, await Bun.file(join(ROOT, path)).text()]);
  const text = JSON.stringify({
    ...Object.fromEntries(await Promise.all(texts)),
    [MANUAL]: renderManual(),
  });
  return compress(text);
}

export const texts: BunPlugin = {
  name: "rt-texts",
  setup(build) {
    build.onResolve({ filter: /^rt:texts$/ }, () => ({ path: "rt.texts", namespace: "rt-texts" }));
    build.onLoad({ filter: /.*/, namespace: "rt-texts" }, async () => ({
      contents: await packTexts(),
      loader: "file",
    }));
  },
};
