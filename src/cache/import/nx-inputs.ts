// Translates inputs and outputs of nx to globs of [tasks].
//
// Invariants:
// - Pure. `{projectRoot}` is the package. Files of the workspace become relative to the package.
// - The files of dependencies (`^production`) need no entry: files that a script reads are inputs.
import { type JsonTable, tableOf } from "./json-table.ts";
import { pathFrom, type NxProject } from "./nx-project.ts";

export interface NxInputs {
  /** As nx writes them, with tokens. */
  readonly files: readonly string[];
  readonly env: readonly string[];
  readonly excluded: readonly string[];
  readonly runtime: readonly string[];
  /** Named inputs that do not exist. */
  readonly unknown: readonly string[];
}

const WHOLE_PROJECT = /^\{projectRoot\}(?:\/\*\*(?:\/\*)?)?$/;

/** Resolves named inputs. @param named namedInputs of nx.json and of the project */
export function resolveInputs(inputs: readonly unknown[], named: JsonTable): NxInputs {
  const found = { files: [], env: [], excluded: [], runtime: [], unknown: [] } as Record<
    keyof NxInputs,
    string[]
  >;
  const seen = new Set<string>();
  /** The next one is last. Recursion would overflow the stack for a long chain of names. */
  const pending = inputs.toReversed();
  const addNamed = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    const list = named[name];
    if (Array.isArray(list)) for (const each of list.toReversed()) pending.push(each);
    else if (name !== "default") found.unknown.push(name);
  };
  const add = (input: unknown) => {
    if (typeof input !== "string") addTable(tableOf(input));
    else if (input.startsWith("!")) found.excluded.push(input);
    else if (input.startsWith("^") || WHOLE_PROJECT.test(input)) return;
    else if (input.startsWith("{")) found.files.push(input);
    else addNamed(input);
  };
  const addTable = ({ env, fileset, json, runtime, input, projects, dependencies }: JsonTable) => {
    if (typeof env === "string") found.env.push(env);
    if (typeof runtime === "string") found.runtime.push(runtime);
    for (const file of [fileset, json]) if (typeof file === "string") add(file);
    const isOfOthers = dependencies === true || (projects !== undefined && projects !== "self");
    if (typeof input === "string" && !isOfOthers) addNamed(input);
  };
  while (pending.length > 0) add(pending.pop());
  return found;
}

/**
 * Returns a glob relative to the package; undefined if it needs the project or its options.
 * @param projects those with the task; one, or several that share the row
 */
export function globOf(
  glob: string,
  projects: readonly NxProject[],
  options: JsonTable = {},
): string | undefined {
  const [, mark = "", path = ""] = /^(!*)(.*)$/s.exec(glob)!;
  const own = /^\{projectRoot\}\/?(.*)$/.exec(path)?.[1];
  if (own !== undefined && !own.includes("{projectRoot}") && !own.includes("{options."))
    return mark + (own || ".");
  const [only, ...others] = new Set(projects.map((project) => globIn(path, project, options)));
  return only === undefined || others.length > 0 ? undefined : mark + only;
}

function globIn(glob: string, project: NxProject, options: JsonTable): string | undefined {
  let isKnown = true;
  const path = glob
    .replace(/^\{workspaceRoot\}\/?/, "")
    .replaceAll("{projectRoot}", project.path)
    .replaceAll("{projectName}", project.name)
    .replace(/\{options\.(\w+)\}/g, (_, key: string) => {
      const value = options[key];
      if (typeof value !== "string") isKnown = false;
      return String(value)
        .replaceAll("{projectRoot}", project.path)
        .replace(/^\{workspaceRoot\}\/?|^\.\//, "");
    });
  return isKnown ? pathFrom(project.path, path.replace(/\/\.(?=\/|$)|^\.\/|\/+$/g, "") || ".") : undefined;
}
