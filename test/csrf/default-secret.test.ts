import { expect, test } from "bun:test";
import { CSRF } from "../../src/csrf/csrf.ts";

interface Answer {
  token: string;
  ownIsValid: boolean;
  yoursIsValid: boolean;
}

async function verifyInThread(thread: Worker, token: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  thread.onmessage = ({ data }) => resolve(data);
  thread.onerror = (event) => reject(new Error(event.message));
  thread.postMessage(token);
  return promise;
}

test("every thread has its own default secret and keeps it", async () => {
  const url = new URL("./default-secret-worker.ts", import.meta.url);
  const threads = [new Worker(url), new Worker(url)];
  try {
    const mainToken = CSRF.generate(undefined, { sessionId: "alice" });
    const first = await Promise.all(threads.map((thread) => verifyInThread(thread, mainToken)));
    for (const { token, ownIsValid, yoursIsValid } of first) {
      expect({ ownIsValid, yoursIsValid }).toEqual({ ownIsValid: true, yoursIsValid: false });
      expect(CSRF.verify(token, { sessionId: "alice" })).toBe(false);
    }
    const [one, two] = threads as [Worker, Worker];
    expect((await verifyInThread(one, first[0]!.token)).yoursIsValid).toBe(true);
    expect((await verifyInThread(two, first[0]!.token)).yoursIsValid).toBe(false);
    expect(CSRF.verify(mainToken, { sessionId: "alice" })).toBe(true);
  } finally {
    for (const thread of threads) thread.terminate();
  }
});

test("the default secret is the same for every algorithm and differs from any named secret", () => {
  for (const algorithm of ["sha256", "sha512", "blake2b256"] as const) {
    const token = CSRF.generate(undefined, { algorithm });
    expect(CSRF.verify(token, { algorithm })).toBe(true);
    for (const secret of ["undefined", "null", "default", "secret", "\0"]) {
      expect(CSRF.verify(token, { algorithm, secret })).toBe(false);
    }
  }
});

test("loading the module allocates nothing: the secret and the buffers are created with the first token", async () => {
  const probe = `
    const calls: string[] = [];
    for (const [holder, name] of [[crypto, "getRandomValues"], [Buffer, "alloc"], [Bun, "CryptoHasher"]] as [any, string][]) {
      const real = holder[name];
      holder[name] = new Proxy(real, {
        apply: (target, self, args) => (calls.push(name), Reflect.apply(target, self, args)),
        construct: (target, args) => (calls.push(name), Reflect.construct(target, args)),
      });
    }
    const { CSRF } = await import(${JSON.stringify(import.meta.resolve("../../src/csrf/csrf.ts"))});
    const atLoad = calls.length;
    CSRF.generate();
    console.log(atLoad, [...new Set(calls)].sort().join());
  `;
  const child = Bun.spawnSync([process.execPath, "-e", probe]);
  const [stdout, stderr] = [child.stdout.toString(), child.stderr.toString()];
  expect({ stdout, stderr }).toEqual({ stdout: "0 CryptoHasher,alloc,getRandomValues\n", stderr: "" });
});
