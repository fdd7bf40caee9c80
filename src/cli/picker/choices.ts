// Collects the scripts that the picker offers: those of the nearest package and, in a workspace, of all its packages. Recently
// picked scripts come first.
import { relative } from "node:path";
import { oneLine, printable } from "../../printable.ts";
import { openWorkspace } from "../../workspace/members.ts";
import { openTaskRules } from "../../config/tasks/project-task-rules.ts";
import { listTasks } from "../../config/tasks/project-tasks.ts";
import { findPackageJson, type PackageJson, textField } from "../../workspace/package-json.ts";
import type { Picked } from "./history.ts";

export interface Choice {
  /** Package and script name, such as `web build`; only the script name in the nearest package. Escaped, like `command`. */
  readonly label: string;
  readonly command: string;
  readonly scriptName: string;
  /** Absolute path of the package. */
  readonly directory: string;
  /** Value of --filter that selects the package; undefined for the nearest package. */
  readonly selector: string | undefined;
  /** Arguments of the last pick, unsplit; "" if there is none. */
  readonly args: string;
}

export interface Choices {
  /** Workspace root, the key of the history. */
  readonly root: string;
  /** @param history most recent first */
  order(history: readonly Picked[]): Choice[];
}

interface Package {
  readonly directory: string;
  readonly name: string;
  readonly manifest: PackageJson;
}

/**
 * Returns undefined without a package.json in `cwd` or above.
 * @throws PackageJsonError, UserError
 */
export function findChoices(cwd: string): Choices | undefined {
  const own = findPackageJson(cwd);
  if (!own) return undefined;
  const { root, members } = openWorkspace(cwd);
  const others = members
    .filter(({ directory }) => directory !== own.directory)
    .map(({ directory, name, path, manifest }): Package => ({ directory, name: name || path, manifest }));
  const packages: Package[] = [{ ...own, name: "" }, ...others];
  const rules = openTaskRules(cwd);
  return {
    root,
    order: (history) => {
      const ranks = new Map(history.map((picked, rank) => [keyOf(picked), { rank, args: picked.args }]));
      const choices = packages.flatMap((each) =>
        listTasks({ ...each, name: textField(each.manifest, "name") }, rules).map((task): Choice => {
          const { directory, name } = each;
          const { name: scriptName, command, description } = task;
          return {
            label: name === "" ? printable(scriptName) : printable(`${name} ${scriptName}`),
            command: oneLine(description === undefined ? command : `${description}: ${command}`),
            scriptName,
            directory,
            selector: name === "" ? undefined : selectorOf(cwd, each),
            args: ranks.get(keyOf({ directory, scriptName }))?.args ?? "",
          };
        }),
      );
      const rankOf = (choice: Choice) => ranks.get(keyOf(choice))?.rank ?? history.length;
      return choices.toSorted((a, b) => rankOf(a) - rankOf(b));
    },
  };
}

function keyOf({ directory, scriptName }: Pick<Choice, "directory" | "scriptName">): string {
  return JSON.stringify([directory, scriptName]);
}

const FILTER_SYNTAX = /[*?[\]{}!^\\]|\.\.\./;

/** Returns the package's path, which is unique, or its name if the path contains filter syntax. */
function selectorOf(cwd: string, { directory, name }: Package): string {
  const path = relative(cwd, directory).replaceAll("\\", "/");
  const selector = path === "" ? "." : path.startsWith("../") || path === ".." ? path : `./${path}`;
  return FILTER_SYNTAX.test(selector.replace(/^(?:\.\.\/)*/, "")) ? name : selector;
}
