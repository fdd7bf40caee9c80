// What a script's inputs and outputs are looked at by: the files as a run has seen them, and which of them count.
import type { List, Look, TracingOperations } from "../../platform/contract/tracing.ts";
import { look } from "../../platform/path-state.ts";
import { keepUnignored } from "../workspace/package-files.ts";
import type { CacheRule } from "../settings/cache.ts";
import type { KnownEntries } from "./known-entries.ts";
import { openHashes } from "./memory.ts";
import { alwaysIgnored, matcher } from "./patterns.ts";
import { isBelow } from "./place.ts";
import { sightOf, type Sights } from "./sights.ts";
import type { Rooted } from "./record.ts";
import type { Seen } from "./seen.ts";
import type { SharedCache } from "./shared.ts";
import type { Store } from "./store.ts";

/** What the scripts of a run share. */
export interface Surroundings {
  /** Absent where inputs are declared. */
  readonly tracing: TracingOperations | undefined;
  readonly store: Store;
  readonly shared: SharedCache | undefined;
  readonly seen: Seen;
  readonly known: KnownEntries;
  /** What rt was started with. */
  readonly original: Readonly<Record<string, string>>;
  /** Whether somebody wants to know what a hit was found by. */
  readonly isNoted: boolean;
}

export function openWorld(
  rule: CacheRule,
  root: string,
  packageDirectory: string,
  { store, seen, isNoted }: Surroundings,
): Rooted {
  const ignored = matcher(rule.ignore, packageDirectory, root);
  const always = alwaysIgnored(root);
  const sights: Sights | undefined = isNoted ? new Map() : undefined;
  return {
    ...(sights ? noting(seen, sights) : { look: seen.look, list: seen.list }),
    sights,
    seen,
    hashes: openHashes(root, look, store),
    // The store is no input of anything, wherever it is.
    isIgnored: (path) => ignored(path) || always(path) || isBelow(path, store.directory),
    root,
    isDeclared: matcher(rule.outputs, packageDirectory),
    declared: rule.outputs,
    packageDirectory,
    sourcesAmong: async (paths) => await keepUnignored(root, paths),
    keep: async (path, state) => {
      const hash = await store.keepFile(path);
      const now = look(path);
      return now.kind === "file" && now.stamp === state.stamp ? hash : null;
    },
  };
}

function noting(seen: Seen, sights: Sights): { readonly look: Look; readonly list: List } {
  return {
    look(path) {
      const state = seen.look(path);
      if (sights.get(path)?.how !== "names") sights.set(path, sightOf("state", state.kind));
      return state;
    },
    list(path) {
      const names = seen.list(path);
      sights.set(path, sightOf("names", names ? "directory" : "absent"));
      return names;
    },
  };
}
