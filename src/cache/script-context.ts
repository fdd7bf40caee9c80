// Holds the state that lookup and recording of one cached script share, and computes the script's cache keys.
//
// Non-obvious:
// - A script has two keys. The local key hashes variables with the store's secret and identifies rt by its fingerprint. The
//   shared key uses the secret of the shared cache and the hash of rt's executable, so that every machine computes the same.
import type { Trace } from "../../platform/tracing/contract/tracing.ts";
import { statPath } from "../../platform/files/path-state.ts";
import { host } from "../../platform/processes/process.ts";
import { oneLine } from "../printable.ts";
import type { CacheRule, CacheSettings } from "../config/settings/cache.ts";
import type { CachedScript } from "./cached-script.ts";
import type { CacheEntry } from "./entry/entry.ts";
import type { ProjectView } from "./entry/entry-builder.ts";
import type { EntrySnapshot } from "./entry/entry-snapshot.ts";
import type { OwnValues } from "./entry/mention-detector.ts";
import { internObservation } from "./memo/path-observations.ts";
import { machinePaths } from "./relocation/machine-paths.ts";
import { type EntryLocation, relocateEntry } from "./relocation/relocation.ts";
import { searchPathOf, withoutBinariesAbove } from "./relocation/search-path.ts";
import type { ProgramView } from "./relocation/searched-programs.ts";
import { isBelow, toPortablePath } from "./relocation/stored-path.ts";
import { pathsToUserFolders, userFoldersOf } from "./relocation/user-folders.ts";
import type { DescribedScript } from "./entry/uncacheable-reasons.ts";
import { type CacheKey, executableFingerprint, hashOf, makeKey } from "./key/cache-key.ts";
import {
  cachedEnvironment,
  describeMissed,
  describeMissingVariables,
  passedValues,
} from "./key/environment.ts";
import { type CacheContext, openProjectView } from "./memo/file-system-view.ts";
import { configurationFiles, findReaders } from "./key/variable-readers.ts";
import { describeRule } from "./key/rule-line.ts";
import { findTelemetrySwitch } from "./key/telemetry-switch.ts";
import type { ConcurrentRunDetector } from "./restore/concurrent-run-detector.ts";
import type { SharedCache } from "./shared-cache.ts";
import type { CacheStore } from "./store/cache-store.ts";
import { listKeyInputs } from "./tracing/recorded-inputs.ts";

type Variables = Readonly<Record<string, string>>;

