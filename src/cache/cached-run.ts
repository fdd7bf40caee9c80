// Runs one cached script: looks up its entries before it starts, and records a new entry after it succeeds.
//
// Invariants:
// - If a check is inconclusive, the script runs and nothing is cached; one line gives the reason.
// - The cache never fails a script. An unreadable or unwritable cache behaves like an empty one.
// Non-obvious: what a script needs after it has run is imported on demand. A hit needs none of it.
import { errorMessage } from "../../platform/caught-error.ts";
import type { Trace } from "../../platform/tracing/contract/tracing.ts";
import type { Child } from "../../platform/processes/contract/process-tree.ts";
import type { CachedRun, CacheHit, LeasedPublication, StepRequest } from "./cached-script.ts";
import type { CacheEntry } from "./entry/entry.ts";
import { describeUnshared, FAILED, ScriptExplanations } from "./entry/explanation.ts";
import { ModifiedInputError, NotCacheableError } from "./entry/not-cacheable-error.ts";
import type { OutputChunk } from "./entry/output-log.ts";
import { isBelow } from "./relocation/stored-path.ts";
import { describeNotCached } from "./entry/uncacheable-reasons.ts";
import { differencesFromNearest, type EntryLookup, lookUpEntry } from "./entry-lookup.ts";
import type { CacheKey } from "./key/cache-key.ts";
import {
  explainMissing,
  leaseKey,
  publishFailure,
  readFailureLog,
  type SharedRunCache,
} from "./leased-results.ts";
import { type HitEvidence, hitEvidenceOf } from "./memo/path-observations.ts";
import type { ScriptContext } from "./script-context.ts";
import { RecordedInputFiles } from "./tracing/recorded-inputs.ts";
import { TracedScript } from "./tracing/traced-script.ts";

export class CachedScriptRun implements CachedRun {
  hit: CacheHit | undefined;
  why = "";
  isFaulty = false;
  outdatedBy: string | undefined;
  readonly #context: ScriptContext;
  readonly #traced: TracedScript;
  readonly #explanations: ScriptExplanations;
  #key: CacheKey | undefined;
  /** Undefined if nothing is shared. */
  #sharedKey: CacheKey | undefined;
  /** The entry of the hit, or of this run after `close`. */
  #entry: CacheEntry | undefined;
  /** The file of `#entry` if it is an earlier local entry. */
  #file: string | undefined;

  constructor(context: ScriptContext) {
    const { script, environments, isTraced, announce, settings, project, store, snapshot } = context;
    this.#context = context;
    this.#traced = new TracedScript(script, environments, isTraced, announce);
    const { packageDirectory } = project;
    this.#explanations = new ScriptExplanations(settings.root, packageDirectory, script, store, snapshot);
  }

