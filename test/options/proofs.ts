// Reads the claims of `prove` for each option from the sources of the tests in this folder.
import { join } from "node:path";

export async function collectProofs(): Promise<Map<string, string[]>> {
  const proofs = new Map<string, string[]>();
  for (const file of [...new Bun.Glob("*.test.ts").scanSync(import.meta.dir)].sort()) {
    const source = await Bun.file(join(import.meta.dir, file)).text();
    for (const [, option = "", claim] of source.matchAll(/^\s*prove\(\s*"([^"]+)",\s*"([^"]+)"/gm)) {
      proofs.set(option, [...(proofs.get(option) ?? []), `--${option} ${claim}`]);
    }
  }
  return proofs;
}
