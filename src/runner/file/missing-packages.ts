// Finds packages that a program may import and that are missing, before its first line runs. The engine then runs
// the program and fetches them (`--install`).
//
// Non-obvious:
// - The text of each module is searched. If the check is inconclusive (computed names, names in comments), the
//   engine is used, which only starts more slowly. Imports in evaluated text are not found.
// - It is in main's chunk, because a module that is loaded shortly before the program changes the order of its
//   first ticks.
import { readMapped } from "../../../platform/files/mapped-files.ts";
import { isExplicitPath } from "../resolve/target.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../../source-extensions.ts";

/** Returns the first missing package, or the file that computes a name. */
export function findMissingPackage(main: string): string | undefined {
  // Not at module level, where regular expressions would be created at every start.
  /** Matches words that are followed by a module name. */
  const NAMED =
    /\b(?:from|import|require|resolve(?:Sync)?|Worker|URL)(?:\s*\(\s*|\s*)(?:\/\*[^*]*\*\/\s*)?["'`]([^"'`\n]+)["'`]/g;
  const COMPUTED = /\b(?:import|require)\s*\(\s*(?![\s"'`)]|\/\*)|\b(?:import|require)\s*\(\s*`[^`\n]*\$\{/;

  /** Names that are never packages. */
  const OURS = /^(?:rt$|bun$|[a-z]+:|#)/;
  const seen = new Set<string>();
  const open = [main];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const text = readMapped(path);
    if (COMPUTED.test(text)) return `one that ${path} computes the name of`;
    for (const [, name = ""] of text.matchAll(NAMED)) {
      if (OURS.test(name)) continue;
      const file = resolve(name, path);
      if (file === undefined && !isExplicitPath(name)) return name;
      if (file !== undefined && SOURCE_EXTENSIONS.includes(extensionOf(file))) open.push(file);
    }
  }
  return undefined;
}

function resolve(name: string, importer: string): string | undefined {
  try {
    return Bun.resolveSync(name, `${importer}/..`);
  } catch {
    return undefined;
  }
}
