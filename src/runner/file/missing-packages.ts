// Looks for packages that a program in a place without node_modules may ask for, and that are not to be had there: the
// engine fetches them, if it was started as itself (specification, `--install`), and it must be so before the first line runs.
//
// The text of each module is searched, and of the modules that it names by a path. In doubt it is the engine: an import of a
// computed name, and a name in a comment or a text, cost a slower start and nothing else. What only an evaluated text asks
// for is not found.
//
// Surprising: it stands in main's own chunk. A module of ours that is loaded shortly before the program changes the order of
// the program's first ticks.
import { readMapped } from "../../../platform/files/mapped-files.ts";
import { isExplicitPath } from "../resolve/target.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../../source-extensions.ts";

/** The first of them, or the file that computes a name. */
export function findMissingPackage(main: string): string | undefined {
  // Here, since patterns of a module are made whenever it is loaded.
  /** Behind each of these stands a name, or a value that has one. */
  const NAMED =
    /\b(?:from|import|require|resolve(?:Sync)?|Worker|URL)(?:\s*\(\s*|\s*)(?:\/\*[^*]*\*\/\s*)?["'`]([^"'`\n]+)["'`]/g;
  const COMPUTED = /\b(?:import|require)\s*\(\s*(?![\s"'`)]|\/\*)|\b(?:import|require)\s*\(\s*`[^`\n]*\$\{/;

  /** Whatever else, these are no packages. */
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
