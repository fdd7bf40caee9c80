// The samples of a page: each block of code is a whole file, and the block of text after it is what it prints.
import { join } from "node:path";
import { REPOSITORY } from "../support/rt.ts";

export interface Sample {
  /** For the name of a test. */
  readonly title: string;
  readonly code: string;
  readonly output: string;
}

export async function readPage(name: string): Promise<string> {
  return await Bun.file(join(REPOSITORY, "docs", name)).text();
}

/** Throws when a block of code is not followed by its output. */
export function findSamples(page: string, language: "ts" | "sh"): Sample[] {
  const samples = [
    ...page.matchAll(
      new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`\\n\\s*(\`\`\`text\\n(.*?)^\`\`\`)?`, "gms"),
    ),
  ];
  return samples.map(([, code, hasOutput, output], index) => {
    if (!hasOutput) throw new Error(`This sample lacks its output:\n${code}`);
    return { title: `${language} sample ${index + 1}`, code: code!, output: output! };
  });
}
