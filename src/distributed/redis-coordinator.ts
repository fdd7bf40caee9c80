// The board of a run, kept by a Redis: src/distributed/coordinator.ts says what it does, redis-scripts.ts by which steps.
//
// Contract: nothing of what Redis says is believed beyond its form: results are looked for in the shared cache, where they
// are signed. One timer renews all claims, at a third of a lock's life; a claim that it finds lost stays lost.
import { UserError } from "../user-error.ts";
import type { LeaseResponse, RunCoordinator, Lease, PublishedResult } from "./coordinator.ts";
import { ConnectionLostError, RedisConnection, type RedisServer, type Send } from "./redis-connection.ts";
import { ACQUIRE_LEASE, JOIN, PUBLISH, RELEASE, RENEW_LEASES } from "./redis-scripts.ts";

export interface RedisBoardOptions {
  readonly server: RedisServer;
  /** Of the run. */
  readonly id: string;
  /** A name of the plan that no other plan has. */
  readonly plan: string;
  /** Of this machine. */
  readonly machine: string;
  /** What times of earlier runs are kept under. */
  readonly project: string;
  /** Milliseconds: how long a script is one's own without a word of its machine, and how long the server may be away. */
  readonly life: number;
  readonly patience: number;
}

/** Seconds. */
const RUN_LIFE = 24 * 3600;
const TIMES_LIFE = 90 * 24 * 3600;
/** Of another shape of what is kept. */
const FORMAT = 1;
const MOST_SHOWN = 80;
/** Of a process: a greater one would be another. */
const MOST_CODE = 255;
/** Milliseconds for the last words. */
const LAST_WORDS = 2000;

/** Throws Failure: the server cannot be used, or the others do something else. */
export async function openRedisBoard(options: RedisBoardOptions): Promise<RunCoordinator> {
  const board = new RedisBoard(options);
  await board.open();
  return board;
}

class RedisBoard implements RunCoordinator {
  readonly results = new Map<number, PublishedResult>();
  readonly times = new Map<string, number>();
  readonly machine: string;
  lost: string | undefined;
  readonly #options: RedisBoardOptions;
  readonly #link: RedisConnection;
  readonly #whose = crypto.randomUUID();
  readonly #keys: readonly string[];
  readonly #held = new Map<number, Lease>();
  #onNews = () => {};
  #timer: ReturnType<typeof setInterval> | undefined;
  #end: ReturnType<typeof setTimeout> | undefined;

