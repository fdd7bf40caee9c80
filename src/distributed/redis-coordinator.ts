// Coordinator of a shared run over Redis. The atomic steps are Lua scripts (redis-scripts.ts).
//
// Invariants:
// - Data from Redis is validated but not trusted: outputs come from the shared cache, where they are signed.
// - A heartbeat renews all leases every third of the lease time. A lease that was lost stays lost.
import { UserError } from "../user-error.ts";
import type { LeaseResponse, RunCoordinator, Lease, PublishedResult } from "./coordinator.ts";
import { ConnectionLostError, RedisConnection, type RedisServer, type Send } from "./redis-connection.ts";
import { ACQUIRE_LEASE, JOIN, PUBLISH, RELEASE, RENEW_LEASES } from "./redis-scripts.ts";

export interface RedisCoordinatorOptions {
  readonly server: RedisServer;
  readonly id: string;
  /** Hash that identifies the plan. */
  readonly plan: string;
  readonly machine: string;
  /** Key of the recorded durations. */
  readonly project: string;
  /** Milliseconds: the lease time without renewal, and how long the server may be unreachable. */
  readonly leaseTime: number;
  readonly retryTimeout: number;
}

/** Seconds. */
const RUN_TTL = 24 * 3600;
const TIMES_TTL = 90 * 24 * 3600;
/** Version of the stored format. */
const FORMAT = 1;
const MAX_MACHINE_NAME = 80;
/** Maximum exit code of a process. */
const MAX_EXIT_CODE = 255;
/** Milliseconds for the last commands of a run. */
const CLOSE_TIMEOUT = 2000;

/** @throws UserError if the server cannot be used, or the other machines run another plan */
export async function openRedisCoordinator(options: RedisCoordinatorOptions): Promise<RunCoordinator> {
  const coordinator = new RedisCoordinator(options);
  await coordinator.open();
  return coordinator;
}

class RedisCoordinator implements RunCoordinator {
  readonly results = new Map<number, PublishedResult>();
  readonly times = new Map<string, number>();
  readonly machine: string;
  lost: string | undefined;
  readonly #options: RedisCoordinatorOptions;
  readonly #connection: RedisConnection;
  readonly #owner = crypto.randomUUID();
  readonly #keys: readonly string[];
  readonly #leases = new Map<number, Lease>();
  #onNews = () => {};
  #timer: ReturnType<typeof setInterval> | undefined;
  #end: ReturnType<typeof setTimeout> | undefined;

