// What a script depended on when it ran last, for who waits until that changes: rt --watch.
//
// Contract: who hears of what happens in `directories`, and asks `differs` of the paths for which `has` is true, hears of all
// that would make the script run again, but for what is told here: what is installed (node_modules), what Git keeps for
// itself, what all checkouts share (src/cache/entry/relocation.ts: the system's directories, those of PATH, the home directory's dot
// files), and which names are in the directories above the project. What the script makes is never one of them.
import { basename, dirname, normalize, sep } from "node:path";
import { validateEntry, compareState, isOutput } from "../entry/entry-validation.ts";
import type { RecordedDependency, CacheEntry } from "../entry/entry.ts";
import { declaredDirectories, declaredInputs } from "../key/declared-inputs.ts";
import { hashInput, type CacheKey } from "../key/cache-key.ts";
import { followLinks } from "../key/symlink-targets.ts";
import { listFiles, type Matcher, matcher } from "../key/rule-globs.ts";
import { type IsMachinePath, isBelow, toPortablePath } from "../entry/relocation.ts";
import type { ProjectView } from "../entry/entry-builder.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import type { PathState } from "../../../platform/tracing/contract/tracing.ts";

const NEVER = /[\\/](?:node_modules|\.git)(?:[\\/]|$)/;
/** As a listing has them. */
const LETTERS: Readonly<Record<PathState["kind"], string>> = {
  ...{ file: "f", directory: "d", link: "l", other: "o" },
  absent: "",
};

/** The files that count whatever the script does; absolute, sorted. Throws Unkept, Failure. */
export async function listCounted(rule: CacheRule, world: ProjectView, isTraced: boolean): Promise<string[]> {
  if (!isTraced) return await declaredInputs(rule, world);
  return await followLinks(await listFiles(rule.inputs, world.packageDirectory), world);
}

interface RecordedInputSet {
  readonly key: CacheKey;
  /** As `listCounted` has it. */
  readonly isTraced: boolean;
  /** As `fixedPlaces` says. */
  readonly isFixed: IsMachinePath;
}

export class RecordedInputFiles {
  readonly #entry: CacheEntry;
  readonly #rule: CacheRule;
  readonly #world: ProjectView;
  readonly #known: RecordedInputSet;
  readonly #conditions = new Map<string, RecordedDependency[]>();
  /** Directories, and what was in them. */
  readonly #names = new Map<string, ReadonlySet<string>>();
  readonly #counted: ReadonlyMap<string, string>;
  readonly #own: ReadonlySet<string>;
  /** Whether a path might be one of those that count, once it is there. */
  readonly #mayCount: Matcher;
  /** Those that are to be watched; absolute. */
  readonly directories = new Set<string>();

  constructor(entry: CacheEntry, rule: CacheRule, world: ProjectView, known: RecordedInputSet) {
    [this.#entry, this.#rule, this.#world, this.#known] = [entry, rule, world, known];
    const { key, isTraced } = known;
    const { root, packageDirectory } = world;
    const isNamed = matcher(rule.inputs, packageDirectory);
    const directories = isTraced ? [] : declaredDirectories(root, packageDirectory);
    const isFound: Matcher = (path) => directories.some((each) => isBelow(path, each)) || isNamed(path);
    // Where links have led.
    const linked = new Set(key.inputs.filter((path) => !isFound(path)).map((path) => dirname(path)));
    this.#mayCount = (path) => isFound(path) || linked.has(dirname(path));
    this.#own = new Set([...entry.outputs.map(({ path }) => path), ...entry.own]);
    const hashes = new Map(key.fields.map(({ name, hash }) => [name, hash]));
    this.#counted = new Map(key.inputs.map((path) => [path, hashes.get(toPortablePath(path, root)) ?? ""]));
    for (const path of key.inputs) this.directories.add(dirname(path));
    for (const condition of entry.conditions) {
      const [kind, path] = condition;
      if (!this.#isWatched(condition) || this.#own.has(path)) continue;
      if (kind === "names") {
        this.#names.set(path, new Set(condition[2]));
        this.directories.add(path);
      } else {
        this.#conditions.set(path, [...(this.#conditions.get(path) ?? []), condition]);
        this.directories.add(dirname(path));
      }
    }
  }

  #isWatched([kind, path]: RecordedDependency): boolean {
    const { root } = this.#world;
    if (NEVER.test(path)) return false;
    if (path === root || isBelow(path, root)) return true;
    const isAbove = path === "/" || isBelow(root, path);
    return isAbove ? kind === "link" : !this.#known.isFixed(path, kind !== "absent");
  }

  /** Whether it made a path, or says that it does not matter. */
  isOwn(given: string): boolean {
    const path = toNative(given);
    const { isDeclared, isIgnored } = this.#world;
    // A source that outputs name counts.
    const isSource = this.#conditions.has(path) || this.#counted.has(path);
    return this.#own.has(path) || (isDeclared(path) && !isSource) || isIgnored(path);
  }

  /** Whether a change of a path may matter. */
  has(given: string): boolean {
    const path = toNative(given);
    const isKnown = this.#names.has(dirname(path)) || this.#mayCount(path);
    return this.hasRead(path) || (isKnown && !NEVER.test(path) && !this.isOwn(path));
  }

  /** Whether it has looked at a path itself, or that is named. */
  hasRead(given: string): boolean {
    const path = toNative(given);
    return (this.#conditions.has(path) || this.#counted.has(path)) && !this.isOwn(path);
  }

  /** Whether there is something else at a path now than it found there. */
  async differs(given: string): Promise<boolean> {
    const path = toNative(given);
    const [entry, world] = [this.#entry, this.#world];
    const state = world.look(path);
    const names = this.#names.get(dirname(path));
    if (names && isListed(names, basename(path)) !== LETTERS[state.kind]) return true;
    for (const condition of this.#conditions.get(path) ?? []) {
      if (condition[0] === "names") continue;
      const difference = await compareState(condition, state, world.hashes);
      const output = difference === null ? undefined : entry.outputs.find((each) => each.path === path);
      if (difference !== null && !(output && (await isOutput(output, state, world.hashes)))) return true;
    }
    const before = this.#counted.get(path);
    if (before !== undefined) return (await hashInput(path, world.hashes, world.look)) !== before;
    if (!this.#mayCount(path) || state.kind === "absent") return false;
    // Where nobody can tell, it is found out when it starts.
    const now = await listCounted(this.#rule, world, this.#known.isTraced).catch(() => [path]);
    return now.includes(path);
  }

  /** The first path of all that differs now. */
  async findChanged(): Promise<string | undefined> {
    for (const path of [...this.#conditions.keys(), ...this.#counted.keys()])
      if (await this.differs(path)) return path;
    const [entry, world] = [this.#entry, this.#world];
    for (const [path, names] of this.#names) {
      const conditions: RecordedDependency[] = [["names", path, [...names]]];
      if ((await validateEntry({ ...entry, conditions }, world)).mismatch !== null) return path;
    }
    return undefined;
  }

  get print(): string {
    const { conditions, outputs, log } = this.#entry;
    return JSON.stringify([this.#known.key.hash, conditions, outputs, log]);
  }
}

/** As it is recorded: who watches puts "/" between names. */
function toNative(path: string): string {
  return sep === "/" ? path : normalize(path);
}

/** Its letter; "" where it was not there. */
function isListed(names: ReadonlySet<string>, name: string): string {
  for (const letter of Object.values(LETTERS)) if (letter !== "" && names.has(letter + name)) return letter;
  return "";
}