  constructor(options: RedisBoardOptions) {
    this.#options = options;
    this.machine = options.machine;
    // In braces: what is done at once has to be in one place of a cluster.
    const run = `rt:share:${FORMAT}:{${encodeURIComponent(options.id)}}`;
    this.#keys = [`${run}:results`, `${run}:claims`, `${run}:lock:`, `${run}:news`, `${run}:plan`];
    this.#link = new RedisConnection({
      server: options.server,
      channel: this.#keys[3]!,
      patience: options.patience,
      onMessage: (text) => this.#hear(text),
      onOpen: (send) => this.#join(send),
      onLost: (reason) => {
        this.lost = reason;
        this.#onNews();
      },
    });
  }

  async open(): Promise<void> {
    await this.#link.open();
    const known = toTexts(await this.#link.send("HGETALL", [this.#timesKey]).catch(() => []));
    for (const [name, time] of pairs(known)) if (Number(time) >= 0) this.times.set(name, Number(time));
    this.#timer = setInterval(() => void this.#renew(), this.#options.life / 3);
  }

  get #timesKey(): string {
    return `rt:times:${FORMAT}:${encodeURIComponent(this.#options.project)}`;
  }

  /** Throws Failure where the others have another plan. */
  async #join(send: Send): Promise<void> {
    const { plan, id } = this.#options;
    const keys = [this.#keys[4]!, this.#keys[0]!];
    const answer = (await send("EVAL", [JOIN, "2", ...keys, plan, String(RUN_LIFE)])) as [unknown, unknown];
    if (answer[0] !== plan)
      throw new UserError(
        `The machines that share "${id}" run something else: another commit, options, system or version of rt`,
        "all of them need the same; another run needs another --share-id",
      );
    for (const [script, text] of pairs(toTexts(answer[1]))) this.#learn(script, text);
    this.#onNews();
  }

  #hear(text: string): void {
    const space = text.indexOf(" ");
    if (space > 0) this.#learn(text.slice(0, space), text.slice(space + 1));
    this.#onNews();
  }

  #learn(script: string, text: string): void {
    const result = readResult(text);
    if (result && /^\d{1,9}$/.test(script) && !this.results.has(Number(script)))
      this.results.set(Number(script), result);
  }

  async #evaluate(script: string, args: readonly (string | number)[]): Promise<unknown> {
    return await this.#link.send("EVAL", [script, "4", ...this.#keys.slice(0, 4), ...args.map(String)]);
  }

  async claim(scripts: readonly number[]): Promise<LeaseResponse> {
    const { life } = this.#options;
    const answer = await this.#evaluate(ACQUIRE_LEASE, [this.#whose, life, RUN_LIFE, ...scripts]);
    const [kind, first, second] = toTexts(answer);
    if (kind === "held") return { kind, left: Math.max(0, Number(first) || 0) };
    const script = Number(first);
    if (!scripts.includes(script) || second === undefined)
      throw new UserError("Redis answers what it was not asked", "--share needs a Redis, from version 6 on");
    if (kind === "claimed") {
      const claim = { taskIndex: script, id: second };
      this.#held.set(script, claim);
      return { kind, claim };
    }
    this.#learn(first!, second);
    // What it cannot be read as is nobody's: it would be asked for for ever.
    if (!this.results.has(script)) this.results.set(script, UNREADABLE);
    return { kind: "known" };
  }

  isHeld({ taskIndex: script, id }: Lease): boolean {
    return this.#held.get(script)?.id === id;
  }

  async publish(claim: Lease, result: Omit<PublishedResult, "claim" | "machine">): Promise<boolean> {
    const whole: PublishedResult = { claim: claim.id, machine: this.machine, ...result };
    const isOwn = this.isHeld(claim);
    this.#held.delete(claim.taskIndex);
    if (!isOwn) return false;
    try {
      const answer = await this.#evaluate(PUBLISH, [
        claim.taskIndex,
        claim.id,
        JSON.stringify(whole),
        RUN_LIFE,
      ]);
      if (answer !== 1) return false;
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error;
    }
    this.results.set(claim.taskIndex, whole);
    return true;
  }

  release(claim: Lease): void {
    if (!this.isHeld(claim)) return;
    this.#held.delete(claim.taskIndex);
    void this.#evaluate(RELEASE, [claim.taskIndex, claim.id]).catch(() => {});
  }

  async #renew(): Promise<void> {
    const claims = [...this.#held.values()];
    if (claims.length === 0 || this.lost !== undefined) return;
    const { life } = this.#options;
    const args = claims.flatMap(({ taskIndex: script, id }) => [script, id]);
    const lost = toTexts(await this.#evaluate(RENEW_LEASES, [life, RUN_LIFE, ...args]).catch(() => []));
    for (const claim of claims)
      if (lost.includes(String(claim.taskIndex)) && this.isHeld(claim)) this.#held.delete(claim.taskIndex);
  }

  listen(onNews: () => void): void {
    this.#onNews = onNews;
  }

  keepTimes(times: ReadonlyMap<string, number>): void {
    if (times.size === 0) return;
    const fields = [...times].flatMap(([name, time]) => [name, String(Math.round(time))]);
    const key = this.#timesKey;
    void this.#link.send("HSET", [key, ...fields]).catch(() => {});
    void this.#link.send("EXPIRE", [key, String(TIMES_LIFE)]).catch(() => {});
  }

  hurry(): void {
    this.#end ??= setTimeout(() => this.#link.close(), LAST_WORDS);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const claims = [...this.#held.values()].flatMap(({ taskIndex: script, id }) => [script, id]);
    this.#held.clear();
    if (this.lost === undefined) {
      this.hurry();
      // Behind everything that was sent before.
      await this.#evaluate(RELEASE, claims).catch(() => {});
    }
    clearTimeout(this.#end);
    this.#link.close();
  }
}

const UNREADABLE: PublishedResult = { claim: "", machine: "?", kind: "unshared", code: 0, step: 0 };

function readResult(text: string): PublishedResult | undefined {
  try {
    const { claim, machine, kind, code, step } = JSON.parse(text) as Record<string, unknown>;
    const isWhole =
      typeof claim === "string" &&
      typeof machine === "string" &&
      (kind === "success" || kind === "failure" || kind === "unshared") &&
      isCount(code) &&
      code <= MOST_CODE &&
      isCount(step) &&
      (kind === "failure") === code > 0;
    return isWhole ? { claim, machine: machine.slice(0, MOST_SHOWN), kind, code, step } : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function toTexts(answer: unknown): string[] {
  if (Array.isArray(answer)) return answer.map(String);
  return answer !== null && typeof answer === "object" ? Object.entries(answer).flat().map(String) : [];
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!] as [string, string]] : []));
}
