// Renders which blocks did not run, by file.
import type { Block } from "./blocks.ts";

/**
 * @param marks has a 1 at the index of each block that ran
 * @param isPartial leaves out files of which no block ran
 */
export function renderCoverage(
  blocks: readonly Block[],
  marks: ArrayLike<number>,
  isPartial: boolean,
): string {
  const lines: string[] = [];
  let total = 0;
  let ran = 0;
  for (const [file, indexes] of groupByFile(blocks)) {
    const hasRun = (index: number) => marks[index] === 1;
    const count = indexes.filter(hasRun).length;
    if (isPartial && count === 0) continue;
    total += indexes.length;
    ran += count;
    const first = indexes[0]!;
    // A block in a block that did not run is not listed.
    const missed = indexes.filter((index) => {
      const { parent } = blocks[index]!;
      return !hasRun(index) && (parent === undefined || hasRun(first + parent));
    });
    for (const index of missed) lines.push(`${file}:${describe(blocks[index]!)}`);
  }
  const percent = total === 0 ? 100 : (100 * ran) / total;
  return `${[...lines, `${ran} of ${total} blocks ran, ${percent.toFixed(1)} %`].join("\n")}\n`;
}

/** Indexes by file. The blocks of a file are in sequence. */
function groupByFile(blocks: readonly Block[]): Map<string, number[]> {
  const files = new Map<string, number[]>();
  for (const [index, { file }] of blocks.entries()) {
    const indexes = files.get(file);
    if (indexes) indexes.push(index);
    else files.set(file, [index]);
  }
  return files;
}

function describe({ line, endLine, label }: Block): string {
  return endLine === line ? `${line} ${label}` : `${line}-${endLine} ${label}`;
}
