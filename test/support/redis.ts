// A real redis-server of a test's own, which keeps nothing: started again, it is empty.
import { createProject } from "./project.ts";
import { freePort } from "./ports.ts";
import { cleanEnvironment } from "./rt.ts";

/** Where it is not, what needs it is skipped by name. */
export const HAS_REDIS = Bun.which("redis-server") !== null;

export interface Redis extends AsyncDisposable {
  readonly port: number;
  /** Without a password. */
  readonly url: string;
  /** Its answer to a command, as redis-cli has it. */
  ask(...words: string[]): Promise<string>;
  /** Ends it, at once. */
  kill(): Promise<void>;
  /** Another one in its place, on the same port. */
  start(): Promise<void>;
}

export async function startRedis(options: readonly string[] = [], password = ""): Promise<Redis> {
  const folder = await createProject();
  let port = freePort();
  let server = await start(port, folder.path, options, password);
  for (; server === undefined; server = await start(port, folder.path, options, password)) port = freePort();
  const redis: Redis = {
    port,
    url: `redis://127.0.0.1:${port}`,
    async ask(...words) {
      const child = Bun.spawn(["redis-cli", "-p", String(port), ...words], {
        env: cleanEnvironment({ REDISCLI_AUTH: password === "" ? undefined : password }),
        stdout: "pipe",
        stderr: "ignore",
      });
      return (await new Response(child.stdout).text()).trimEnd();
    },
    async kill() {
      server!.kill("SIGKILL");
      await server!.exited;
    },
    async start() {
      server = await start(port, folder.path, options, password);
      if (!server) throw new Error("its port is another's by now");
    },
    async [Symbol.asyncDispose]() {
      await redis.kill();
      await folder[Symbol.asyncDispose]();
    },
  };
  return redis;
}

/** Undefined where the port is another's. */
async function start(port: number, directory: string, options: readonly string[], password: string) {
  const where = ["--port", String(port), "--bind", "127.0.0.1", "--dir", directory];
  const secret = password === "" ? [] : ["--requirepass", password];
  const words = [...where, "--save", "", "--appendonly", "no", ...secret, ...options];
  const server = Bun.spawn(["redis-server", ...words], {
    env: cleanEnvironment(),
    stdout: "pipe",
    stderr: "ignore",
  });
  let text = "";
  for await (const chunk of server.stdout) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("Ready to accept connections")) return server;
  }
  await server.exited;
  if (text.includes("Address already in use")) return undefined;
  throw new Error(text);
}
