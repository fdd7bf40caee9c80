// A real redis-server for a test, without persistence: it is empty after a restart.
import { hasProgram } from "../../../build/system-programs.ts";
import type { Certificates } from "./certificates.ts";
import { createProject } from "../project.ts";
import { freePort } from "./ports.ts";
import { cleanEnvironment } from "../rt.ts";

/** Tests that need it are skipped when it is missing. */
export const HAS_REDIS = hasProgram("redis-server");

export interface Redis extends AsyncDisposable {
  readonly port: number;
  /** The URL without a password. */
  readonly url: string;
  /** Sends a command and returns the output of redis-cli. */
  ask(...words: string[]): Promise<string>;
  /** Stops the server: it accepts data, but answers nothing. */
  pause(): void;
  /** Kills the server. */
  kill(): Promise<void>;
  /** Starts another server on the same port. */
  start(): Promise<void>;
}

/** @param certificates for a server that accepts only TLS, as localhost */
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

/** Resolves with undefined when the port is in use. */
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
