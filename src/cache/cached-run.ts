// One script and what is known of earlier runs of it: found before it starts, or kept after it has ended.
//
// Contract: in doubt the script runs, and nothing is kept; one line says why. The cache never fails a script, and what
// it cannot read or write is the same as an empty one.
import type { Trace, TracingOperations } from "../../platform/tracing/contract/tracing.ts";
import { statPath } from "../../platform/files/path-state.ts";
import type { Child } from "../../platform/processes/contract/process-tree.ts";
import { host } from "../../platform/processes/process.ts";
import type { CacheRule, CacheSettings } from "../config/settings/cache.ts";
import { type EntryCandidate, findCandidates, type Lookup } from "./entry/candidates.ts";
import { validateEntry } from "./entry/entry-validation.ts";
import { deriveCleanStart } from "./entry/clean-start.ts";
import {
  leaseKey,
  explainMissing,
  publishFailure,
  publishOutputs,
  readFailureLog,
  type SharedRunCache,
} from "./leased-results.ts";
import { describeNotCached, describeNotShared, type Doubted } from "./entry/uncacheable-reasons.ts";
import {
  cachedEnvironment,
  describeMissed,
  describeMissingVariables,
  findPrintedSecret,
} from "./key/environment.ts";
import type { CacheEntry } from "./entry/entry.ts";
import { describeForeignPlace, describeHit, FAILED, ScriptExplanations } from "./entry/explanation.ts";
import { TracedScript } from "./tracing/traced-script.ts";
import { RecordedInputFiles, listCounted } from "./tracing/recorded-inputs.ts";
import { sizeAt } from "./store/lru-files.ts";
import type { EntrySnapshot } from "./entry/entry-snapshot.ts";
import { compareKeys, hashOf, type CacheKey, makeKey, executableFingerprint } from "./key/cache-key.ts";
import { StaleOutputs } from "./restore/stale-outputs.ts";
import { type OutputChunk, readLog } from "./entry/output-log.ts";
import { keepWithMentions } from "./entry/root-path-detector.ts";
import {
  machinePaths,
  type IsMachinePath,
  isBelow,
  relocateEntry,
  withoutBinariesAbove,
} from "./entry/relocation.ts";
import type { ConcurrentRunDetector } from "./restore/concurrent-run-detector.ts";
import {
  addDeclared,
  listDeclared,
  type EntryDraft,
  buildEntry,
  type ProjectView,
} from "./entry/entry-builder.ts";
import { restoreOutputs } from "./restore/restore.ts";
import { type HitEvidence, hitEvidenceOf } from "./memo/path-observations.ts";
import type { CachedRun, CachedScript, Hit, LeasedPublication, StepRequest } from "./cached-script.ts";
import type { SharedCache } from "./shared-cache.ts";
import type { CacheStore } from "./store/cache-store.ts";
import { adviseFor } from "./entry/modified-input-hint.ts";
import { ModifiedInputError, NotCacheableError } from "./entry/not-cacheable-error.ts";
import { verify } from "./restore/input-verification.ts";
import { openWorld, type CacheContext } from "./memo/file-system-view.ts";

export class CachedScriptRun implements CachedRun {
  hit: Hit | undefined;
  why = "";
  isFaulty = false;
  outdatedBy: string | undefined;
  readonly #script: CachedScript;
  readonly #rule: CacheRule;
  readonly #settings: CacheSettings;
  /** Absent where its inputs are declared. */
  readonly #tracing: TracingOperations | undefined;
  readonly #store: CacheStore;
  readonly #known: EntrySnapshot;
  readonly #shared: SharedCache | undefined;
  readonly #world: ProjectView;
  readonly #withheld: readonly string[];
  readonly #followed: TracedScript;
  readonly #findings: ScriptExplanations;
  #key: CacheKey | undefined;
  /** The key that other machines compute too if they start the script in the same way; absent if nothing is shared. */
  #sharedKey: CacheKey | undefined;
  /** What is kept of this run, or what it was found by. */
  #entry: CacheEntry | undefined;
  /** The file of `#entry`, where it was found in one. */
  #file: string | undefined;
  constructor(
    script: CachedScript,
    rule: CacheRule,
    settings: CacheSettings,
    packageDirectory: string,
    surroundings: CacheContext,
  ) {
    const { tracing, store, shared, known, original } = surroundings;
    this.#script = script;
    this.#rule = rule;
    this.#settings = settings;
    this.#tracing = tracing;
    this.#store = store;
    this.#known = known;
    this.#shared = rule.isShared ? shared : undefined;
    const declared = [...rule.env, ...script.named];
    const environments = script.steps.map(({ env }) =>
      cachedEnvironment(env, original, declared, settings.root),
    );
    const variables = environments.map((each) => each.variables);
    this.#followed = new TracedScript(script.steps, variables, tracing, this.#announce);
    this.#withheld = environments.flatMap(({ withheld }) => withheld);
    this.#findings = new ScriptExplanations(settings.root, packageDirectory, script, store, known);
    this.#world = openWorld(rule, settings.root, packageDirectory, surroundings);
  }

