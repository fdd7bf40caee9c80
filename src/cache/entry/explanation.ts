// Explains the last cache hit or miss of a script: for `rt cache why`, and for the next lookup.
import { type CacheEntry, type Mention, OUTPUT, type RecordedDependency, ROOT_MENTION } from "./entry.ts";
import { toPortablePath } from "../relocation/stored-path.ts";
import { hashBytes } from "../store/file-hash-cache.ts";
import { NOT_CACHED } from "./uncacheable-reasons.ts";
import {
  type CacheKey,
  compareKeys,
  currentUmask,
  type Field,
  FOLDER,
  RULE,
  VARIABLE,
} from "../key/cache-key.ts";
import { tableOf } from "../key/rule-line.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import type { EntrySnapshot } from "./entry-snapshot.ts";
import type { CachedScript } from "../cached-script.ts";
import type { CacheStore } from "../store/cache-store.ts";

export interface CacheExplanation {
  readonly label: string;
  /** The root of the project; missing in files of older versions. */
  readonly root?: string;
  readonly at: number;
  readonly text: string;
  readonly key: string;
  readonly fields: readonly Field[];
}

export const FAILED = "the last run failed";

export function parseExplanation(text: string | null): CacheExplanation | undefined {
  try {
    return text === null ? undefined : (JSON.parse(text) as CacheExplanation);
  } catch {
    return undefined;
  }
}

/** Reads and writes the explanation of one script. */
export class ScriptExplanations {
  readonly #id: string;
  readonly #label: string;
  readonly #root: string;
  readonly #store: CacheStore;
  readonly #snapshot: EntrySnapshot;
  #last: { readonly explanation: CacheExplanation | undefined } | undefined;

  constructor(
    root: string,
    packageDirectory: string,
    { label, scriptName }: Pick<CachedScript, "label" | "scriptName">,
    store: CacheStore,
    snapshot: EntrySnapshot,
  ) {
    this.#id = hashBytes(`${root}\0${packageDirectory}\0${scriptName}`);
    this.#label = label;
    this.#root = root;
    this.#store = store;
    this.#snapshot = snapshot;
  }

  /** The file of the explanation. */
  get path(): string {
    return this.#store.explanationPath(this.#id);
  }

  get last(): CacheExplanation | undefined {
    this.#last ??= { explanation: parseExplanation(this.#store.readExplanation(this.#id)) };
    return this.#last.explanation;
  }

  /**
   * Explains why the key has no entry: returns all differences from the last run, files of the project first.
   *
   * @param files differences of files from the entry of the last run
   */
  explain({ fields, inputs }: CacheKey, rule: CacheRule, files: readonly string[]): string {
    if (!this.last) return "no earlier run";
    const [, reason] = this.last.text.split(NOT_CACHED);
    const unkept =
      reason === undefined ? "the last run was not cached" : `the last run was not cached: ${reason}`;
    const differences = compareKeys(this.last.fields, fields).map((text) =>
      text.startsWith(`${RULE} `) ? text.replace(RULE, () => `${RULE} in ${tableOf(rule)}`) : text,
    );
    if (differences.length === 0) return unkept;
    const names = inputs.map((path) => `${toPortablePath(path, this.#root)} `);
    const isOwn = (text: string) =>
      text.startsWith(this.#root) || names.some((name) => text.startsWith(name));
    const all = [...files, ...differences];
    return describeDifferences([...all.filter(isOwn), ...all.filter((each) => !isOwn(each))]);
  }

  record(text: string, { hash, fields }: CacheKey, isHit: boolean): void {
    const fingerprint = hashBytes(JSON.stringify([this.#label, text, hash]));
    if (isHit && this.#snapshot.hasExplanation(this.#id, fingerprint)) return;
    const { last } = this;
    const [label, root] = [this.#label, this.#root];
    const explanation: CacheExplanation = { label, root, at: Date.now(), text, key: hash, fields };
    const isSame = last?.text === text && last.key === hash && last.label === label && last.root === root;
    // A run of hits writes nothing.
    if (isHit && isSame) return this.#snapshot.addExplanation(this.#id, fingerprint);
    try {
      this.#store.writeExplanation(this.#id, JSON.stringify(explanation));
    } catch {
      // Only the explanation is lost.
    }
  }
}

/** Differences that one line names. */
const MAX_NAMED = 8;

/** Returns a line without line feed. */
export function describeDifferences(differences: readonly string[]): string {
  const rest = differences.length - MAX_NAMED;
  const named = differences.slice(0, rest > 0 ? MAX_NAMED : undefined);
  return [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ");
}

/** Inputs of a key that one line names. */
const MAX_INPUTS = 3;

/** Returns which values of the key no shared result has: users differ in these. */
export function describeUnshared({ inputs, fields }: CacheKey, { env }: CacheRule, root: string): string {
  const files =
    inputs.length > MAX_INPUTS ? ["its inputs"] : inputs.map((path) => toPortablePath(path, root));
  const folders = fields.flatMap(({ name }) => (name.startsWith(FOLDER) ? [name.slice(FOLDER.length)] : []));
  const hasManifest = fields.some(({ name }) => name.startsWith(`${VARIABLE}npm_package_`));
  const values = [
    ...["this command", "row", `umask (${currentUmask().toString(8)})`],
    `user folders (${folders.join(", ") || "default"})`,
    ...[...(hasManifest ? ["fields of package.json (npm_package_*)"] : []), ...env, ...files],
  ];
  return `no shared result has ${values.slice(0, -1).join(", ")} and ${values.at(-1)!}`;
}

/** Counts a path once if it has a dependency on its state and one on its listing. */
function countPaths(conditions: readonly RecordedDependency[]): number {
  const listed = conditions.filter(([kind]) => kind === "names");
  const isCounted = (path: string) => conditions.some(([kind, each]) => kind !== "names" && each === path);
  return conditions.length - listed.filter(([, path]) => isCounted(path)).length;
}

/** @param origin the shared cache or another checkout; undefined for an entry of this checkout */
export function describeHit({ conditions, created }: CacheEntry, origin?: string): string {
  const count = conditions.length === 0 ? "declared" : countPaths(conditions);
  const line = `all ${count} inputs are unchanged since ${new Date(created).toISOString()}`;
  return origin === undefined ? line : `${line} (${origin})`;
}

/** Explains why an entry does not apply to this checkout or user. @param root of the checkout in which the script ran */
export function describeMention([name, file]: Mention, root: string): string {
  const where = file === OUTPUT ? "its output" : file;
  if (name === ROOT_MENTION)
    return `${where} contains ${JSON.stringify(root)}, the path of the project, so the result is valid only there; use the same path for all checkouts`;
  return `${where} contains the value of ${name}, so the result is valid only with that value`;
}
