// Writes the memo of a start: what the front (platform/native/linux/front/memo.h) does for the same command line, until a path that
// was looked up changes.
//
// Invariants:
// - A memo names what its plan depends on: rt's file, directory, words, variables, and stat fingerprints of paths. A lookup that
//   cannot be recorded prevents the memo, and so do other variables, output, and secrets.
// - It contains no arguments, and of the environment only START_VARIABLES.
// - The number of memos is bounded: each has one of SLOTS places, and replaces the memo that was there.
import { replaceFile } from "../../../platform/files/file-replacement.ts";
import { findRecordedPath } from "../../../platform/files/real-path.ts";
import type { LookupRecorder } from "../../../platform/files/lookup-recorder.ts";
import { readOwner, realPathOf } from "../../../platform/files/path-owner.ts";
import { requireOwnDirectory } from "../../../platform/files/path-ownership.ts";
import { makePrivate } from "../../../platform/files/private-file.ts";
import { host } from "../../../platform/processes/process.ts";
import { lookupObservations, StatFingerprinter } from "../../cache/memo/path-observations.ts";
import { isNamed } from "../../variable-names.ts";
import { isCacheInProject } from "../../config/cache-directory.ts";
import type { Replacement, Restrictions } from "../script/replacement.ts";
import { BASH_VARIABLES } from "../script/shell.ts";

/** The first variable with an absolute path counts. The number changes with the form of the files. */
export const MEMO_PLACES = [
  { variable: "XDG_CACHE_HOME", below: "/rt/starts-1" },
  { variable: "HOME", below: "/.cache/rt/starts-1" },
] as const;

/** Bytes. The front reads no longer memo. */
const LARGEST_MEMO = 64 * 1024;

/** Files are named by numbers below this one. */
const SLOTS = 4096;

/**
 * Beginnings of entries of the environment. They decide about the command, its `$ command` line, the settings, or the folder of
 * the links to rt. Other variables reach the script unchanged.
 */
export const START_VARIABLES: readonly string[] = [
  ...["PATH=", "PWD=", "OLDPWD=", "SHLVL=", "RT_SCRIPTS=", "TERM=", "NO_COLOR=", "FORCE_COLOR=", "BASH"],
  ...["XDG_RUNTIME_DIR=", "TMPDIR=", "TMP=", "TEMP="],
  ...["RT_CONCURRENCY=", "TURBO_", "npm_config_loglevel=", "npm_lifecycle_event="],
  ...["HOME=", "RT_PERMISSIONS=", "RES_OPTIONS=", "npm_package_json="],
  ...BASH_VARIABLES.map((name) => `${name}=`),
];

/** Beginnings of entries of START_VARIABLES that no memo may contain. */
const CREDENTIALS = ["TURBO_TOKEN=", "TURBO_REMOTE_CACHE_SIGNATURE_KEY="];

/** Variables with which the front does not look for a memo. */
const DOUBTFUL = ["RT_DEBUG"];

const encoder = new TextEncoder();

export interface MemoizedStart {
  /** The words that select the memo, after `rt`. */
  readonly words: readonly string[];
  readonly lookups: LookupRecorder;
  /** Milliseconds since 1970, before the first lookup. */
  readonly begin: number;
  /** Undefined if the memo says only that the engine starts without a hint. */
  readonly script?: Replacement;
}

/** Does nothing if the start cannot be memoized. */
export function writeStartMemo({ words, lookups, begin, script }: MemoizedStart): void {
  // The front makes the private folder in the same place, which must not become a symlink.
  if (script?.restrictions) findRecordedPath(folderAbove(script.restrictions.temporary));
  if (!mayReplay(lookups) || host.originalVariable("RT_FRONT") === "off") return;
  try {
    if (openMemoDirectory(true) === undefined) return;
    const key = encodeTexts([process.execPath, process.cwd(), ...words, "", ...startEntries(), ""]);
    lookups.note(process.execPath, "content", true);
    const rows = lookups.isWhole
      ? new StatFingerprinter(begin).fingerprint(lookupObservations(lookups))
      : null;
    if (!rows) return;
    const parts = rows.flatMap(({ path, how, fingerprint }) => [
      encodeTexts([`${how}${path}`]),
      new Uint8Array(fingerprint.buffer),
    ]);
    const replay = encodeTexts(["", ...(script ? replayOf(script) : [])]);
    const memo = concatenate([key, ...parts, replay]);
    const directory = memo.length < LARGEST_MEMO ? openMemoDirectory(false) : undefined;
    if (directory !== undefined) replaceFile?.(`${directory}/${slotOf(key)}`, memo);
  } catch {
    // TypeScript then decides the next start, too.
  }
}

