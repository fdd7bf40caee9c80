// Converts path observations of a lookup into stat fingerprints, by which a run memo is validated.
//
// Invariants:
// - A fingerprint is taken only if the path still has the observed kind and did not change since the run began. So it
//   describes what was observed.
// - A directory that was not listed counts by its type and permissions only.
//
// Non-obvious:
// - A fingerprint does not cover symlinks in the path's parents. An `lstat` observation has them among its paths; for
//   an observation through a link see `#addLink`.
import type { PathState } from "../../../platform/tracing/contract/tracing.ts";
import {
  ABSENT,
  DIRECTORY,
  KIND,
  LINK,
  type StatFingerprintReader,
  TIMESTAMP_GRANULARITY,
} from "../../../platform/files/contract/stat-fingerprint.ts";
import type { LookupRecorder } from "../../../platform/files/lookup-recorder.ts";
import { stamps } from "../../../platform/files/stat-fingerprint.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import { isBelow } from "../relocation/stored-path.ts";

/** How a path was observed. `content` follows links, `state` does not. */
export interface PathObservation {
  readonly how: "state" | "names" | "content" | "way";
  /** Undefined if it exists with any type. */
  readonly kind?: PathState["kind"] | undefined;
}

export type PathObservations = Map<string, PathObservation>;

type ObservedKind = PathState["kind"] | undefined;

const observations = new Map<PathObservation["how"], Map<ObservedKind, PathObservation>>();

/** Returns the same object for equal values: there are far more observations than different ones. */
export function internObservation(how: PathObservation["how"], kind?: ObservedKind): PathObservation {
  let cached = observations.get(how);
  if (!cached) observations.set(how, (cached = new Map<ObservedKind, PathObservation>()));
  let observation = cached.get(kind);
  if (!observation) cached.set(kind, (observation = { how, kind }));
  return observation;
}

/** The observations that made a script a hit. */
export interface HitEvidence {
  readonly observations: ReadonlyMap<string, PathObservation>;
  /** Blob hash of the output log. */
  readonly log: string;
  /** When the entry was last marked as used, in milliseconds since 1970. */
  readonly used: number;
}

interface ObservationRoot {
  readonly root: string;
  readonly packageDirectory: string;
  readonly observations?: PathObservations | undefined;
}

interface HitFiles {
  /** The entry's file, and the file of the script's explanation. */
  readonly file: string;
  readonly explanation: string;
  readonly log: string;
}

/** Returns undefined if paths do not prove the hit, or no run memo will be written. */
export function hitEvidenceOf(
  { inputs }: CacheRule,
  { root, packageDirectory, observations: recorded }: ObservationRoot,
  { file, explanation, log }: HitFiles,
): HitEvidence | undefined {
  if (!recorded) return undefined;
  const { dirname, resolve } = process.getBuiltinModule("node:path");
  const observations = new Map(recorded);
  for (const glob of inputs) {
    if (glob.startsWith("!")) continue;
    const kind = observations.get(resolve(packageDirectory, glob))?.kind;
    if (GLOB.test(glob) || (kind !== "file" && kind !== "absent")) return undefined;
  }
  if (packageDirectory !== root && !isBelow(packageDirectory, root)) return undefined;
  for (let at = packageDirectory; at !== root; at = dirname(at))
    if (!observations.has(at)) observations.set(at, internObservation("state", "directory"));
  for (const path of [file, explanation]) observations.set(path, internObservation("state"));
  observations.set(dirname(file), internObservation("names"));
  const used = process.getBuiltinModule("node:fs").statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return used === undefined ? undefined : { observations, log, used };
}

const GLOB = /[*?[\]{}]/;

/** Flags of a row: whether links are followed; whether the whole fingerprint counts, or only type and permissions. */
export const FOLLOWS = 1;
export const WHOLE = 2;

const encoder = new TextEncoder();

export interface FingerprintRow {
  readonly path: string;
  readonly how: number;
  readonly fingerprint: Uint32Array;
}

/** Takes the fingerprints of observed paths. */
export class StatFingerprinter {
  readonly #before: number;
  readonly #path = new Uint8Array(new ArrayBuffer(MAX_PATH));
  readonly #reader: StatFingerprintReader | undefined;
  readonly #cached = new Map<PathObservation, Map<string, readonly FingerprintRow[] | null>>();

  /** @param begin of the run, in milliseconds since 1970 */
  constructor(begin: number) {
    this.#before = begin - TIMESTAMP_GRANULARITY;
    this.#reader = stamps?.openFingerprints(this.#path);
  }