  /** @param purpose "look" restores nothing and stores no explanation */
  async find(purpose: "use" | "look"): Promise<this> {
    const { shared, settings } = this.#context;
    this.#key = await this.#context.makeLocalKey();
    if (shared) this.#sharedKey = await this.#context.makeSharedKey(shared.secret);
    this.why = "the cache is not read";
    if (!settings.isRead && !shared?.isRead) return this;
    const sharedLookup = shared && { cache: shared, key: this.#sharedKey!.hash };
    const mismatch = await this.#lookUp({ access: settings, shared: sharedLookup, purpose });
    if (!this.hit) this.why = mismatch ?? (await this.#explainKey(this.#key));
    if (purpose === "use") this.#storeExplanation(this.why);
    return this;
  }

  /** Explains why the key has no entry. The last run may differ in files, too. */
  async #explainKey(key: CacheKey): Promise<string> {
    const context = this.#context;
    const last = this.#explanations.last;
    const stored = last ? context.snapshot.entries(last.key).map(({ entry }) => entry) : [];
    const text = this.#explanations.explain(key, context.rule, await differencesFromNearest(context, stored));
    if (last || !context.shared?.isRead) return text;
    return `${text}; ${describeUnshared(key, context.rule, context.settings.root)}`;
  }

  /** Returns the cache miss reason; undefined after a hit, or if there is no entry. */
  async #lookUp(lookup: Omit<EntryLookup, "key">): Promise<string | undefined> {
    const applied = await lookUpEntry(this.#context, { ...lookup, key: this.#key!.hash });
    if (typeof applied !== "object") return applied;
    [this.hit, this.#entry, this.#file, this.why] = [applied.hit, applied.entry, applied.file, applied.why];
    return undefined;
  }

  get isShared(): boolean {
    return this.#context.shared !== undefined;
  }

  async take(claim: string): Promise<boolean> {
    const shared = { cache: this.#context.shared!, key: leaseKey(claim, this.#sharedKey!.hash, "made") };
    const access = { isRead: false, isWritten: this.#context.settings.isWritten };
    const mismatch = await this.#lookUp({ access, shared, purpose: "use" });
    if (!this.hit) this.why = mismatch ?? (await explainMissing(this.#sharing, claim));
    return this.hit !== undefined;
  }

  async readFailure(claim: string): Promise<readonly OutputChunk[] | undefined> {
    return await readFailureLog(this.#sharing, claim);
  }

  get basis(): HitEvidence | undefined {
    const { rule, project, isTraced } = this.#context;
    // Declared inputs come from git, so stat fingerprints do not prove that the list is unchanged.
    if (this.#file === undefined || !isTraced) return undefined;
    const { path } = this.#explanations;
    return hitEvidenceOf(rule, project, { file: this.#file, explanation: path, log: this.#entry!.log });
  }

  get inputs(): RecordedInputFiles | undefined {
    const { rule, project, isTraced, location } = this.#context;
    const { isMachinePath } = location;
    const options = { key: this.#key!, isTraced, isMachinePath };
    return this.#entry && new RecordedInputFiles(this.#entry, rule, project, options);
  }

  start(step: number, request: StepRequest): Child & { readonly isTraced: Promise<boolean> } {
    return this.#traced.start(step, request);
  }

  keepOutput(step: number, bytes: Uint8Array, isError: boolean): void {
    this.#traced.log.add(step, isError, bytes);
  }

  environmentOf(step: number): Readonly<Record<string, string>> {
    return this.#context.environments[step]!;
  }

  async close(outcome: string, publication?: LeasedPublication): Promise<readonly string[]> {
    try {
      return await this.#finish(outcome, publication);
    } finally {
      this.#traced.release();
    }
  }

  async #finish(outcome: string, publication?: LeasedPublication): Promise<readonly string[]> {
    const { settings, shared, subject, isTraced } = this.#context;
    const traced = this.#traced;
    const trace = await traced.finish();
    const lines = (trace?.calls ?? []).map((call) => `trace ${call}`);
    if (traced.refusal) {
      this.isFaulty = settings.isVerified;
      return [...lines, describeNotCached(subject, traced.refusal, "")];
    }
    if (outcome === "failure") lines.push(...this.#explainFailure());
    if (publication && !["success", "stopped"].includes(outcome)) await this.#publishFailure(publication);
    if (outcome !== "success" || this.#context.script.review?.hasRefusals) return lines;
    lines.push(...this.#context.describeMissed(trace));
    if (settings.isVerified) return [...lines, ...(await this.#verify(trace!))];
    if ((!trace && isTraced) || !(settings.isWritten || shared?.isWritten)) return lines;
    return [...lines, ...(await this.#record(trace, publication))];
  }

  async #record(trace: Trace | undefined, publication?: LeasedPublication): Promise<readonly string[]> {
    const { subject, project } = this.#context;
    const [context, traced, key, sharedKey] = [this.#context, this.#traced, this.#key!, this.#sharedKey];
    const { recordEntry } = await import("./entry-recording.ts");
    try {
      const { entry, lines } = await recordEntry({ context, traced, trace, key, sharedKey }, publication);
      this.#entry = entry ?? this.#entry;
      return lines;
    } catch (error) {
      const { why, detail } =
        error instanceof NotCacheableError ? error : { why: "store" as const, detail: errorMessage(error) };
      // Above the project, files are created and deleted for other reasons.
      if (["changed", "names"].includes(why) && !isBelow(project.root, detail)) this.outdatedBy = detail;
      const hint =
        error instanceof ModifiedInputError
          ? await (await import("./entry/modified-input-hint.ts")).adviseFor(error, subject, project)
          : why === "network"
            ? this.#context.adviseOnNetwork(trace!)
            : undefined;
      const line = describeNotCached(subject, why, detail, hint);
      this.#storeExplanation(line);
      return [line];
    }
  }

  async #publishFailure(publication: LeasedPublication): Promise<void> {
    const { log, elapsed } = this.#traced;
    const { findSecret } = await import("./entry-recording.ts");
    const hasSecret = findSecret({ context: this.#context, traced: this.#traced }) !== undefined;
    const { label } = this.#context.script;
    await publishFailure(this.#sharing, publication, label, elapsed, hasSecret ? undefined : log);
  }

  get #sharing(): SharedRunCache {
    return { cache: this.#context.shared!, key: this.#sharedKey!, store: this.#context.store };
  }

  async #verify(trace: Trace): Promise<string[]> {
    const { subject, rule, project, location } = this.#context;
    const { verify } = await import("./restore/input-verification.ts");
    const lines = await verify(subject, trace, rule, project, location.isMachinePath);
    this.isFaulty = lines.length > 0;
    return lines;
  }

  #explainFailure(): string[] {
    const isFirst = this.#explanations.last?.text !== FAILED;
    this.#storeExplanation(FAILED);
    return this.#context.describeWithheld(this.#traced.log.text(), isFirst);
  }

  #storeExplanation(text: string): void {
    this.#explanations.record(text, this.#key!, this.hit !== undefined);
  }
}
