// Collects what lookup and recording of one cached script share, and computes the script's cache keys.
//
// Non-obvious:
// - A script has two keys. The local key hashes variables with the store's secret and identifies rt by its fingerprint. The
//   shared key uses the secret of the shared cache and the hash of rt's executable, so that every machine computes the same.
import type { Trace, TracingOperations } from "../../platform/tracing/contract/tracing.ts";
import { statPath } from "../../platform/files/path-state.ts";
import { host } from "../../platform/processes/process.ts";
import type { CacheRule, CacheSettings } from "../config/settings/cache.ts";
import type { CachedScript } from "./cached-script.ts";
import type { CacheEntry } from "./entry/entry.ts";
import type { ProjectView } from "./entry/entry-builder.ts";
import type { EntrySnapshot } from "./entry/entry-snapshot.ts";
import { type IsMachinePath, machinePaths, relocateEntry, withoutBinariesAbove } from "./entry/relocation.ts";
import type { DescribedScript } from "./entry/uncacheable-reasons.ts";
import { type CacheKey, executableFingerprint, hashOf, makeKey } from "./key/cache-key.ts";
import { cachedEnvironment, describeMissed, describeMissingVariables } from "./key/environment.ts";
import { type CacheContext, openProjectView } from "./memo/file-system-view.ts";
import type { ConcurrentRunDetector } from "./restore/concurrent-run-detector.ts";
import type { SharedCache } from "./shared-cache.ts";
import type { CacheStore } from "./store/cache-store.ts";
import { listKeyInputs } from "./tracing/recorded-inputs.ts";

type Variables = Readonly<Record<string, string>>;

export class ScriptContext {
  readonly script: CachedScript;
  readonly rule: CacheRule;
  readonly settings: CacheSettings;
  /** Undefined if the inputs are declared. */
  readonly tracing: TracingOperations | undefined;
  readonly store: CacheStore;
  readonly snapshot: EntrySnapshot;
  readonly shared: SharedCache | undefined;
  readonly project: ProjectView;
  /** The variables that each step receives. */
  readonly environments: readonly Variables[];
  readonly isMachinePath: IsMachinePath;
  readonly #variables: Variables;
  /** Variables that the environment of rt has and the script does not receive. */
  readonly #withheld: readonly string[];

  constructor(
    script: CachedScript,
    rule: CacheRule,
    settings: CacheSettings,
    packageDirectory: string,
    context: CacheContext,
  ) {
    this.script = script;
    this.rule = rule;
    this.settings = settings;
    this.tracing = context.tracing;
    this.store = context.store;
    this.snapshot = context.snapshot;
    this.shared = rule.isShared ? context.shared : undefined;
    this.project = openProjectView(rule, settings.root, packageDirectory, context);
    const allowed = [...rule.env, ...script.named];
    const environments = script.steps.map(({ env }) =>
      cachedEnvironment(env, context.original, allowed, settings.root),
    );
    this.environments = environments.map(({ variables }) => variables);
    this.#withheld = environments.flatMap(({ withheld }) => withheld);
    this.#variables = Object.assign({}, ...this.environments) as Variables;
    const { HOME = "", PATH = "" } = this.#variables;
    this.isMachinePath = machinePaths(HOME, withoutBinariesAbove(PATH, settings.root));
  }

  /** Computes the key of the local cache. */
  async makeLocalKey(): Promise<CacheKey> {
    return await this.#makeKey(this.store.secret(), executableFingerprint());
  }

  /** Computes the key of the shared cache. */
  async makeSharedKey(secret: Uint8Array): Promise<CacheKey> {
    return await this.#makeKey(secret, await hashOf(process.execPath, this.project.hashes, statPath));
  }

  async #makeKey(secret: Uint8Array, program: string): Promise<CacheKey> {
    const { packageDirectory, hashes } = this.project;
    const request = {
      system: host.system,
      root: this.settings.root,
      packageDirectory,
      rule: this.rule,
      steps: this.script.steps,
      permissions: this.script.permissions,
      variables: this.#variables,
      secret,
      program,
      isDeclared: this.tracing === undefined,
      inputs: await listKeyInputs(this.rule, this.project, this.tracing !== undefined),
    };
    return await makeKey(request, hashes, this.project.stat);
  }

  /** Returns the local entries of a key that apply to this checkout. */
  localEntries(key: string): readonly CacheEntry[] {
    const stored = this.settings.isRead ? this.snapshot.entries(key) : [];
    return stored.flatMap(({ entry }) => relocateEntry(entry, this.settings.root, this.isMachinePath) ?? []);
  }

  /** Starts to detect concurrent runs of the script. */
  readonly announce = (): ConcurrentRunDetector =>
    this.store.announce([this.project.packageDirectory, this.script.scriptName]);

  /** The script, as messages describe it. */
  get subject(): DescribedScript {
    const { packageDirectory, root } = this.project;
    return { label: this.script.label, rule: this.rule, packageDirectory, root };
  }

  /** Explains what a successful script may have missed. */
  describeMissed(trace: Trace | undefined): string[] {
    const { isIgnored } = this.project;
    const makes = trace ? trace.paths.some(({ path, isWritten }) => isWritten && !isIgnored(path)) : true;
    const isOnline = trace?.incompleteReason?.kind === "network";
    return describeMissed(this.script.label, this.rule, this.#withheld, { makes, isOnline });
  }

  /** Explains which withheld variables a failed script mentions. */
  describeWithheld(output: string, isFirstFailure: boolean): string[] {
    const text = [output, ...this.script.steps.flatMap(({ argv }) => argv)].join("\n");
    return describeMissingVariables(this.script.label, this.rule, this.#withheld, text, isFirstFailure);
  }
}
