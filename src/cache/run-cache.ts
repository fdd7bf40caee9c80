// The cache of one run: holds the state that its scripts share, and opens the cache for each script.
//
// Non-obvious: the lookup of entries is loaded for the first script, because a memoized run looks up none. Once, because each
// import of a loaded module takes 0.02 to 0.1 ms.
import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errorCode, errorMessage } from "../../platform/caught-error.ts";
import { OWNER_ADVICE } from "../../platform/files/path-ownership.ts";
import { host } from "../../platform/processes/process.ts";
import { hasTracing } from "../../platform/tracing/tracing.ts";
import { type CacheRule, type CacheSettings, ruleFor } from "../config/settings/cache.ts";
import { oneLine } from "../printable.ts";
import { isInsideTracedScript } from "./traced-variable.ts";
import { EntrySnapshot } from "./entry/entry-snapshot.ts";
import { writeHashes } from "./store/file-hash-persistence.ts";
import { isBelow } from "./relocation/stored-path.ts";
import type { ScriptContext } from "./script-context.ts";
import type { CachedRun, CachedScript, InputRecord } from "./cached-script.ts";
import { StatCache } from "./memo/stat-cache.ts";
import type { SharedCache } from "./shared-cache.ts";
import { CacheStore, storeDirectory } from "./store/cache-store.ts";
import type { InputRecordFinder } from "./tracing/input-records.ts";

const NOT_HERE =
  'Caching has no effect here: a rule needs outputs, as in outputs = ["dist/**"], or tracing (Linux 5.9 or later)';

/** Returns why a rule has no effect; "" if a message is unnecessary, because an outer rt traces this one. */
export function whyRuleFails(rule: CacheRule): string | undefined {
  if (isInsideTracedScript()) return "";
  return rule.saysOutputs || (rule.isTraced && hasTracing()) ? undefined : NOT_HERE;
}

export interface Notice {
  readonly notice: string;
}

export type OpenedScript = CachedRun | Notice | undefined;

export class RunCache {
  readonly settings: CacheSettings;
  /** Undefined until the run is connected to it. */
  shared: SharedCache | undefined;
  /** Whether the evidence of hits is recorded, for a run memo. */
  isEvidenceRecorded = false;
  readonly #statCache = new StatCache();
  /** The environment in which rt was started. */
  readonly #original = host.originalEnvironment();
  readonly #notices = new Set<string>();
  #scripts: ReturnType<typeof loadScripts> | undefined;
  #store: CacheStore | undefined;
  #snapshot: EntrySnapshot | undefined;
  /** The real path of the project. */
  #root: string | undefined;

  constructor(settings: CacheSettings) {
    this.settings = settings;
  }

  /** @throws an Error with a complete sentence, or the system's error */
  get store(): CacheStore {
    return (this.#store ??= new CacheStore(storeDirectory()!));
  }

  /**
   * Returns undefined if the script is not cached, and a notice if it cannot be cached.
   * @param purpose "look" changes neither the project nor the cache
   */
  async open(script: CachedScript, purpose: "use" | "look"): Promise<OpenedScript> {
    const context = await this.#openContext(script);
    if (!context || "notice" in context) return context;
    const { CachedScriptRun } = await this.#loadScripts();
    return await this.#attempt(async () => await new CachedScriptRun(context).find(purpose));
  }

  #loadScripts(): ReturnType<typeof loadScripts> {
    return (this.#scripts ??= loadScripts());
  }

  /** Finds what the last run of a script has read. Call it in the order of the run. */
  async findRecord(script: CachedScript, finder: InputRecordFinder): Promise<InputRecord | undefined> {
    const context = await this.#openContext(script);
    if (!context || "notice" in context) return undefined;
    const found = await this.#attempt(async () => await finder.find(context));
    return found && "notice" in found ? undefined : found;
  }

  async #openContext(script: CachedScript): Promise<ScriptContext | Notice | undefined> {
    const { settings } = this;
    const { packageName, packageDirectory: directory, scriptName } = script;
    const rule = ruleFor(settings, { name: packageName, directory }, scriptName);
    if (!rule || isInsideTracedScript()) return undefined;
    const isTraced = (settings.isVerified || rule.isTraced) && hasTracing();
    if (!isTraced && script.review) return undefined;
    if (!isTraced && !rule.saysOutputs) return this.#noticeOnce(NOT_HERE);
    if (storeDirectory() === undefined)
      return this.#noticeOnce("Scripts are not cached: no cache directory; set HOME or XDG_CACHE_HOME");
    const { ScriptContext } = await this.#loadScripts();
    return await this.#attempt(async () => {
      const root = (this.#root ??= realpathSync(settings.root));
      const packageDirectory = this.#realDirectory(directory, root);
      return new ScriptContext(script, rule, { ...settings, root }, packageDirectory, {
        isTraced,
        store: this.store,
        shared: this.shared,
        statCache: this.#statCache,
        snapshot: (this.#snapshot ??= new EntrySnapshot(this.store, root)),
        original: this.#original,
        isEvidenceRecorded: this.isEvidenceRecorded,
      });
    });
  }

  /** Converts an error to a notice. */
  async #attempt<T>(act: () => Promise<T>): Promise<T | Notice | undefined> {
    try {
      return await act();
    } catch (error) {
      const code = errorCode(error);
      const message = errorMessage(error);
      const advice = code === undefined ? `; ${OWNER_ADVICE}` : "";
      return this.#noticeOnce(`Scripts are not cached: ${oneLine(message)}${advice}`);
    }
  }

  /** Resolves symlinks. Without a symlink in the path, no system call is needed. */
  #realDirectory(directory: string, root: string): string {
    if (resolve(directory) !== directory) return realpathSync(directory);
    for (let at = directory; at !== root; at = dirname(at))
      if (!isBelow(at, root) || this.#statCache.stat(at).kind !== "directory") return realpathSync(directory);
    return directory;
  }

  /** Call this before a script starts, whether it is cached or not. */
  invalidateStats(): void {
    this.#statCache.end();
  }

  /** Saves file hashes and entry snapshots at the end of the run. */
  save(): void {
    if (this.#store) writeHashes(this.#store);
    try {
      this.#snapshot?.write();
    } catch {
      // The next run reads the files again.
    }
  }

  /** Returns a notice once per run. */
  #noticeOnce(notice: string): Notice | undefined {
    if (this.#notices.has(notice)) return undefined;
    this.#notices.add(notice);
    return { notice };
  }
}

async function loadScripts() {
  const [{ CachedScriptRun }, { ScriptContext }] = await Promise.all([
    import("./cached-run.ts"),
    import("./script-context.ts"),
  ]);
  return { CachedScriptRun, ScriptContext };
}
