// One script and what is known of earlier runs of it: found before it starts, or kept after it has ended.
//
// Contract: in doubt the script runs, and nothing is kept; one line says why. The cache never fails a script, and what
// it cannot read or write is the same as an empty one.
import type { Trace, TracingOperations } from "../../platform/contract/tracing.ts";
import { list, look } from "../../platform/path-state.ts";
import type { Child } from "../../platform/contract/process-tree.ts";
import { host } from "../../platform/process.ts";
import { trees } from "../../platform/process-tree.ts";
import type { CacheRule, CacheSettings } from "../settings/cache.ts";
import { findCandidates } from "./candidates.ts";
import { findDifference } from "./check.ts";
import { describeDoubt, describeUnshared } from "./doubts.ts";
import { cachedEnvironment } from "./environment.ts";
import type { Entry } from "./entry.ts";
import { describeHit, FAILED, type Finding, parseFinding } from "./finding.ts";
import { hashBytes } from "./hashes.ts";
import { Inputs, listCounted } from "./inputs.ts";
import { compareKeys, hashOf, type Key, makeKey, stampOf } from "./key.ts";
import { Log, readLog } from "./log.ts";
import { openHashes, writeHashes } from "./memory.ts";
import { Mentions } from "./mention.ts";
import { IGNORED, matcher, OWN_PLACES } from "./patterns.ts";
import {
  fixedPlaces,
  type IsFixed,
  isBelow,
  keepEntry,
  keepPath,
  placeEntry,
  withoutBinariesAbove,
} from "./place.ts";
import { addDeclared, type Recorded, recordRun, type Rooted, Unkept } from "./record.ts";
import { restoreOutputs } from "./restore.ts";
import { describeUndeclared, findUndeclared } from "./verification.ts";
import type { SharedCache } from "./shared.ts";
import type { CachedRun, CachedScript, Hit, StepRequest } from "./script.ts";
import type { Store } from "./store.ts";

export class Run implements CachedRun {
  hit: Hit | undefined;
  why = "";
  isFaulty = false;
  outdatedBy: string | undefined;
  readonly #script: CachedScript;
  readonly #rule: CacheRule;
  readonly #settings: CacheSettings;
  /** Absent where its inputs are declared. */
  readonly #tracing: TracingOperations | undefined;
  readonly #store: Store;
  readonly #shared: SharedCache | undefined;
  readonly #world: Rooted;
  readonly #environments: readonly Readonly<Record<string, string>>[];
  readonly #withheld: readonly string[];
  readonly #log = new Log();
  readonly #started = performance.now();
  readonly #id: string;
  #key: Key | undefined;
  /** Where something is shared: what others that start the script in the same way come to as well. */
  #sharedKey = "";
  /** What is kept of this run, or what it was found by. */
  #entry: Entry | undefined;
  #tracer: ReturnType<TracingOperations["openTracer"]> | undefined;
  #refused = false;
  /** What was found out the last time. */
  readonly #last: Finding | undefined;