export class ScriptContext {
  readonly script: CachedScript;
  readonly rule: CacheRule;
  readonly settings: CacheSettings;
  /** False if the inputs are declared. */
  readonly isTraced: boolean;
  readonly store: CacheStore;
  readonly snapshot: EntrySnapshot;
  readonly shared: SharedCache | undefined;
  readonly project: ProjectView;
  /** The variables that each step receives. */
  readonly environments: readonly Variables[];
  readonly location: EntryLocation;
  /** Variables that count as they are. */
  readonly #declared: readonly string[];
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
    this.isTraced = context.isTraced;
    this.store = context.store;
    this.snapshot = context.snapshot;
    this.shared = rule.isShared ? context.shared : undefined;
    this.project = openProjectView(rule, settings.root, packageDirectory, context);
    const allowed = [...rule.env, ...script.named];
    this.#declared = allowed;
    const environments = script.steps.map(({ env }) =>
      cachedEnvironment(env, context.original, allowed, settings.root),
    );
    this.environments = environments.map(({ variables }) => variables);
    this.#withheld = environments.flatMap(({ withheld }) => withheld);
    this.#variables = Object.assign({}, ...this.environments) as Variables;
    const { HOME = "", PATH = "" } = this.#variables;
    const path = withoutBinariesAbove(PATH, settings.root);
    const folders = userFoldersOf(this.#variables);
    const { observations } = this.project;
    for (const [way, isThere] of observations ? pathsToUserFolders(this.#variables) : [])
      observations!.set(way, internObservation("way", isThere ? undefined : "absent"));
    this.location = {
      root: settings.root,
      folders,
      searchPath: searchPathOf(path, settings.root, folders),
      isMachinePath: machinePaths(HOME, path),
    };
  }

  async makeLocalKey(): Promise<CacheKey> {
    return await this.#makeKey(this.store.secret(), executableFingerprint());
  }

  async makeSharedKey(secret: Uint8Array): Promise<CacheKey> {
    return await this.#makeKey(secret, await hashOf(process.execPath, this.project.hashes, statPath));
  }

  async #makeKey(secret: Uint8Array, program: string): Promise<CacheKey> {
    const { packageDirectory, hashes } = this.project;
    const request = {
      system: host.system,
      root: this.settings.root,
      folders: this.location.folders,
      packageDirectory,
      rule: this.rule,
      declared: this.#declared,
      steps: this.script.steps,
      permissions: this.script.permissions,
      variables: this.#variables,
      secret,
      program,
      isDeclared: !this.isTraced,
      inputs: await listKeyInputs(this.rule, this.project, this.isTraced),
    };
    return await makeKey(request, hashes, this.project.stat);
  }

  localEntries(key: string): readonly CacheEntry[] {
    const stored = this.settings.isRead ? this.snapshot.entries(key) : [];
    return stored.flatMap(({ entry }) => relocateEntry(entry, this.location) ?? []);
  }

  /** Access to programs in PATH. */
  get programView(): ProgramView {
    return { stat: this.project.stat, resolve: this.project.statCache.resolve };
  }

  #ownValues: OwnValues | undefined;

  /** Values that differ for other checkouts and users, and are not part of the key. */
  get ownValues(): OwnValues {
    return (this.#ownValues ??= {
      root: this.settings.root,
      folders: this.location.folders,
      variables: passedValues(this.#variables, this.#declared),
    });
  }

  /** Starts to detect concurrent runs of the script. */
  readonly announce = (): ConcurrentRunDetector =>
    this.store.announce([this.project.packageDirectory, this.script.scriptName]);

  get subject(): DescribedScript {
    const { packageDirectory, root } = this.project;
    return { label: this.script.label, rule: this.rule, packageDirectory, root };
  }

  /** Explains what a successful script may have missed. */
  describeMissed(trace: Trace | undefined): string[] {
    const { isIgnored } = this.project;
    const makes = trace ? trace.paths.some(({ path, isWritten }) => isWritten && !isIgnored(path)) : true;
    const isOnline = trace?.incompleteReason?.kind === "network";
    const { root } = this.settings;
    const files = configurationFiles(trace?.paths ?? [], (path) => isBelow(path, root));
    const readers = new Map(
      [...findReaders(this.#withheld, files)].map(([name, file]) => [name, toPortablePath(file, root)]),
    );
    const text = this.commands;
    return describeMissed(this.script.label, this.rule, this.#withheld, { makes, isOnline, text, readers });
  }

  /** Returns how to turn off the telemetry of a tool that used the network; undefined if the script has done so. */
  adviseOnNetwork({ paths }: Trace): string | undefined {
    const found = findTelemetrySwitch(paths);
    if (!found || this.#variables[found.name] !== undefined || this.#withheld.includes(found.name))
      return undefined;
    const { name, file } = found;
    return `${oneLine(file)} reads ${name}; to turn off telemetry, set that variable to 1 and ${describeRule(this.rule, { env: [name] })}`;
  }

  /** Explains which withheld variables a failed script mentions. */
  describeWithheld(output: string, isFirstFailure: boolean): string[] {
    const text = `${output}\n${this.commands}`;
    return describeMissingVariables(this.script.label, this.rule, this.#withheld, text, isFirstFailure);
  }

  get commands(): string {
    return this.script.steps.flatMap(({ argv }) => argv).join("\n");
  }
}