/** Whether nothing has decided that a memo does not name. */
function mayReplay({ mayReplay, variables }: LookupRecorder): boolean {
  const isInKey = (name: string) => START_VARIABLES.some((beginning) => `${name}=`.startsWith(beginning));
  return mayReplay && [...variables].every((name) => isInKey(name) || DOUBTFUL.includes(name));
}

/** Each with a NUL behind it. @throws Error for a text that has no exact form */
function encodeTexts(texts: readonly string[]): Uint8Array {
  for (const text of texts)
    if (text.includes("\0") || !text.isWellFormed()) throw new Error("A text has no exact form");
  return encoder.encode(`${texts.join("\0")}\0`);
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.length;
  }
  return whole;
}

/** @throws Error if one is a credential */
function startEntries(): string[] {
  const entries = Object.entries(host.originalEnvironment())
    .map(([name, value]) => `${name}=${value}`)
    .filter((entry) => START_VARIABLES.some((beginning) => entry.startsWith(beginning)));
  if (entries.some((entry) => CREDENTIALS.some((beginning) => entry.startsWith(beginning))))
    throw new Error("A variable is a credential");
  return entries;
}

/** FNV-1a. */
function slotOf(key: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of key) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0) % SLOTS;
}

function replayOf(replacement: Replacement): string[] {
  const { lines, directory, command, restrictions } = replacement;
  if (restrictions) return restrictedReplayOf(replacement, restrictions);
  const { program, argv, environment, engine } = command;
  const changes: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined) changes.push(`${name}=${value}`);
    else if (host.originalVariable(name) !== undefined) throw new Error("A variable is removed");
  }
  if (engine || argv.includes("")) throw new Error("The start has another form");
  const shown = lines ? lines.map((line) => `${line}\n`) : ["", ""];
  return [...shown, directory, program, ...argv, "", ...changes, ""];
}

function folderAbove(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** Replaces the path of the private folder, which differs at each start. */
const FOLDER_MARK = "\u0001";
/** Characters at the end of its name. */
const RANDOM_LENGTH = 6;

function restrictedReplayOf(
  { lines, directory, command }: Replacement,
  { version, network, output, temporary, inherited, rules }: Restrictions,
): string[] {
  const { program, argv, environment, engine } = command;
  const mark = (text: string) => {
    if (text.includes(FOLDER_MARK)) throw new Error("A text has no exact form");
    return text.replaceAll(temporary, FOLDER_MARK);
  };
  const original = host.originalEnvironment();
  // In a script, and in one with permissions, more variables decide.
  if (original.RT_PERMISSIONS !== undefined || original.npm_package_json !== undefined)
    throw new Error("The start is in another script");
  const changes: string[] = [];
  for (const [name, value] of Object.entries(environment))
    if (original[name] !== value || !isNamed(name, inherited)) changes.push(mark(`${name}=${value}`));
  const isLost = (name: string) => isNamed(name, inherited) && environment[name] === undefined;
  const words = [...argv, ...inherited, ...rules];
  if (engine || Object.keys(original).some(isLost) || words.includes("") || !program.startsWith("/"))
    throw new Error("The start has another form");
  const shown = lines ? lines.map((line) => `${line}\n`) : ["", ""];
  return [
    ...[...shown, directory, program, ...argv, "", ...changes, ""],
    ...[output, version, network, temporary.slice(0, -RANDOM_LENGTH)],
    ...[...inherited, "", ...rules.map(mark), ""],
  ];
}

/**
 * Returns the real path of the folder of memos, and creates it if it is absent. Each folder from the variable's value on must be
 * private, or the front would not read the memo.
 *
 * @param isOnlyChecked creates nothing
 * @throws an Error for another folder
 */
function openMemoDirectory(isOnlyChecked: boolean): string | undefined {
  const place = MEMO_PLACES.find(({ variable }) => host.originalVariable(variable)?.startsWith("/"));
  if (!place || !readOwner(host.originalVariable(place.variable)!)) return undefined;
  let directory = "";
  for (const part of [host.originalVariable(place.variable)!, ...place.below.slice(1).split("/")]) {
    const path = directory === "" ? part : `${directory}/${part}`;
    const isAbsent = !readOwner(path);
    if (isAbsent && isOnlyChecked) break;
    directory = isAbsent ? path : realPathOf(path);
    makePrivate(directory);
  }
  if (isCacheInProject(directory)) return undefined;
  return requireOwnDirectory(directory);
}
