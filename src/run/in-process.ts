// Runs a source file inside this process, so that the program cannot tell it from a start of the engine:
// the same argv, main module, preloads, and the server that a default export describes.
import type { Rt } from "../runtime/rt.ts";

interface ServerDescription {
  fetch?: unknown;
  app?: unknown;
  stop?: unknown;
}

export async function runFile(
  file: string,
  args: readonly string[],
  preloads: readonly string[],
): Promise<void> {
  process.argv = [process.execPath, file, ...args];
  process.execArgv = [];
  (Bun as { main: string }).main = file;
  for (const preload of preloads) await import(resolvePreload(preload));
  const exports = (await import(file)) as { default?: unknown };
  const description = await exports.default;
  if (describesServer(description)) serve(description);
}

function resolvePreload(specifier: string): string {
  return Bun.resolveSync(specifier, process.cwd());
}

function describesServer(value: unknown): value is ServerDescription {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return false;
  const { fetch, app, stop } = value as ServerDescription;
  return (typeof fetch === "function" || Boolean(app)) && stop === undefined;
}

function serve(description: ServerDescription): void {
  const server = Bun.serve(description as Parameters<Rt["serve"]>[0]);
  const kind = server.development ? "development " : "";
  console.debug(`Started ${kind}server: ${server.protocol}://${server.hostname}:${server.port}`);
}