  constructor(
    script: CachedScript,
    rule: CacheRule,
    settings: CacheSettings,
    packageDirectory: string,
    tracing: TracingOperations | undefined,
    store: Store,
    shared: SharedCache | undefined,
  ) {
    this.#script = script;
    this.#rule = rule;
    this.#settings = settings;
    this.#tracing = tracing;
    this.#store = store;
    this.#shared = rule.isShared ? shared : undefined;
    const original = host.originalEnvironment();
    const environments = script.steps.map(({ env }) =>
      cachedEnvironment(env, original, rule.env, settings.root),
    );
    this.#environments = environments.map(({ variables }) => variables);
    this.#withheld = environments.flatMap(({ withheld }) => withheld);
    this.#id = hashBytes(`${settings.root}\0${packageDirectory}\0${script.scriptName}`);
    this.#last = parseFinding(store.readText("scripts", `${this.#id}.json`));
    const ignored = matcher(rule.ignore, packageDirectory);
    const always = matcher([...IGNORED, ...OWN_PLACES], "/");
    this.#world = {
      look,
      list,
      hashes: openHashes(settings.root, look, store),
      // The store is no input of anything, wherever it is.
      isIgnored: (path) => ignored(path) || always(path) || isBelow(path, store.directory),
      root: settings.root,
      isDeclared: matcher(rule.outputs, packageDirectory),
      declared: rule.outputs,
      packageDirectory,
      keep: async (path, state) => {
        const hash = await store.keepFile(path);
        const now = look(path);
        return now.kind === "file" && now.stamp === state.stamp ? hash : null;
      },
    };
  }

  /** @param purpose "look" puts nothing back and remembers nothing */
  async find(purpose: "use" | "look"): Promise<this> {
    const { root } = this.#settings;
    this.#key = await this.#makeOwnKey();
    if (this.#shared) {
      const program = await hashOf(process.execPath, this.#world.hashes, look);
      this.#sharedKey = (await this.#makeKey(this.#shared.secret, program)).hash;
    }
    this.why = "nothing that is kept is to be used";
    if (!this.#settings.isRead && !this.#shared?.isRead) return this;
    let difference: string | undefined;
    const lookup = { store: this.#store, access: this.#settings, key: this.#key.hash, place: this.#world };
    const shared = this.#shared && { cache: this.#shared, key: this.#sharedKey };
    for await (const { kept, isOthers, prepare, use } of findCandidates(lookup, shared)) {
      const entry = placeEntry(kept, root, this.#isFixed);
      if (!entry) {
        difference ??= `the script has seen where it is, and so its result is only good in ${kept.root}`;
        continue;
      }
      const found = await findDifference(entry, this.#world);
      if (found !== null) {
        difference ??= found;
        continue;
      }
      const isToBeUsed = purpose === "use" && (await prepare(entry));
      const hit = purpose === "look" ? NOT_APPLIED : isToBeUsed ? await this.#apply(entry) : undefined;
      if (!hit) {
        difference ??= "what it made is damaged in the cache, or cannot be put back";
        continue;
      }
      this.hit = hit;
      this.#entry = entry;
      const elsewhere = kept.root === root ? "" : ` in ${kept.root}`;
      this.why = describeHit(entry, isOthers ? ", when others ran it" : elsewhere);
      if (purpose === "use") use();
      break;
    }
    if (!this.hit) this.why = difference ?? this.#explainKey();
    if (purpose === "use") this.#tell(this.why);
    writeHashes(this.#world.hashes, root, this.#store);
    return this;
  }

  get #variables(): Readonly<Record<string, string>> {
    return Object.assign({}, ...this.#environments);
  }

  get #isFixed(): IsFixed {
    const { HOME = "", PATH = "" } = this.#variables;
    return fixedPlaces(HOME, withoutBinariesAbove(PATH, this.#settings.root));
  }

  async #makeOwnKey(): Promise<Key> {
    return await this.#makeKey(this.#store.secret(), stampOf(process.execPath));
  }

  async #makeKey(secret: Uint8Array, program: string): Promise<Key> {
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
    return await makeKey(request, hashes, look);
  }

  get inputs(): Inputs | undefined {
    const known = { key: this.#key!, isTraced: this.#tracing !== undefined, isFixed: this.#isFixed };
    return this.#entry && new Inputs(this.#entry, this.#rule, this.#world, known);
  }

  /** What is to be kept of a run that has ended well. Throws Unkept. */
  async #record(trace: Trace | undefined): Promise<Recorded> {
    if (trace) return await recordRun(trace, this.#world);
    const [difference] = compareKeys(this.#key!.fields, (await this.#makeOwnKey()).fields);
    if (difference !== undefined) throw new Unkept("edited", difference);
    const recorded: Recorded = { conditions: [], outputs: [], own: [] };
    await addDeclared(recorded, this.#world);
    return recorded;
  }

  async #apply(entry: Entry): Promise<Hit | undefined> {
    const log = this.#store.readBlob(entry.log);
    if (!log) return undefined;
    const restored = await restoreOutputs(entry, this.#settings.root, this.#store, this.#world);
    return restored === null ? undefined : { pieces: readLog(log), saved: entry.duration, restored };
  }

  start(step: number, request: StepRequest): Child & { readonly isTraced: Promise<boolean> } {
    const { program, argv } = this.#script.steps[step]!;
    const wanted = { ...request, program, argv, env: this.environmentOf(step) };
    const plain = () => ({
      ...trees.startChild({ ...wanted, inheritStdin: false }),
      isTraced: Promise.resolve(true),
    });
    if (!this.#tracing) return plain();
    try {
      this.#tracer ??= this.#tracing.openTracer({
        program: process.execPath,
        keepsCalls: host.originalVariable("RT_DEBUG") === "trace",
      });
    } catch {
      // No thread is to be had: it starts as any other.
      this.#refused = true;
      return plain();
    }
    const child = this.#tracer.start(wanted);
    void child.isTraced.then((isTraced) => (this.#refused ||= !isTraced));
    return child;
  }

  keepOutput(step: number, bytes: Uint8Array, isError: boolean): void {
    this.#log.add(step, isError, bytes);
  }

  environmentOf(step: number): Readonly<Record<string, string>> {
    return this.#environments[step]!;
  }

  async close(outcome: string): Promise<readonly string[]> {
    const trace = await this.#tracer?.finish();
    const lines = [...(trace?.calls ?? [])].map((call) => `trace ${call}`);
    if (this.#refused) {
      this.isFaulty = this.#settings.isVerified;
      return [...lines, describeDoubt(this.#script.label, "refused", "seccomp")];
    }
    if (outcome === "failure") lines.push(...this.#explainWithheld());
    if (outcome !== "success") return lines;
    if (this.#settings.isVerified) return [...lines, ...(await this.#verify(trace!))];
    const shared = this.#shared?.isWritten ? this.#shared : undefined;
    if ((!trace && this.#tracing) || !(this.#settings.isWritten || shared)) return lines;
    try {
      const { conditions, outputs, own } = await this.#record(trace);
      const text = this.#log.text();
      const shown = this.#rule.env.find((name) => isSecret(name) && this.#shows(name, text));
      if (shown !== undefined) throw new Unkept("secret", shown);
      if (this.#log.isTooLarge) throw new Unkept("output", "64 MB to the terminal");
      const entry: Entry = {
        label: this.#script.label,
        created: Date.now(),
        duration: performance.now() - this.#started,
        conditions,
        outputs,
        own,
        log: this.#store.keepBytes(this.#log.toBytes()),
      };
      const kept = keepEntry(entry, this.#settings.root, this.#mentionsIn(entry));
      if (this.#settings.isWritten) this.#store.addEntry(this.#key!.hash, kept);
      this.#entry = entry;
      const outside = shared?.findOutside(entry, this.#world);
      if (outside === undefined) shared?.offer(this.#sharedKey, kept, this.#store);
      else lines.push(describeUnshared(this.#script.label, outside));
      this.#store.shrinkNowAndThen();
      writeHashes(this.#world.hashes, this.#settings.root, this.#store);
      return lines;
    } catch (error) {
      const { why, detail } =
        error instanceof Unkept ? error : { why: "store" as const, detail: (error as Error).message };
      // In the folders above names come and go.
      if (why === "changed" && !isBelow(this.#settings.root, detail)) this.outdatedBy = detail;
      const line = describeDoubt(this.#script.label, why, detail);
      this.#tell(line);
      return [...lines, line];
    }
  }

  /** Lines for people; without any it has done nothing but what is declared. */
  async #verify(trace: Trace): Promise<string[]> {
    const { label } = this.#script;
    const lines: string[] = [];
    try {
      if (trace.doubt) throw new Unkept(trace.doubt.kind, trace.doubt.detail);
      const undeclared = await findUndeclared(trace, this.#rule, this.#world, this.#isFixed);
      lines.push(...describeUndeclared(label, undeclared));
    } catch (error) {
      if (!(error instanceof Unkept)) throw error;
      lines.push(describeDoubt(label, error.why, error.detail));
    }
    this.isFaulty = lines.length > 0;
    return lines;
  }

  /** Of what it has made. */
  #mentionsIn({ outputs }: Entry): string[] {
    const { root } = this.#settings;
    const mentions = new Mentions(root);
    mentions.lookAt(this.#log.bytes());
    for (const output of outputs) {
      mentions.lookAt(Buffer.from(keepPath(output.path, root)));
      if (output.kind === "link") mentions.lookAt(Buffer.from(output.target));
      if (output.kind === "file") mentions.lookIn(this.#store.blobPath(output.hash));
    }
    return [...mentions.found];
  }

  #shows(name: string, text: string): boolean {
    const value = this.#environments[0]?.[name] ?? "";
    return value.length >= SHORTEST_SECRET && text.includes(value);
  }

  /** A script that fails may miss a variable: those that it names, or, at its first failure, any. */
  #explainWithheld(): string[] {
    const text = [this.#log.text(), ...this.#script.steps.flatMap(({ argv }) => argv)].join("\n");
    const missed = [...new Set(this.#withheld)].filter((name) =>
      new RegExp(`\\b${RegExp.escape(name)}\\b`).test(text),
    );
    const isFirst = this.#last?.text !== FAILED;
    this.#tell(FAILED);
    if (this.#withheld.length === 0 || (missed.length === 0 && !isFirst)) return [];
    const names = missed.length > 0 ? missed.join(", ") : `${new Set(this.#withheld).size} of your variables`;
    return [
      `${this.#script.label} is cached, so it was not given ${names}; ` +
        'if it needs one, declare it: env = ["NAME"] in [run.cache]',
    ];
  }

  #explainKey(): string {
    if (!this.#last) return "it has not run before";
    const differences = compareKeys(this.#last.fields, this.#key!.fields);
    return differences[0] ?? "its last run was not kept";
  }

  #tell(text: string): void {
    const { hash, fields } = this.#key!;
    const finding: Finding = { label: this.#script.label, at: Date.now(), text, key: hash, fields };
    try {
      this.#store.writeText("scripts", `${this.#id}.json`, JSON.stringify(finding));
    } catch {
      // Nothing but an explanation is lost.
    }
  }
}

/** What would be put back is not looked at. */
const NOT_APPLIED: Hit = { pieces: [], saved: 0, restored: 0 };

const SHORTEST_SECRET = 6;

function isSecret(name: string): boolean {
  return /TOKEN|SECRET|PASS|KEY|CREDENTIAL|AUTH/i.test(name);
}