  /** Returns null if a path has changed, or might have. */
  fingerprint(
    observations: Iterable<readonly [path: string, observation: PathObservation]>,
  ): FingerprintRow[] | null {
    const rows: FingerprintRow[] = [];
    for (const [path, observation] of observations) {
      const cached = this.#lookUp(path, observation);
      if (cached === null) return null;
      for (const row of cached) rows.push(row);
    }
    return rows;
  }

  /** Memoizes rows, because scripts share most paths. */
  #lookUp(path: string, observation: PathObservation): readonly FingerprintRow[] | null {
    let paths = this.#cached.get(observation);
    if (!paths) this.#cached.set(observation, (paths = new Map<string, readonly FingerprintRow[] | null>()));
    let rows = paths.get(path);
    if (rows === undefined) paths.set(path, (rows = this.#rowsOf(path, observation)));
    return rows;
  }

  #rowsOf(path: string, { how, kind }: PathObservation): FingerprintRow[] | null {
    const fingerprint = this.#take(path, false);
    if (!fingerprint) return null;
    if (isAbsent(fingerprint)) {
      const isMissing = MISSING.has(fingerprint[0]! - ABSENT);
      return kind === "absent" && isMissing ? [{ path, how: WHOLE, fingerprint }] : null;
    }
    const type = fingerprint[0]! & KIND;
    if (kind === "absent" || (kind !== undefined && KINDS[kind] !== undefined && KINDS[kind] !== type))
      return null;
    if (type === LINK && how !== "state") return this.#addLink(path, how, fingerprint);
    if (type === DIRECTORY && how !== "names") return [{ path, how: 0, fingerprint }];
    if (type !== DIRECTORY && type !== FILE && type !== LINK) return [{ path, how: 0, fingerprint }];
    return this.#isSettled(fingerprint) ? [{ path, how: WHOLE, fingerprint }] : null;
  }

  /** Adds the target of a link. For a directory, all parents of the target are added. */
  #addLink(path: string, how: PathObservation["how"], fingerprint: Uint32Array): FingerprintRow[] | null {
    if (!this.#isSettled(fingerprint)) return null;
    const own = { path, how: WHOLE, fingerprint };
    const end = this.#take(path, true);
    if (!end || isAbsent(end)) return null;
    const isDirectory = (end[0]! & KIND) === DIRECTORY;
    if (!isDirectory)
      return this.#isSettled(end) ? [own, { path, how: FOLLOWS | WHOLE, fingerprint: end }] : null;
    if (how === "names") return null;
    const { readlinkSync, realpathSync } = process.getBuiltinModule("node:fs");
    const { dirname, resolve } = process.getBuiltinModule("node:path");
    const target = resolve(dirname(path), readlinkSync(path));
    if (realpathSync(path) !== target) return null;
    const rows: FingerprintRow[] = [own];
    for (let at = target; ; at = dirname(at)) {
      const state = this.#take(at, false);
      if (!state || (state[0]! & KIND) !== DIRECTORY) return null;
      rows.push({ path: at, how: 0, fingerprint: state });
      if (at === dirname(at)) return rows;
    }
  }

  #isSettled(fingerprint: Uint32Array): boolean {
    return stamps!.changeTimeOf(fingerprint) < this.#before;
  }

  #take(path: string, follows: boolean): Uint32Array | undefined {
    const { read, written } = encoder.encodeInto(path, this.#path);
    const isWhole = read === path.length && written < this.#path.length;
    if (!isWhole || path.includes("\0") || !path.isWellFormed()) return undefined;
    this.#path[written] = 0;
    return this.#reader?.take(0, follows).slice();
  }
}

const MAX_PATH = 4096;
/** ENOENT, EACCES of a folder above the path, and ENOTDIR. */
const MISSING: ReadonlySet<number> = new Set([2, 13, 20]);
const FILE = 0o100000;
const KINDS: Partial<Record<PathState["kind"], number>> = { file: FILE, directory: DIRECTORY, link: LINK };

function isAbsent(fingerprint: Uint32Array): boolean {
  return fingerprint[0]! >= ABSENT;
}

export function lookupObservations({ paths }: LookupRecorder): [string, PathObservation][] {
  return [...paths].map(([path, { how, isThere }]) => [
    path,
    internObservation(how, isThere ? undefined : "absent"),
  ]);
}
