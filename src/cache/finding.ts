// What was found out about a script when it was last looked at, for `rt cache why`, and for the next look.
import type { Condition, Entry, KeptEntry } from "./entry.ts";
import { hashBytes } from "./hashes.ts";
import { UNKEPT } from "./doubts.ts";
import { compareKeys, type Field, type Key } from "./key.ts";
import type { KnownEntries } from "./known-entries.ts";
import type { CachedScript } from "./script.ts";
import type { Store } from "./store.ts";

/** What is known of a script for `rt cache why`. */
export interface Finding {
  readonly label: string;
  /** The root of the project; absent in what older versions wrote. */
  readonly root?: string;
  readonly at: number;
  readonly text: string;
  readonly key: string;
  readonly fields: readonly Field[];
}

export const FAILED = "its last run failed";

export function parseFinding(text: string | null): Finding | undefined {
  try {
    return text === null ? undefined : (JSON.parse(text) as Finding);
  } catch {
    return undefined;
  }
}

/** Those of one script. */
export class Findings {
  readonly #id: string;
  readonly #label: string;
  readonly #root: string;
  readonly #store: Store;
  readonly #known: KnownEntries;
  #last: { readonly finding: Finding | undefined } | undefined;

  constructor(
    root: string,
    packageDirectory: string,
    { label, scriptName }: Pick<CachedScript, "label" | "scriptName">,
    store: Store,
    known: KnownEntries,
  ) {
    this.#id = hashBytes(`${root}\0${packageDirectory}\0${scriptName}`);
    this.#label = label;
    this.#root = root;
    this.#store = store;
    this.#known = known;
  }

  /** Where it is kept. */
  get path(): string {
    return this.#store.findingPath(this.#id);
  }

  /** The one before this run said anything. */
  get last(): Finding | undefined {
    this.#last ??= { finding: parseFinding(this.#store.readFinding(this.#id)) };
    return this.#last.finding;
  }

  /** Why nothing that is kept was made by a script that was started like this. */
  explain({ fields }: Key): string {
    if (!this.last) return "it has not run before";
    const [, reason] = this.last.text.split(UNKEPT);
    const unkept =
      reason === undefined ? "its last run was not kept" : `its last run was not kept: ${reason}`;
    return compareKeys(this.last.fields, fields)[0] ?? unkept;
  }

  tell(text: string, { hash, fields }: Key, isHit: boolean): void {
    const print = hashBytes(JSON.stringify([this.#label, text, hash]));
    if (isHit && this.#known.isFound(this.#id, print)) return;
    const { last } = this;
    const [label, root] = [this.#label, this.#root];
    const finding: Finding = { label, root, at: Date.now(), text, key: hash, fields };
    const isSame = last?.text === text && last.key === hash && last.label === label && last.root === root;
    // A run of hits writes nothing.
    if (isHit && isSame) return this.#known.noteFound(this.#id, print);
    try {
      this.#store.writeFinding(this.#id, JSON.stringify(finding));
    } catch {
      // Nothing but an explanation is lost.
    }
  }
}

/** A path may have one condition of its own and one of what is in it. */
function countPaths(conditions: readonly Condition[]): number {
  const listed = conditions.filter(([kind]) => kind === "names");
  const isCounted = (path: string) => conditions.some(([kind, each]) => kind !== "names" && each === path);
  return conditions.length - listed.filter(([, path]) => isCounted(path)).length;
}

/** @param where it ran, if not here: for the end of a sentence */
export function describeHit({ conditions, created }: Entry, where = ""): string {
  const paths = conditions.length === 0 ? "declared" : `${countPaths(conditions)} paths`;
  const when = new Date(created).toISOString();
  return `nothing that it depends on (${paths}) has changed since ${when}${where}`;
}

/** Explains why an entry of another checkout does not apply here. */
export function describeForeignPlace({ root, mentioned }: KeptEntry): string {
  if (mentioned.includes(root))
    return `its output contains the path of the project, so it is valid only in ${root}`;
  const words = mentioned.map((word) => JSON.stringify(word)).join(", ");
  return `its output contains ${words} from the path of the project, so it is valid only in ${root}`;
}
