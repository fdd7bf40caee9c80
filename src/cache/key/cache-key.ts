// What has to be the same before earlier runs are looked at, field by field, each with the reason why it counts.
//
// Contract: two runs with the same key were started in the same way: the same program, words, package and variables, in
// whichever checkout of the project. What
// they then find on the disk is a matter of an entry's conditions. Values of variables are kept as keyed hashes, so that
// what is stored tells nobody a secret.
import { statSync } from "node:fs";
import { VERSION } from "../../version.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import { countedVariables } from "./environment.ts";
import { hashBytes, type FileHashCache } from "../store/file-hash-cache.ts";
import { toPortablePath, withoutBinariesAbove, withoutRoot } from "../entry/relocation.ts";
import type { StatPath } from "../../../platform/tracing/contract/tracing.ts";

/** Of what is stored; another one finds nothing of this. */
export const FORMAT = 4;

export interface StartedStep {
  readonly event: string;
  readonly program: string;
  readonly argv: readonly string[];
}

export interface KeyRequest {
  readonly system: string;
  readonly root: string;
  readonly packageDirectory: string;
  readonly rule: CacheRule;
  readonly steps: readonly StartedStep[];
  readonly variables: Readonly<Record<string, string>>;
  readonly secret: Uint8Array;
  /** What tells this rt from others: of one version there are several while it is being made. */
  readonly program: string;
  /** Files that count whatever the script does; absolute, sorted. */
  readonly inputs: readonly string[];
  /** Whether these are all that counts. */
  readonly isDeclared: boolean;
}

export interface Field {
  /** As people are told it. */
  readonly name: string;
  readonly hash: string;
}

export interface CacheKey {
  readonly hash: string;
  readonly fields: readonly Field[];
  /** Those of the request. */
  readonly inputs: readonly string[];
}

const texts = new Map<string, string>();

/** Most fields are the same for all scripts of a run. */
function hashText(text: string): string {
  let hash = texts.get(text);
  if (hash === undefined) texts.set(text, (hash = hashBytes(text)));
  return hash;
}

const variables = new Map<string, Map<string, string>>();

/** Most variables of a run are the same for all of its scripts. */
function variableHashes(secret: Uint8Array): (value: string) => string {
  const name = Buffer.from(secret).toString("hex");
  const known = variables.get(name) ?? new Map<string, string>();
  variables.set(name, known);
  return (value) => {
    let hash = known.get(value);
    if (hash === undefined) {
      // Bytes that are not UTF-8 are lone surrogates, which would all be hashed as one; no value has a NUL in it.
      const text = value.isWellFormed() ? value : `\0${JSON.stringify(value)}`;
      hash = new Bun.CryptoHasher("sha256", secret).update(text).digest("hex");
      known.set(value, hash);
    }
    return hash;
  };
}

/** Asked once: the system tells it only by setting another one for a moment. */
let umask: number | undefined;

export async function makeKey(request: KeyRequest, hashes: FileHashCache, stat: StatPath): Promise<CacheKey> {
  const { root, packageDirectory, rule, steps, variables, secret, system, program, inputs } = request;
  const fields: Field[] = [];
  const add = (name: string, value: unknown) => fields.push({ name, hash: hashText(JSON.stringify(value)) });
  const placeless = (text: string) => withoutRoot(text, root);
  const hashesOf = variableHashes(secret);
  // Another rt may start scripts otherwise.
  add("rt itself", [FORMAT, VERSION, program]);
  add("the system", system);
  // Where the root is counts only for scripts that have seen it: src/cache/entry/relocation.ts.
  add("the package's directory", toPortablePath(packageDirectory, root));
  if (!rule.isShared) add("the project's directory", root);
  // With the arguments, as the shell gets them, and the shell or program that was found for them.
  for (const step of steps)
    add(`the script "${step.event}"`, [placeless(step.program), step.argv.map(placeless)]);
  add(
    "the names of its steps",
    steps.map(({ event }) => event),
  );
  // What it leaves out of the record is a part of what the record means.
  add("its rule in [run.cache]", [rule.env, rule.inputs, rule.outputs, rule.ignore]);
  // Files that are made get it.
  // oxlint-disable-next-line typescript/no-deprecated -- there is no other way to read it
  add("the umask", (umask ??= process.umask()));
  // Some tools do otherwise for root.
  add("the user", process.getuid?.() ?? null);
  for (const [name, value] of countedVariables(variables)) {
    const meant = placeless(name === "PATH" ? withoutBinariesAbove(value, root) : value);
    fields.push({ name: `the variable ${name}`, hash: hashesOf(meant) });
  }
  if (request.isDeclared) add("how its inputs are known", "declared");
  for (const path of inputs)
    fields.push({ name: toPortablePath(path, root), hash: await hashInput(path, hashes, stat) });
  return { hash: hashBytes(JSON.stringify(fields)), fields, inputs };
}

/** What a key has of a file that counts. */
export async function hashInput(path: string, hashes: FileHashCache, stat: StatPath): Promise<string> {
  const state = stat(path);
  const value = state.kind === "file" ? [await hashes.hash(path, state), state.mode] : state;
  return hashBytes(JSON.stringify(value));
}

/** Of this program, as it was started: enough on one machine. */
export function executableFingerprint(): string {
  if (stamp === undefined) {
    const { size, mtimeMs, ino } = statSync(process.execPath);
    stamp = `${ino}:${size}:${mtimeMs}`;
  }
  return stamp;
}

let stamp: string | undefined;

/**
 * The same of a program on every machine; "" where it cannot be read. It is read again when it looks like another one
 * afterwards: somebody may just have made a hard link to it, which is no other content.
 */
export async function hashOf(path: string, hashes: FileHashCache, stat: StatPath): Promise<string> {
  for (let reading = 0; reading < MAX_READS; reading += 1) {
    const state = stat(path);
    const hash = state.kind === "file" ? await hashes.hash(path, state) : null;
    if (hash !== null) return hash;
  }
  return "";
}

const MAX_READS = 3;

/** What is different, in words; at most a few. */
export function compareKeys(before: readonly Field[], now: readonly Field[]): string[] {
  const [old, fresh] = [before, now].map((fields) => new Map(fields.map(({ name, hash }) => [name, hash])));
  const differences: string[] = [];
  for (const [name, hash] of fresh!) {
    const previous = old!.get(name);
    if (previous === undefined) differences.push(`${name} is new`);
    else if (previous !== hash) differences.push(`${name} has changed`);
  }
  for (const name of old!.keys()) if (!fresh!.has(name)) differences.push(`${name} is not there any more`);
  return differences;
}
