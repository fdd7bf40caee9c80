// Watches the recorded inputs of a script's last run, for `rt --watch`.
//
// Invariants:
// - A caller that watches `directories`, filters with `has` and checks with `differs` detects every change that would
//   cause a cache miss. Exceptions: node_modules, .git, machine paths, and listings of directories above the project.
// - Outputs of the script are never inputs.
import { basename, dirname, normalize, sep } from "node:path";
import type { RecordedInputs } from "../cached-script.ts";
import { validateEntry, compareState, isOutput } from "../entry/entry-validation.ts";
import { isSought } from "../entry/parent-folder-names.ts";
import { type CacheEntry, OPTIONAL, type RecordedDependency } from "../entry/entry.ts";
import { declaredDirectories, declaredInputs } from "../key/declared-inputs.ts";
import { hashInput, type CacheKey } from "../key/cache-key.ts";
import { followLinks } from "../key/symlink-targets.ts";
import { listFiles, type Matcher, matcher } from "../key/rule-globs.ts";
import type { IsMachinePath } from "../relocation/machine-paths.ts";
import { isBelow, toPortablePath } from "../relocation/stored-path.ts";
import type { ProjectView } from "../entry/entry-builder.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import type { PathState } from "../../../platform/tracing/contract/tracing.ts";

const UNWATCHED = /[\\/](?:node_modules|\.git)(?:[\\/]|$)/;
/** Letters of types in a directory listing. */
const KIND_LETTERS: Readonly<Record<PathState["kind"], string>> = {
  ...{ file: "f", directory: "d", link: "l", other: "o" },
  absent: "",
};

/** Returns the files that are part of the cache key; absolute, sorted. @throws NotCacheableError, UserError */
export async function listKeyInputs(
  rule: CacheRule,
  project: ProjectView,
  isTraced: boolean,
): Promise<string[]> {
  if (!isTraced) return await declaredInputs(rule, project);
  return await followLinks(await listFiles(rule.inputs, project.packageDirectory), project);
}

interface RecordedInputSet {
  readonly key: CacheKey;
  readonly isTraced: boolean;
  readonly isMachinePath: IsMachinePath;
}

export class RecordedInputFiles implements RecordedInputs {
  readonly #entry: CacheEntry;
  readonly #rule: CacheRule;
  readonly #project: ProjectView;
  readonly #options: RecordedInputSet;
  readonly #conditions = new Map<string, RecordedDependency[]>();
  readonly #names = new Map<string, ReadonlySet<string>>();
  /** By directory, if only some names count: parent-folder-names.ts. */
  readonly #stems = new Map<string, readonly string[]>();
  readonly #keyInputs: ReadonlyMap<string, string>;
  readonly #own: ReadonlySet<string>;
  /** Whether a path would be part of the cache key if it existed. */
  readonly #mayBecomeInput: Matcher;
  /** Directories to watch; absolute. */
  readonly directories = new Set<string>();

