// What a script's inputs and outputs are looked at by: the files as a run has seen them, and which of them count.
import type { ListDirectory, StatPath, TracingOperations } from "../../platform/contract/tracing.ts";
import { statPath } from "../../platform/path-state.ts";
import { keepUnignored } from "../workspace/package-files.ts";
import type { CacheRule } from "../settings/cache.ts";
import type { EntrySnapshot } from "./known-entries.ts";
import { openHashes } from "./memory.ts";
import { alwaysIgnored, matcher } from "./patterns.ts";
import { isBelow } from "./place.ts";
import { internObservation, type PathObservations } from "./sights.ts";
import type { ProjectView } from "./record.ts";
import type { StatCache } from "./seen.ts";
import type { SharedCache } from "./shared.ts";
import type { CacheStore } from "./store.ts";

/** What the scripts of a run share. */
export interface CacheContext {
  /** Absent where inputs are declared. */
  readonly tracing: TracingOperations | undefined;
  readonly store: CacheStore;
  readonly shared: SharedCache | undefined;
  readonly seen: StatCache;
  readonly known: EntrySnapshot;
  /** What rt was started with. */
  readonly original: Readonly<Record<string, string>>;
  /** Whether somebody wants to know what a hit was found by. */
  readonly isNoted: boolean;
}

export function openWorld(
  rule: CacheRule,
  root: string,
  packageDirectory: string,
  { store, seen, isNoted }: CacheContext,
): ProjectView {
  const ignored = matcher(rule.ignore, packageDirectory, root);
  const always = alwaysIgnored(root);
  const sights: PathObservations | undefined = isNoted ? new Map() : undefined;
  return {
    ...(sights ? noting(seen, sights) : { look: seen.look, list: seen.list }),
    sights,
    seen,
    hashes: openHashes(root, statPath, store),
    // The store is no input of anything, wherever it is.
    isIgnored: (path) => ignored(path) || always(path) || isBelow(path, store.directory),
    root,
    isDeclared: matcher(rule.outputs, packageDirectory),
    declared: rule.outputs,
    packageDirectory,
    sourcesAmong: async (paths) => await keepUnignored(root, paths),
    keep: async (path, state) => {
      const hash = await store.addFile(path);
      const now = statPath(path);
      return now.kind === "file" && now.stamp === state.stamp ? hash : null;
    },
  };
}

function noting(
  seen: StatCache,
  sights: PathObservations,
): { readonly look: StatPath; readonly list: ListDirectory } {
  return {
    look(path) {
      const state = seen.look(path);
      if (sights.get(path)?.how !== "names") sights.set(path, internObservation("state", state.kind));
      return state;
    },
    list(path) {
      const names = seen.list(path);
      sights.set(path, internObservation("names", names ? "directory" : "absent"));
      return names;
    },
  };
}
