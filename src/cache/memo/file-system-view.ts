// Opens the view of the file system through which a script's inputs and outputs are examined.
import type { ListDirectory, StatPath } from "../../../platform/tracing/contract/tracing.ts";
import { statPath } from "../../../platform/files/path-state.ts";
import { keepUnignored } from "../../workspace/package-files.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import type { EntrySnapshot } from "../entry/entry-snapshot.ts";
import { openHashes } from "../store/file-hash-persistence.ts";
import { alwaysIgnored, matcher } from "../key/rule-globs.ts";
import { isBelow } from "../relocation/stored-path.ts";
import { internObservation, type PathObservations } from "./path-observations.ts";
import type { ProjectView } from "../entry/entry-builder.ts";
import type { StatCache } from "./stat-cache.ts";
import type { SharedCache } from "../shared-cache.ts";
import type { CacheStore } from "../store/cache-store.ts";

/** Shared by the scripts of a run. */
export interface CacheContext {
  /** Undefined if inputs are declared. */
  readonly isTraced: boolean;
  readonly store: CacheStore;
  readonly shared: SharedCache | undefined;
  readonly statCache: StatCache;
  readonly snapshot: EntrySnapshot;
  /** The environment in which rt was started. */
  readonly original: Readonly<Record<string, string>>;
  /** Whether a run memo will be written. */
  readonly isEvidenceRecorded: boolean;
}

export function openProjectView(
  rule: CacheRule,
  root: string,
  packageDirectory: string,
  { store, statCache, isEvidenceRecorded }: CacheContext,
): ProjectView {
  const ignored = matcher(rule.ignore, packageDirectory, root);
  const always = alwaysIgnored(root);
  const observations: PathObservations | undefined = isEvidenceRecorded ? new Map() : undefined;
  return {
    ...(observations
      ? recordObservations(statCache, observations)
      : { stat: statCache.stat, list: statCache.list }),
    observations,
    statCache,
    hashes: openHashes(root, statPath, store),
    // The store is never an input.
    isIgnored: (path) => ignored(path) || always(path) || isBelow(path, store.directory),
    root,
    isDeclared: matcher(rule.outputs, packageDirectory),
    declared: rule.outputs,
    packageDirectory,
    selectSources: async (paths) => await keepUnignored(root, paths),
    addFile: async (path, state) => {
      const hash = await store.addFile(path);
      const now = statPath(path);
      return now.kind === "file" && now.stamp === state.stamp ? hash : null;
    },
  };
}

function recordObservations(
  statCache: StatCache,
  observations: PathObservations,
): { readonly stat: StatPath; readonly list: ListDirectory } {
  return {
    stat(path) {
      const state = statCache.stat(path);
      if (observations.get(path)?.how !== "names")
        observations.set(path, internObservation("state", state.kind));
      return state;
    },
    list(path) {
      const names = statCache.list(path);
      observations.set(path, internObservation("names", names ? "directory" : "absent"));
      return names;
    },
  };
}
