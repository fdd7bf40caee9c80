// Computes the cache key: the fields that describe how a script is started, and why each of them counts.
//
// Invariants:
// - Two runs with the same key have the same program, arguments, package and variables, in any checkout of the
//   project. Files on disk are checked by an entry's recorded dependencies.
// - Variables are stored as keyed hashes, so that the store contains no secret.
import { statSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";
import { VERSION } from "../../version.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import { countedVariables } from "./environment.ts";
import { isPassed } from "./variables.ts";
import { hashBytes, type FileHashCache } from "../store/file-hash-cache.ts";
import { MARKS, countedFolders, type UserFolders, withoutUserFolders } from "../relocation/user-folders.ts";
import { withoutBinariesAbove } from "../relocation/search-path.ts";
import { isBelow, toPortablePath, withoutRoot } from "../relocation/stored-path.ts";
import type { StatPath } from "../../../platform/tracing/contract/tracing.ts";

/** Version of the stored format; part of the store's directory name and of each key. */
export const FORMAT = 5;

export interface StartedStep {
  readonly event: string;
  readonly program: string;
  readonly argv: readonly string[];
}

export interface KeyRequest {
  readonly system: string;
  readonly root: string;
  /** The folders of the user, whose paths do not count. */
  readonly folders: UserFolders;
  readonly packageDirectory: string;
  readonly rule: CacheRule;
  /** Variables that count as they are: `env` of the rule, and those of --env-file. */
  readonly declared: readonly string[];
  readonly steps: readonly StartedStep[];
  /** Identifies its permissions, which decide the files that it can read. */
  readonly permissions?: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly secret: Uint8Array;
  /** Identifies the rt executable: development builds of one version differ. */
  readonly program: string;
  /** Files that are part of the key; absolute, sorted. */
  readonly inputs: readonly string[];
  /** Whether these files are the only inputs (no tracing). */
  readonly isDeclared: boolean;
}

/** The name of the field with the rule. It has no table, so that moving a rule to [tasks] leaves the key. */
export const RULE = "its rule";

/** Such a field is a folder of the user that is not the default one. */
export const FOLDER = "the folder ";
/** Such a field is the value of a variable. */
export const VARIABLE = "the variable ";

export interface Field {
  readonly name: string;
  readonly hash: string;
}

export interface CacheKey {
  readonly hash: string;
  readonly fields: readonly Field[];
  readonly inputs: readonly string[];
}

const texts = new Map<string, string>();

/** Memoizes hashes: most fields are equal for all scripts of a run. */
function hashText(text: string): string {
  let hash = texts.get(text);
  if (hash === undefined) texts.set(text, (hash = hashBytes(text)));
  return hash;
}

const variables = new Map<string, Map<string, string>>();

/** Memoizes hashes: most variables are equal for all scripts of a run. */
function variableHashes(secret: Uint8Array): (value: string) => string {
  const name = Buffer.from(secret).toString("hex");
  const known = variables.get(name) ?? new Map<string, string>();
  variables.set(name, known);
  return (value) => {
    let hash = known.get(value);
    if (hash === undefined) {
      // Invalid UTF-8 becomes lone surrogates, which would all have the same hash. The NUL avoids collisions: no
      // value contains it.
      const text = value.isWellFormed() ? value : `\0${JSON.stringify(value)}`;
      hash = new Bun.CryptoHasher("sha256", secret).update(text).digest("hex");
      known.set(value, hash);
    }
    return hash;
  };
}

/** Read once: the system returns it only when it is set. */
let umask: number | undefined;

export function currentUmask(): number {
  // oxlint-disable-next-line typescript/no-deprecated -- there is no other way to read it
  return (umask ??= process.umask());
}

export async function makeKey(request: KeyRequest, hashes: FileHashCache, stat: StatPath): Promise<CacheKey> {
  const { root, folders, packageDirectory, rule, steps, variables, secret, system, program, inputs } =
    request;
  const fields: Field[] = [];
  const add = (name: string, value: unknown) => fields.push({ name, hash: hashText(JSON.stringify(value)) });
  const portable = (text: string) => withoutUserFolders(withoutRoot(text, root), folders);
  const ownProgram = (path: string) => (path === process.execPath ? "\0rt" : portable(path));
  const hashesOf = variableHashes(secret);
  // Another version may start scripts differently.
  add("rt itself", [FORMAT, VERSION, program]);
  add("the system", system);
  // The root counts only for scripts that printed or stored it: src/cache/relocation/relocation.ts.
  add("the package's directory", toPortablePath(packageDirectory, root));
  if (!rule.isShared) add("the project's directory", root);
  // The program is the shell or executable that was found.
  for (const step of steps)
    add(`the script "${step.event}"`, [ownProgram(step.program), step.argv.map(ownProgram)]);
  add(
    "the names of its steps",
    steps.map(({ event }) => event),
  );
  // The rule decides which paths are recorded, so it changes the meaning of an entry.
  add(RULE, [rule.env, rule.inputs, rule.outputs, rule.ignore]);
  if (request.permissions !== undefined) add("its table of permissions", request.permissions);
  // The umask decides the mode of created files.
  add("the umask", currentUmask());
  if (request.declared.includes("UID")) add("the user", process.getuid?.() ?? null);
  for (const [name, value] of countedVariables(variables, request.declared, !request.isDeclared)) {
    const own = name === "PATH" ? withoutBinariesAbove(value, root) : value;
    // HOME that counts must not be replaced by the mark of HOME.
    const meant = isPassed(name) ? withoutRoot(own, root) : portable(own);
    fields.push({ name: VARIABLE + name, hash: hashesOf(meant) });
  }
  for (const [name, value] of countedFolders(variables, folders)) add(FOLDER + name, hashesOf(value));
  const relative = (variables.PATH ?? "").split(delimiter).filter((each) => !isAbsolute(each));
  if (relative.length > 0) add("the list of relative directories in PATH", relative);
  const inside = MARKS.flatMap((mark) => {
    const folder = folders[mark];
    return folder !== undefined && isBelow(folder, root) ? [[mark, toPortablePath(folder, root)]] : [];
  });
  // Paths in these are recorded as those of the project.
  if (inside.length > 0) add("the list of user folders in the project", inside);
  if (request.isDeclared) add("how its inputs are known", "declared");
  for (const path of inputs)
    fields.push({ name: toPortablePath(path, root), hash: await hashInput(path, hashes, stat) });
  return { hash: hashBytes(JSON.stringify(fields)), fields, inputs };
}

/** Returns the hash of a key input's content and mode, or of its state if it is not a file. */
export async function hashInput(path: string, hashes: FileHashCache, stat: StatPath): Promise<string> {
  const state = stat(path);
  const value = state.kind === "file" ? [await hashes.hash(path, state), state.mode] : state;
  return hashBytes(JSON.stringify(value));
}

/** Returns a fingerprint of the running executable that is valid on this machine. */
export function executableFingerprint(): string {
  if (stamp === undefined) {
    const { size, mtimeMs, ino } = statSync(process.execPath);
    stamp = `${ino}:${size}:${mtimeMs}`;
  }
  return stamp;
}

let stamp: string | undefined;

/**
 * Returns the content hash of a program, which is equal on every machine; "" if it cannot be read. Repeats the read
 * if the file's fingerprint changed, because a new hard link changes the ctime but not the content.
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

/** Returns the differences as texts. */
export function compareKeys(before: readonly Field[], now: readonly Field[]): string[] {
  const [old, fresh] = [before, now].map((fields) => new Map(fields.map(({ name, hash }) => [name, hash])));
  const differences: string[] = [];
  for (const [name, hash] of fresh!) {
    const previous = old!.get(name);
    if (previous === undefined) differences.push(`${name} was added`);
    else if (previous !== hash) differences.push(`${name} changed`);
  }
  for (const name of old!.keys()) if (!fresh!.has(name)) differences.push(`${name} was removed`);
  return differences;
}
