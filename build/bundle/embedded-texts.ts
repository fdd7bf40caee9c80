// The virtual module "rt:texts": guides of `rt help`, the manual page, type declarations and completion scripts, as one compressed file.
import { join } from "node:path";
import type { BunPlugin } from "bun";
import { GUIDES } from "../../src/cli/help/guides.ts";
import { compress } from "./compress.ts";
import { renderManual } from "../docs/man-page.ts";
import { COMPLETIONS, MANUAL, TYPES } from "../../src/cli/help/embedded-texts.ts";

const ROOT = join(import.meta.dir, "../..");

/** In the format of src/cli/help/embedded-texts.ts. */
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