  /** @param purpose "look" puts nothing back and remembers nothing */
  async find(purpose: "use" | "look"): Promise<this> {
    this.#key = await this.#makeOwnKey();
    if (this.#shared) {
      const program = await hashOf(process.execPath, this.#world.hashes, statPath);
      this.#sharedKey = await this.#makeKey(this.#shared.secret, program);
    }
    this.why = "nothing that is kept is to be used";
    if (!this.#settings.isRead && !this.#shared?.isRead) return this;
    const shared = this.#shared && { cache: this.#shared, key: this.#sharedKey!.hash };
    const difference = await this.#use(findCandidates(this.#lookup(this.#settings), shared), purpose);
    if (!this.hit) this.why = difference ?? this.#findings.explain(this.#key);
    if (purpose === "use") this.#tell(this.why);
    return this;
  }

  #lookup(access: Lookup["access"]): Lookup {
    const { seen } = this.#world;
    return { store: this.#store, known: this.#known, access, key: this.#key!.hash, place: this.#world, seen };
  }

  /** Takes the first that is what the script would do now. Undefined, or why the first was not. */
  async #use(
    candidates: AsyncGenerator<EntryCandidate>,
    purpose: "use" | "look",
  ): Promise<string | undefined> {
    const { root } = this.#settings;
    const others = () => (this.#settings.isRead ? this.#known.entries(this.#key!.hash) : []);
    const left = new StaleOutputs(others, (entry) => relocateEntry(entry, root, this.#isFixed), this.#world);
    let difference: string | undefined;
    for await (const { kept, isOthers, file, prepare, use } of candidates) {
      const entry = relocateEntry(kept, root, this.#isFixed);
      if (!entry) {
        difference ??= describeForeignPlace(kept);
        continue;
      }
      const found = await validateEntry(entry, this.#world, left);
      if (found.mismatch !== null) {
        difference ??= found.mismatch;
        continue;
      }
      const obstacle = purpose === "look" ? undefined : await prepare(entry);
      const hit =
        purpose === "look" ? NOT_APPLIED : (obstacle ?? (await this.#apply(entry, found.leftovers)));
      if (typeof hit === "string") {
        difference ??= hit;
        continue;
      }
      [this.hit, this.#entry, this.#file] = [hit, entry, file];
      const elsewhere = kept.root === root ? "" : ` in ${kept.root}`;
      this.why = describeHit(entry, isOthers ? ", when others ran it" : elsewhere);
      if (purpose === "use") use();
      break;
    }
    return difference;
  }

  get isShared(): boolean {
    return this.#shared !== undefined;
  }

  async take(claim: string): Promise<boolean> {
    const shared = { cache: this.#shared!, key: leaseKey(claim, this.#sharedKey!.hash, "made") };
    const access = { isRead: false, isWritten: this.#settings.isWritten };
    const difference = await this.#use(findCandidates(this.#lookup(access), shared), "use");
    if (!this.hit) this.why = difference ?? (await explainMissing(this.#sharing, claim));
    return this.hit !== undefined;
  }

  async readFailure(claim: string): Promise<readonly OutputChunk[] | undefined> {
    return await readFailureLog(this.#sharing, claim);
  }

  get #variables(): Readonly<Record<string, string>> {
    return Object.assign({}, ...this.#followed.environments);
  }

  get #isFixed(): IsMachinePath {
    const { HOME = "", PATH = "" } = this.#variables;
    return machinePaths(HOME, withoutBinariesAbove(PATH, this.#settings.root));
  }

  async #makeOwnKey(): Promise<CacheKey> {
    return await this.#makeKey(this.#store.secret(), executableFingerprint());
  }

  async #makeKey(secret: Uint8Array, program: string): Promise<CacheKey> {
    const { packageDirectory, hashes } = this.#world;
    const request = {
      system: host.system,
      root: this.#settings.root,
      packageDirectory,
      rule: this.#rule,
      steps: this.#script.steps,
      variables: this.#variables,
      secret,
      program,
      isDeclared: this.#tracing === undefined,
      inputs: await listCounted(this.#rule, this.#world, this.#tracing !== undefined),
    };
    return await makeKey(request, hashes, this.#world.look);
  }

  get basis(): HitEvidence | undefined {
    const [file, finding] = [this.#file, this.#findings.path];
    if (file === undefined || !this.#tracing) return undefined; // what is declared is told by git
    return hitEvidenceOf(this.#rule, this.#world, { file, finding, log: this.#entry!.log });
  }

  get inputs(): RecordedInputFiles | undefined {
    const known = { key: this.#key!, isTraced: this.#tracing !== undefined, isFixed: this.#isFixed };
    return this.#entry && new RecordedInputFiles(this.#entry, this.#rule, this.#world, known);
  }

  /** What is to be kept of a run that has ended well. Throws Unkept. */
  async #record(trace: Trace | undefined): Promise<EntryDraft> {
    if (trace) return await buildEntry(trace, this.#world);
    const [difference] = compareKeys(this.#key!.fields, (await this.#makeOwnKey()).fields);
    if (difference !== undefined) throw new NotCacheableError("edited", difference);
    const recorded: EntryDraft = { conditions: [], outputs: [], own: [] };
    await addDeclared(recorded, await listDeclared(this.#world), this.#world);
    return recorded;
  }

  /** Returns the reason as text if the outputs cannot be restored. */
  async #apply(entry: CacheEntry, leftovers: readonly string[]): Promise<Hit | string> {
    const log = this.#store.readBlob(entry.log);
    if (!log) return "its output log is missing from the cache, or damaged";
    const { root } = this.#settings;
    const gone = leftovers.map((path) => ({ path, kind: "absent" as const }));
    const wanted = { ...entry, outputs: [...entry.outputs, ...gone] };
    const restored = await restoreOutputs(wanted, root, this.#store, this.#world, this.#announce);
    return typeof restored === "string"
      ? restored
      : { pieces: readLog(log), saved: entry.duration, restored };
  }

  start(step: number, request: StepRequest): Child & { readonly isTraced: Promise<boolean> } {
    return this.#followed.start(step, request);
  }

  keepOutput(step: number, bytes: Uint8Array, isError: boolean): void {
    this.#followed.log.add(step, isError, bytes);
  }

  environmentOf(step: number): Readonly<Record<string, string>> {
    return this.#followed.environments[step]!;
  }

  async close(outcome: string, publication?: LeasedPublication): Promise<readonly string[]> {
    try {
      return await this.#keep(outcome, publication);
    } finally {
      this.#followed.leave();
    }
  }

  async #keep(outcome: string, publication?: LeasedPublication): Promise<readonly string[]> {
    const { log } = this.#followed;
    const trace = await this.#followed.finish();
    const lines = [...(trace?.calls ?? [])].map((call) => `trace ${call}`);
    if (this.#followed.refusal) {
      this.isFaulty = this.#settings.isVerified;
      return [...lines, describeNotCached(this.#doubted, this.#followed.refusal, "")];
    }
    if (outcome === "failure") lines.push(...this.#explainWithheld());
    if (publication && !["success", "stopped"].includes(outcome)) {
      const told = this.#findShown() === undefined ? log : undefined;
      await publishFailure(this.#sharing, publication, this.#script.label, this.#followed.elapsed, told);
    }
    if (outcome !== "success") return lines;
    lines.push(...this.#explainMissed(trace));
    if (this.#settings.isVerified) return [...lines, ...(await this.#verify(trace!))];
    const shared = this.#shared?.isWritten ? this.#shared : undefined;
    if ((!trace && this.#tracing) || !(this.#settings.isWritten || shared)) return lines;
    try {
      const recorded = await this.#record(trace);
      const shown = this.#findShown();
      if (shown !== undefined) throw new NotCacheableError("secret", shown);
      if (log.isTooLarge) throw new NotCacheableError("flood", "64 MB");
      const bytes = this.#store.keepBytes(log.toBytes());
      const [label, created, duration] = [this.#script.label, Date.now(), this.#followed.elapsed];
      const entryOf = (each: EntryDraft): CacheEntry => ({ label, created, duration, ...each, log: bytes });
      const entry = entryOf(recorded);
      const sizeOf = (hash: string) => sizeAt(this.#store.blobPath(hash));
      const clean = trace && deriveCleanStart(recorded, trace.paths, this.#earlier(), sizeOf);
      // Other machines and checkouts mostly have no outputs of earlier runs.
      const sent = clean ? entryOf(clean) : entry;
      const keep = (each: CacheEntry) =>
        keepWithMentions(each, this.#settings.root, log.bytes(), this.#store);
      const kept = clean ? [keep(sent), keep(entry)] : [keep(entry)];
      // After all of it was read: who comes from here on changes nothing of it.
      this.#followed.requireAlone();
      const outside = shared?.findOutside(sent, this.#world);
      const mayLeave = outside === undefined;
      if (publication && !(await publishOutputs(this.#sharing, publication, kept[0]!, mayLeave)))
        return lines;
      if (this.#settings.isWritten) for (const each of kept) this.#store.addEntry(this.#key!.hash, each);
      this.#entry = entry;
      if (mayLeave) void shared?.offer(this.#sharedKey!.hash, kept[0]!, this.#store);
      else lines.push(describeNotShared(this.#doubted, outside));
      this.#store.maybeEvict();
      return lines;
    } catch (error) {
      const { why, detail } =
        error instanceof NotCacheableError
          ? error
          : { why: "store" as const, detail: (error as Error).message };
      // In the folders above names come and go.
      if (["changed", "names"].includes(why) && !isBelow(this.#settings.root, detail))
        this.outdatedBy = detail;
      const advice =
        error instanceof ModifiedInputError ? await adviseFor(error, this.#doubted, this.#world) : undefined;
      const line = describeNotCached(this.#doubted, why, detail, advice);
      this.#tell(line);
      return [...lines, line];
    }
  }

  /** Entries of runs that were started in the same way, as far as they apply in this checkout. */
  #earlier(): readonly CacheEntry[] {
    const kept = this.#settings.isRead ? this.#known.entries(this.#key!.hash) : [];
    return kept.flatMap(({ entry }) => relocateEntry(entry, this.#settings.root, this.#isFixed) ?? []);
  }

  readonly #announce = (): ConcurrentRunDetector =>
    this.#store.announce([this.#world.packageDirectory, this.#script.scriptName]);

  #findShown(): string | undefined {
    const { environments, log } = this.#followed;
    return findPrintedSecret(this.#rule.env, environments[0] ?? {}, log.text());
  }

  get #sharing(): SharedRunCache {
    return { cache: this.#shared!, key: this.#sharedKey!, store: this.#store };
  }

  get #doubted(): Doubted {
    const { packageDirectory, root } = this.#world;
    return { label: this.#script.label, rule: this.#rule, packageDirectory, root };
  }

  async #verify(trace: Trace): Promise<string[]> {
    const lines = await verify(this.#doubted, trace, this.#rule, this.#world, this.#isFixed);
    this.isFaulty = lines.length > 0;
    return lines;
  }

  #explainMissed(trace: Trace | undefined): string[] {
    const { isIgnored } = this.#world;
    const makes = trace ? trace.paths.some(({ path, isWritten }) => isWritten && !isIgnored(path)) : true;
    const isOnline = trace?.doubt?.kind === "network";
    return describeMissed(this.#script.label, this.#rule, this.#withheld, { makes, isOnline });
  }

  #explainWithheld(): string[] {
    const text = [this.#followed.log.text(), ...this.#script.steps.flatMap(({ argv }) => argv)].join("\n");
    const isFirst = this.#findings.last?.text !== FAILED;
    this.#tell(FAILED);
    return describeMissingVariables(this.#script.label, this.#rule, this.#withheld, text, isFirst);
  }

  #tell(text: string): void {
    this.#findings.tell(text, this.#key!, this.hit !== undefined);
  }
}

const NOT_APPLIED: Hit = { pieces: [], saved: 0, restored: 0 };