  constructor(options: RedisCoordinatorOptions) {
    this.#options = options;
    this.machine = options.machine;
    // Braces are a hash tag: all keys of a run are in one slot of a Redis cluster, because scripts use them
    // together.
    const run = `rt:share:${FORMAT}:{${encodeURIComponent(options.id)}}`;
    this.#keys = [`${run}:results`, `${run}:claims`, `${run}:lock:`, `${run}:news`, `${run}:plan`];
    this.#connection = new RedisConnection({
      server: options.server,
      channel: this.#keys[3]!,
      retryTimeout: options.retryTimeout,
      onMessage: (text) => this.#onMessage(text),
      onOpen: (send) => this.#join(send),
      onLost: (reason) => {
        this.lost = reason;
        this.#onNews();
      },
    });
  }

  async open(): Promise<void> {
    await this.#connection.open();
    const stored = toStrings(await this.#connection.send("HGETALL", [this.#timesKey]).catch(() => []));
    for (const [name, time] of pairs(stored)) if (Number(time) >= 0) this.times.set(name, Number(time));
    this.#timer = setInterval(() => void this.#renew(), this.#options.leaseTime / 3);
  }

  get #timesKey(): string {
    return `rt:times:${FORMAT}:${encodeURIComponent(this.#options.project)}`;
  }

  /** @throws UserError if the other machines have another plan */
  async #join(send: Send): Promise<void> {
    const { plan, id } = this.#options;
    const keys = [this.#keys[4]!, this.#keys[0]!];
    const response = (await send("EVAL", [JOIN, "2", ...keys, plan, String(RUN_TTL)])) as [unknown, unknown];
    if (response[0] !== plan)
      throw new UserError(
        `The machines that share "${id}" differ in commit, options, system or version of rt`,
        "use the same on all machines, or another --share-id for another run",
      );
    for (const [script, text] of pairs(toStrings(response[1]))) this.#recordResult(script, text);
    this.#onNews();
  }

  #onMessage(text: string): void {
    const space = text.indexOf(" ");
    if (space > 0) this.#recordResult(text.slice(0, space), text.slice(space + 1));
    this.#onNews();
  }

  #recordResult(script: string, text: string): void {
    const result = readResult(text);
    if (result && /^\d{1,9}$/.test(script) && !this.results.has(Number(script)))
      this.results.set(Number(script), result);
  }

  async #evaluate(script: string, args: readonly (string | number)[]): Promise<unknown> {
    return await this.#connection.send("EVAL", [script, "4", ...this.#keys.slice(0, 4), ...args.map(String)]);
  }

  async claim(scripts: readonly number[]): Promise<LeaseResponse> {
    const { leaseTime } = this.#options;
    const response = await this.#evaluate(ACQUIRE_LEASE, [this.#owner, leaseTime, RUN_TTL, ...scripts]);
    const [kind, first, second] = toStrings(response);
    if (kind === "held") return { kind, left: Math.max(0, Number(first) || 0) };
    const script = Number(first);
    if (!scripts.includes(script) || second === undefined)
      throw new UserError("Unexpected response from Redis", "--share needs Redis 6 or later");
    if (kind === "claimed") {
      const claim = { taskIndex: script, id: second };
      this.#leases.set(script, claim);
      return { kind, claim };
    }
    this.#recordResult(first!, second);
    // An unreadable result counts as unshared. Otherwise the task would be requested forever.
    if (!this.results.has(script)) this.results.set(script, UNREADABLE);
    return { kind: "known" };
  }

  isHeld({ taskIndex: script, id }: Lease): boolean {
    return this.#leases.get(script)?.id === id;
  }

  async publish(claim: Lease, result: Omit<PublishedResult, "claim" | "machine">): Promise<boolean> {
    const published: PublishedResult = { claim: claim.id, machine: this.machine, ...result };
    const isOwn = this.isHeld(claim);
    this.#leases.delete(claim.taskIndex);
    if (!isOwn) return false;
    try {
      const response = await this.#evaluate(PUBLISH, [
        claim.taskIndex,
        claim.id,
        JSON.stringify(published),
        RUN_TTL,
      ]);
      if (response !== 1) return false;
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error;
    }
    this.results.set(claim.taskIndex, published);
    return true;
  }

  release(claim: Lease): void {
    if (!this.isHeld(claim)) return;
    this.#leases.delete(claim.taskIndex);
    void this.#evaluate(RELEASE, [claim.taskIndex, claim.id]).catch(() => {});
  }

  async #renew(): Promise<void> {
    const claims = [...this.#leases.values()];
    if (claims.length === 0 || this.lost !== undefined) return;
    const { leaseTime } = this.#options;
    const args = claims.flatMap(({ taskIndex: script, id }) => [script, id]);
    const lost = toStrings(await this.#evaluate(RENEW_LEASES, [leaseTime, RUN_TTL, ...args]).catch(() => []));
    for (const claim of claims)
      if (lost.includes(String(claim.taskIndex)) && this.isHeld(claim)) this.#leases.delete(claim.taskIndex);
  }

  listen(onNews: () => void): void {
    this.#onNews = onNews;
  }

  keepTimes(times: ReadonlyMap<string, number>): void {
    if (times.size === 0) return;
    const fields = [...times].flatMap(([name, time]) => [name, String(Math.round(time))]);
    const key = this.#timesKey;
    void this.#connection.send("HSET", [key, ...fields]).catch(() => {});
    void this.#connection.send("EXPIRE", [key, String(TIMES_TTL)]).catch(() => {});
  }

  hurry(): void {
    this.#end ??= setTimeout(() => this.#connection.close(), CLOSE_TIMEOUT);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const claims = [...this.#leases.values()].flatMap(({ taskIndex: script, id }) => [script, id]);
    this.#leases.clear();
    if (this.lost === undefined) {
      this.hurry();
      // Queued behind everything that was sent before.
      await this.#evaluate(RELEASE, claims).catch(() => {});
    }
    clearTimeout(this.#end);
    this.#connection.close();
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
      code <= MAX_EXIT_CODE &&
      isCount(step) &&
      (kind === "failure") === code > 0;
    return isWhole ? { claim, machine: machine.slice(0, MAX_MACHINE_NAME), kind, code, step } : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function toStrings(response: unknown): string[] {
  if (Array.isArray(response)) return response.map(String);
  return response !== null && typeof response === "object" ? Object.entries(response).flat().map(String) : [];
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!] as [string, string]] : []));
}
