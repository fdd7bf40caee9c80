// Finds the samples of a page: its fenced blocks. The info string selects how samples.test.ts checks them:
//
// - ts, js: a whole file, run in the page's folder; the `text` block after it is its output.
// - sh: run by bash in the page's folder; without a `text` block it prints nothing.
// - json, toml, yaml, html: parsed, rtfig.toml with rt's parser.
// - file=<path>: the block is that file of the page's folder, for the blocks after it. It runs if it has an output.
// - not-run="...": it cannot run in a test, for this reason; samples.test.ts lists all.
import { join } from "node:path";
import { REPOSITORY } from "../support/rt.ts";

export interface Sample {
  /** Title of the test: "docs/guides/ci.md:12 sh". */
  readonly title: string;
  readonly language: string;
  readonly code: string;
  /** Standard output; absent if the page has none. */
  readonly output?: string;
  readonly file?: string;
  readonly notRun?: string;
}

export const PAGES: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...[...new Bun.Glob("docs/**/*.md").scanSync(REPOSITORY)].toSorted(),
];

export async function readPage(path: string): Promise<string> {
  return await Bun.file(join(REPOSITORY, path)).text();
}

const BLOCK = /^( *)```(\w+)([^\n]*)\n(.*?)^\1```$(?:\n\s*^\1```text\n(.*?)^\1```$)?/gms;

export function findSamples(path: string, page: string): Sample[] {
  return [...page.matchAll(BLOCK)].map(({ index, 1: indent, 2: language, 3: info, 4: code, 5: output }) => {
    const line = page.slice(0, index).split("\n").length;
    const unindent = (text: string) => text.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    return {
      title: `${path}:${line} ${language}`,
      language: language!,
      code: unindent(code!),
      ...(output !== undefined && { output: unindent(output) }),
      file: /\bfile=(\S+)/.exec(info!)?.[1],
      notRun: /\bnot-run="([^"]+)"/.exec(info!)?.[1],
    };
  });
}
