// Tests the Redis coordinator on a real redis-server: leases, fencing tokens, results, and recovery from lost data.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openRedisCoordinator } from "../../src/distributed/redis-coordinator.ts";
import { HAS_REDIS, type Redis, startRedis } from "../support/servers/redis.ts";
import { openRefusingProxy } from "../support/servers/redis-proxy.ts";
import { waitUntil } from "../support/processes.ts";

let redis: Redis;
beforeAll(async () => void (HAS_REDIS && (redis = await startRedis())));
afterAll(async () => await redis?.[Symbol.asyncDispose]());

const DAY = 24 * 3600 * 1000;
const DONE = { kind: "success", code: 0, step: 0 } as const;

async function machine(id: string, name: string, more: { plan?: string; leaseTime?: number } = {}) {
  const { plan = "plan", leaseTime = DAY } = more;
  const server = { url: redis.url, user: "", password: "" };
  return await openRedisCoordinator({
    server,
    id,
    plan,
    machine: name,
    project: id,
    leaseTime,
    retryTimeout: DAY,
  });
}

async function claim(coordinator: Awaited<ReturnType<typeof machine>>, ...scripts: number[]) {
  const answer = await coordinator.claim(scripts);
  if (answer.kind !== "claimed") throw new Error(JSON.stringify(answer));
  return answer.claim;
}

const keyOf = (id: string, name: string) => `rt:share:1:{${id}}:${name}`;
const tokenOf = ({ id }: { id: string }) => Number(/^\d+/.exec(id)![0]);

test.skipIf(!HAS_REDIS)(
  "a script has one lease at a time, and its result reaches every machine",
  async () => {
    const [a, b] = [await machine("one", "a"), await machine("one", "b")];
    let notifications = 0;
    b.listen(() => notifications++);
    const first = await claim(a, 7, 3);
    expect(first.taskIndex).toBe(7);
    const second = await claim(b, 7, 3);
    expect(second.taskIndex).toBe(3);
    const held = await b.claim([7, 3].filter((each) => each === 7));
    expect(held).toMatchObject({ kind: "held" });
    expect((held as { left: number }).left).toBeGreaterThan(DAY / 2);
    expect(await a.publish(first, DONE)).toBe(true);
    await waitUntil(() => b.results.has(7));
    expect(b.results.get(7)).toEqual({ claim: first.id, machine: "a", ...DONE });
    expect(notifications).toBe(1);
    expect(await b.claim([7, 3])).toEqual({ kind: "known" });
    // A released script is free at once, with the next fencing token.
    b.release(second);
    await waitUntil(async () => (await redis.ask("EXISTS", keyOf("one", "lock:3"))) === "0");
    const third = await claim(a, 3);
    expect([tokenOf(second), tokenOf(third)]).toEqual([1, 2]);
    expect(await b.publish(second, DONE)).toBe(false);
    // A later machine gets earlier results, and a closed one holds no lease.
    await a.close();
    const c = await machine("one", "c");
    expect([...c.results.keys()]).toEqual([7]);
    expect(tokenOf(await claim(c, 3))).toBe(3);
    await Promise.all([b.close(), c.close()]);
  },
);

test.skipIf(!HAS_REDIS)(
  "a machine whose lease has expired cannot overwrite the result of its successor",
  async () => {
    const [a, b] = [await machine("two", "a"), await machine("two", "b")];
    const old = await claim(a, 0);
    await redis.ask("DEL", keyOf("two", "lock:0")); // simulates expiry
    const next = await claim(b, 0);
    expect(tokenOf(next)).toBe(tokenOf(old) + 1);
    expect(a.isHeld(old)).toBe(true); // the next renewal detects the loss
    expect(await a.publish(old, DONE)).toBe(false);
    expect(await redis.ask("HLEN", keyOf("two", "results"))).toBe("0");
    expect(await b.publish(next, DONE)).toBe(true);
    await waitUntil(() => a.results.has(0));
    expect(a.results.get(0)!.machine).toBe("b");

    // Neither can it after the successor has released the lease.
    const lost = await claim(a, 1);
    await redis.ask("DEL", keyOf("two", "lock:1"));
    b.release(await claim(b, 1));
    await waitUntil(async () => (await redis.ask("EXISTS", keyOf("two", "lock:1"))) === "0");
    expect(await a.publish(lost, DONE)).toBe(false);
    // It does not release the lease of another machine either.
    const gone = await claim(a, 3);
    await redis.ask("DEL", keyOf("two", "lock:3"));
    const held = await claim(b, 3);
    a.release(gone);
    await a.claim([9]); // processed after the release
    expect(await redis.ask("GET", keyOf("two", "lock:3"))).toBe(held.id);
    // Without a successor the result counts.
    const late = await claim(a, 2);
    await redis.ask("DEL", keyOf("two", "lock:2"));
    expect(await a.publish(late, DONE)).toBe(true);
    await Promise.all([a.close(), b.close()]);
  },
);

test.skipIf(!HAS_REDIS)(
  "leases are renewed, and are restored on a server that has lost all data",
  async () => {
    const a = await machine("three", "a", { leaseTime: 600 });
    const own = await claim(a, 0);
    const taken = await claim(a, 1);
    const lock = keyOf("three", "lock:0");
    await redis.ask("PEXPIRE", lock, String(DAY));
    await waitUntil(async () => Number(await redis.ask("PTTL", lock)) <= 600);
    const other = keyOf("three", "lock:1");
    const forget = "redis.call('FLUSHALL') redis.call('SET', KEYS[1], '1-another', 'PX', 100000)";
    await redis.ask("EVAL", forget, "1", other);
    await waitUntil(async () => (await redis.ask("GET", lock)) === own.id);
    await waitUntil(() => !a.isHeld(taken));
    expect(a.isHeld(own)).toBe(true);
    expect(await redis.ask("GET", other)).toBe("1-another");
    expect(await a.publish(taken, DONE)).toBe(false);
    expect(await a.publish(own, DONE)).toBe(true);
    await a.close();
  },
);

