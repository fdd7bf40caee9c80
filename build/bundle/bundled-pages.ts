// The virtual module "rt:pages": scripts and styles of src/reporters/page as texts, for browsers.
import { join, relative } from "node:path";
import type { BunPlugin } from "bun";
import type { PageParts } from "../../src/reporters/page/document.ts";

const ROOT = join(import.meta.dir, "../..");
const FOLDER = join(ROOT, "src/reporters/page");
const PAGES = ["run", "plan"] as const;

export interface Pages {
  readonly plugin: BunPlugin;
  /** Bundled source files, relative to the root. */
  readonly inputs: readonly string[];
}

export async function bundlePages(): Promise<Pages> {
  const inputs: string[] = [];
  const parts: Record<string, PageParts> = {};
  const style = await bundleText("style.css", inputs);
  for (const name of PAGES) parts[name] = { script: await bundleText(`${name}-page.ts`, inputs), style };
  const contents = PAGES.map((name) => `export const ${name} = ${JSON.stringify(parts[name])};`).join("\n");
  return {
    inputs,
    plugin: {
      name: "rt-pages",
      setup(build) {
        build.onResolve({ filter: /^rt:pages$/ }, () => ({ path: "pages", namespace: "rt-pages" }));
        build.onLoad({ filter: /.*/, namespace: "rt-pages" }, () => ({ contents, loader: "js" }));
      },
    },
  };
}

/** Escapes the text for an element of a page. */
async function bundleText(file: string, inputs: string[]): Promise<string> {
  const result = await Bun.build({
    entrypoints: [join(FOLDER, file)],
    target: "browser",
    format: "iife",
    minify: true,
    metafile: true,
  });
  inputs.push(...Object.keys(result.metafile!.inputs).map((path) => relative(ROOT, join(ROOT, path))));
  const text = (await result.outputs[0]!.text()).trim();
  if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error(`${file} cannot stand in a page`);
  return text;
}
