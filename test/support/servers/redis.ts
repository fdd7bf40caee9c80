// A real redis-server of a test's own, which keeps nothing: started again, it is empty.
import { hasProgram } from "../../../build/system-programs.ts";
import type { Certificates } from "./certificates.ts";
import { createProject } from "../project.ts";
import { freePort } from "./ports.ts";
import { cleanEnvironment } from "../rt.ts";

/** Where it is not, what needs it is skipped by name. */
export const HAS_REDIS = hasProgram("redis-server");

export interface Redis extends AsyncDisposable {
  readonly port: number;
  /** Without a password. */
  readonly url: string;
  /** Its answer to a command, as redis-cli has it. */
  ask(...words: string[]): Promise<string>;
  /** It takes what comes, and answers nothing. */
  pause(): void;
  /** Ends it, at once. */
  kill(): Promise<void>;
  /** Another one in its place, on the same port. */
  start(): Promise<void>;
}

/** @param certificates for a server that speaks TLS alone, as localhost */
export async function startRedis(password = "", certificates?: Certificates): Promise<Redis> {
  const { key = "", cert = "" } = certificates ?? {};
  const folder = await createProject({ "server.key": key, "server.pem": cert });
  let port = freePort();
  const begin = async () => await start(port, folder.path, password, certificates !== undefined);
  let server = await begin();
  for (; server === undefined; server = await begin()) port = freePort();
  const redis: Redis = {
    port,
    url: certificates ? `rediss://localhost:${port}` : `redis://127.0.0.1:${port}`,
    async ask(...words) {
      const child = Bun.spawn(["redis-cli", "-p", String(port), ...words], {
        env: cleanEnvironment({ REDISCLI_AUTH: password === "" ? undefined : password }),
        stdout: "pipe",
        stderr: "ignore",
      });
      return (await new Response(child.stdout).text()).trimEnd();
    },
    pause: () => server!.kill("SIGSTOP"),
    async kill() {
      server!.kill("SIGKILL");
      await server!.exited;
    },
    async start() {
      server = await begin();
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
async function start(port: number, directory: string, password: string, isSecure: boolean) {
  const files = ["--tls-cert-file", "server.pem", "--tls-key-file", "server.key", "--tls-auth-clients", "no"];
  const secure = ["--port", "0", "--tls-port", String(port), "--tls-ca-cert-file", "server.pem", ...files];
  const where = isSecure ? secure : ["--port", String(port)];
  const secret = password === "" ? [] : ["--requirepass", password];
  const words = [...where, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", ...secret];
  const server = Bun.spawn(["redis-server", ...words], {
    cwd: directory,
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