test.skipIf(!HAS_REDIS)(
  "requests to an unreachable server are retried up to the retry timeout, and then the machine continues alone",
  async () => {
    await using own = await startRedis();
    const server = { url: own.url, user: "", password: "" };
    const options = { server, id: "x", plan: "p", machine: "a", project: "x", leaseTime: DAY };
    const a = await openRedisCoordinator({ ...options, retryTimeout: DAY });
    const b = await openRedisCoordinator({ ...options, retryTimeout: 50 });
    let notifications = 0;
    b.listen(() => notifications++);
    const held = await claim(a, 0);
    const more = await claim(b, 1);
    own.pause();
    const published = a.publish(held, DONE);
    const request = b.claim([2]);
    await own.kill();
    expect(request).rejects.toThrow("Redis has not been reached for 0.05 s");
    await request.catch(() => {});
    expect(b.lost).toBe("Redis has not been reached for 0.05 s: it cannot be reached (ECONNREFUSED)");
    expect(notifications).toBe(1);
    // A machine that has lost the coordinator completes its scripts without it.
    expect(await b.publish(more, DONE)).toBe(true);
    await own.start();
    expect(await published).toBe(true);
    expect(await own.ask("HLEN", keyOf("x", "results"))).toBe("1");
    // A run that is ending does not retry.
    const last = await claim(a, 1);
    await own.kill();
    const late = a.publish(last, DONE);
    a.hurry();
    expect(await late).toBe(true);
    await Promise.all([a.close(), b.close()]);
  },
);

test.skipIf(!HAS_REDIS)(
  "a machine with another plan is rejected, and an invalid result counts as unshared",
  async () => {
    const a = await machine("four", "a");
    expect(machine("four", "b", { plan: "another" })).rejects.toThrow(
      'The machines that share "four" differ',
    );
    const large = '{"claim":"1-x","machine":"m","kind":"failure","code":256,"step":0}';
    for (const text of [large, "", "null", "[]", '{"kind":"success"}', '{"machine":1}', "x\u001b[31m"]) {
      await redis.ask("HSET", keyOf("four", "results"), "5", text);
      const b = await machine("four", "b");
      expect(await b.claim([5])).toEqual({ kind: "known" });
      expect(b.results.get(5)).toMatchObject({ kind: "unshared", machine: "?" });
      await b.close();
    }
    await redis.ask("DEL", keyOf("four", "results"));
    await a.close();
  },
);

test.skipIf(!HAS_REDIS)("durations are kept for later runs of the project", async () => {
  const a = await machine("five", "a");
  a.keepTimes(new Map([["packages/a#t", 12.4]]));
  await a.close();
  const b = await machine("five", "b");
  expect([...b.times]).toEqual([["packages/a#t", 12]]);
  await b.close();
  for (const key of (await redis.ask("KEYS", "*")).split("\n"))
    expect({ key, lives: Number(await redis.ask("TTL", key)) > 0 }).toEqual({ key, lives: true });
});

test.skipIf(!HAS_REDIS)("a lease is renewed repeatedly before it expires", async () => {
  const leaseTime = 6000;
  const a = await machine("six", "a", { leaseTime });
  const own = await claim(a, 0);
  const lock = keyOf("six", "lock:0");
  for (const _ of [1, 2]) {
    let left = Number(await redis.ask("PTTL", lock));
    // A longer remaining time than before means a renewal. -2 means that it has expired.
    await waitUntil(async () => {
      const before = left;
      left = Number(await redis.ask("PTTL", lock));
      return left > before || left < 0;
    });
    expect(left).toBeGreaterThan(0);
  }
  expect(await redis.ask("GET", lock)).toBe(own.id);
  expect(await redis.ask("HGET", keyOf("six", "claims"), "0")).toBe(own.id);
  expect(a.isHeld(own)).toBe(true);
  await a.close();
});

test.skipIf(!HAS_REDIS)("only transient errors of Redis are retried", async () => {
  await using proxy = openRefusingProxy(redis.port);
  const server = { url: proxy.url, user: "", password: "" };
  const options = { server, plan: "p", machine: "a", project: "x", leaseTime: DAY, retryTimeout: DAY };
  for (const [at, error] of [
    "LOADING Redis is loading the dataset in memory",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "CLUSTERDOWN The cluster is down",
  ].entries()) {
    const coordinator = await openRedisCoordinator({ ...options, id: `seven-${at}` });
    // The command fails once, and so does the next request for results.
    proxy.refuse(error, 2);
    expect({ error, answer: await coordinator.claim([0]) }).toMatchObject({
      error,
      answer: { kind: "claimed" },
    });
    expect([error, proxy.refused]).toEqual([error, 2]);
    await coordinator.close();
  }
  for (const [at, [error, shown]] of (
    [
      ["READONLY You can't write against a read only replica.", " (READONLY)"],
      ["OOM command not allowed when used memory > 'maxmemory'.", " (OOM)"],
      ["LOADINGS s3cret", ""],
    ] as const
  ).entries()) {
    const coordinator = await openRedisCoordinator({ ...options, id: `eight-${at}` });
    proxy.refuse(error, 1);
    expect(coordinator.claim([0])).rejects.toThrow(`Redis does not support --share${shown}`);
    await waitUntil(() => coordinator.lost !== undefined);
    expect(coordinator.lost).toBe(`Redis does not support --share${shown}`);
    await coordinator.close();
  }
});