  constructor(entry: CacheEntry, rule: CacheRule, project: ProjectView, options: RecordedInputSet) {
    [this.#entry, this.#rule, this.#project, this.#options] = [entry, rule, project, options];
    const { key, isTraced } = options;
    const { root, packageDirectory } = project;
    const isNamed = matcher(rule.inputs, packageDirectory);
    const directories = isTraced ? [] : declaredDirectories(root, packageDirectory);
    const hasExplanation: Matcher = (path) =>
      directories.some((each) => isBelow(path, each)) || isNamed(path);
    // Directories of symlink targets.
    const linked = new Set(key.inputs.filter((path) => !hasExplanation(path)).map((path) => dirname(path)));
    this.#mayBecomeInput = (path) => hasExplanation(path) || linked.has(dirname(path));
    this.#own = new Set([...entry.outputs.map(({ path }) => path), ...entry.own]);
    const hashes = new Map(key.fields.map(({ name, hash }) => [name, hash]));
    this.#keyInputs = new Map(key.inputs.map((path) => [path, hashes.get(toPortablePath(path, root)) ?? ""]));
    for (const path of key.inputs) this.directories.add(dirname(path));
    for (const condition of entry.conditions) {
      const [kind, path] = condition;
      if (!this.#isWatched(condition) || this.#own.has(path)) continue;
      if (kind === "names") {
        this.#names.set(path, new Set(condition[2]));
        if (condition[3]) this.#stems.set(path, condition[3]);
        this.directories.add(path);
      } else {
        this.#conditions.set(path, [...(this.#conditions.get(path) ?? []), condition]);
        this.directories.add(dirname(path));
      }
    }
  }

  #isWatched([kind, path]: RecordedDependency): boolean {
    const { root } = this.#project;
    if (UNWATCHED.test(path)) return false;
    if (path === root || isBelow(path, root)) return true;
    const isAbove = path === "/" || isBelow(root, path);
    return isAbove ? kind === "link" : !this.#options.isMachinePath(path, kind !== "absent");
  }

  isOwn(given: string): boolean {
    const path = toNative(given);
    const { isDeclared, isIgnored } = this.#project;
    // A source file that matches `outputs` is an input.
    const isSource = this.#conditions.has(path) || this.#keyInputs.has(path);
    return this.#own.has(path) || (isDeclared(path) && !isSource) || isIgnored(path);
  }

  has(given: string): boolean {
    const path = toNative(given);
    const isKnown = this.#names.has(dirname(path)) || this.#mayBecomeInput(path);
    return this.hasRead(path) || (isKnown && !UNWATCHED.test(path) && !this.isOwn(path));
  }

  hasRead(given: string): boolean {
    const path = toNative(given);
    return (this.#conditions.has(path) || this.#keyInputs.has(path)) && !this.isOwn(path);
  }

  /** Like `has`, for a change of which the kind is known. @param isListed whether it adds or removes the path */
  isAffectedBy(given: string, isListed: boolean): boolean {
    const path = toNative(given);
    if (this.hasRead(path)) return true;
    const isKnown = (isListed && this.#lists(path)) || this.#mayBecomeInput(path);
    return isKnown && !UNWATCHED.test(path) && !this.isOwn(path);
  }

  #lists(path: string): boolean {
    const directory = dirname(path);
    const stems = this.#stems.get(directory);
    const name = basename(path);
    return (
      this.#names.has(directory) && (!stems || isSought(`f${name}`, stems) || isSought(`d${name}`, stems))
    );
  }

  /** The existing files and directories that the script depends on. */
  *listRead(): Iterable<string> {
    for (const [path, conditions] of this.#conditions)
      if (conditions.some(([kind]) => kind !== "absent")) yield path;
    yield* this.#names.keys();
  }

  async differs(given: string): Promise<boolean> {
    const path = toNative(given);
    const [entry, project] = [this.#entry, this.#project];
    const state = project.stat(path);
    const names = this.#names.get(dirname(path));
    if (names && !isSame(names, basename(path), KIND_LETTERS[state.kind])) return true;
    for (const condition of this.#conditions.get(path) ?? []) {
      if (condition[0] === "names") continue;
      const difference = await compareState(condition, state, project.hashes);
      const output = difference === null ? undefined : entry.outputs.find((each) => each.path === path);
      if (difference !== null && !(output && (await isOutput(output, state, project.hashes)))) return true;
    }
    const before = this.#keyInputs.get(path);
    if (before !== undefined) return (await hashInput(path, project.hashes, project.stat)) !== before;
    if (!this.#mayBecomeInput(path) || state.kind === "absent") return false;
    // If the inputs cannot be listed, the path counts as changed; the next start reports the error.
    const now = await listKeyInputs(this.#rule, project, this.#options.isTraced).catch(() => [path]);
    return now.includes(path);
  }

  async findChanged(): Promise<string | undefined> {
    for (const path of [...this.#conditions.keys(), ...this.#keyInputs.keys()])
      if (await this.differs(path)) return path;
    const [entry, project] = [this.#entry, this.#project];
    for (const [path, names] of this.#names) {
      const conditions: RecordedDependency[] = [["names", path, [...names]]];
      if ((await validateEntry({ ...entry, conditions }, project)).mismatch !== null) return path;
    }
    return undefined;
  }

  get print(): string {
    const { conditions, outputs, log } = this.#entry;
    return JSON.stringify([this.#options.key.hash, conditions, outputs, log]);
  }
}

/** Restores native separators; the watcher reports "/". */
function toNative(path: string): string {
  return sep === "/" ? path : normalize(path);
}

/** Returns whether a name is listed with this letter of its type; "" if it is absent. */
function isSame(names: ReadonlySet<string>, name: string, letter: string): boolean {
  if (names.has(`${OPTIONAL}d${name}`)) return letter === "" || letter === "d";
  if (letter !== "") return names.has(letter + name);
  return !Object.values(KIND_LETTERS).some((each) => each !== "" && names.has(each + name));
}
