// Single checks whether a service is ready: a TCP connection, an HTTP request, a program.
import { trees } from "../../../platform/processes/process-tree.ts";
import type { SpawnCommand } from "../task.ts";
import { awaitEnd } from "../execution/watched-process-trees.ts";

/** Maximum time of one check. */
const PROBE_TIMEOUT = 5000; // ms
const LOOPBACK = ["127.0.0.1", "::1"];
const SUCCESS = { least: 200, greatest: 399 };

export async function acceptsConnections(port: number): Promise<boolean> {
  const answers = await Promise.all(LOOPBACK.map((address) => connects(address, port)));
  return answers.includes(true);
}

async function connects(host: string, port: number): Promise<boolean> {
  const { connect } = await import("node:net");
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, timeout: PROBE_TIMEOUT });
  socket.on("connect", () => resolve(true));
  for (const failure of ["error", "timeout", "close"] as const) socket.on(failure, () => resolve(false));
  const isConnected = await promise;
  socket.destroy();
  return isConnected;
}

export async function requestStatus(url: string, timeout = PROBE_TIMEOUT): Promise<number | undefined> {
  const { hostname, protocol } = new URL(url);
  const isLocal = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  const { get } = protocol === "https:" ? await import("node:https") : await import("node:http");
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  // Servers for development have certificates of their own.
  const request = get(url, { agent: false, rejectUnauthorized: !isLocal }, (response) => {
    resolve(response.statusCode);
    response.destroy();
  });
  request.on("error", () => resolve(undefined));
  // Not the timeout of the request, which begins anew with each byte.
  const timer = setTimeout(() => resolve(undefined), timeout);
  const status = await promise;
  clearTimeout(timer);
  request.destroy();
  return status;
}

export function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= SUCCESS.least && status <= SUCCESS.greatest;
}

/**
 * Runs a program in the directory and environment of the service, with its permissions. Returns its exit code, or why it
 * did not start.
 */
export async function runProbe(
  argv: readonly string[],
  { cwd, env, permissions }: SpawnCommand,
  family: string,
): Promise<number | string> {
  try {
    const child = trees.startChild({
      program: undefined,
      argv,
      cwd,
      env,
      output: "merged",
      inheritStdin: false,
      family,
      permissions: permissions && { ...permissions, onRefusal() {} },
      onOutput() {},
    });
    const timer = setTimeout(() => trees.signalTrees([child], "SIGKILL", [family]), PROBE_TIMEOUT);
    const { code, signal } = await child.done;
    clearTimeout(timer);
    await awaitEnd([child], [family]);
    return signal === null ? code : 1;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? `${argv[0]} does not exist` : message;
  }
}
