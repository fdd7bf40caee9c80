// Generates documentation from tables: `bun build/docs.ts`. A test compares each file with the generated text.
import { join } from "node:path";
import { renderConfiguration, renderExample } from "./docs/configuration.ts";
import { renderContents } from "./docs/guide-index.ts";
import { renderDifferences } from "./docs/differences.ts";
import { renderErrors } from "./docs/errors.ts";
import { renderReadme } from "./docs/benchmark-table.ts";
import { renderOptions } from "./docs/options.ts";
import { ROOT } from "./docs/markdown.ts";
import { renderCacheReference } from "./docs/variable-table.ts";
import { renderTargets } from "./docs/targets.ts";

export const GENERATED: ReadonlyArray<{ file: string; render(): string | Promise<string> }> = [
  { file: "docs/README.md", render: renderContents },
  { file: "docs/reference/options.md", render: renderOptions },
  { file: "docs/reference/configuration.md", render: renderConfiguration },
  { file: "docs/reference/differences.md", render: renderDifferences },
  { file: "docs/reference/errors.md", render: renderErrors },
  { file: "rtfig.toml.example", render: renderExample },
  { file: "docs/reference/targets.md", render: renderTargets },
  { file: "docs/reference/cache.md", render: renderCacheReference },
  { file: "README.md", render: renderReadme },
];

export async function writeDocs(): Promise<void> {
  for (const { file, render } of GENERATED) await Bun.write(join(ROOT, file), await render());
}

if (import.meta.main) await writeDocs();
