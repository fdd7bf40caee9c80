// Runs a source file inside this process, so that the program cannot tell it from a start of the engine:
// the same argv, main module, preloads, and the server that a default export describes.
import { installRuntime } from "../runtime/install.ts";
import { PARTS } from "../runtime/parts.ts";
import type { Rt } from "../runtime/rt.ts";
import type { Plan } from "./plan.ts";

type InProcessPlan = Extract<Plan, { mode: "in-process" }>;

export async function startInProcess(plan: InProcessPlan): Promise<void> {
  const { file, args, preloads } = plan;
  installRuntime(PARTS, loadPreloadUrl);
  process.argv = [process.execPath, file, ...args];
  process.execArgv = [];
  (Bun as { main: string }).main = file;
  for (const preload of preloads) await import(Bun.resolveSync(preload, process.cwd()));
  const exports = await load(plan);
  const description = await exports.default;
  if (describesServer(description)) serve(description);
}

/** The script that workers need; read when the first one is started. */
function loadPreloadUrl(): string {
  return (require("./engine-preload.ts") as typeof import("./engine-preload.ts")).preloadUrl;
}

/** Where a package is missing and may be fetched, the engine takes over, which can do that. */
async function load({ file, engineArgs }: InProcessPlan): Promise<{ default?: unknown }> {
  try {
    return (await import(file)) as { default?: unknown };
  } catch (error) {
    if ((error as { name?: string } | undefined)?.name === "ResolveMessage") {
      const { canInstall } = await import("./packages.ts");
      const { becomeEngine } = await import("./engine.ts");
      if (canInstall(error, file)) becomeEngine([file, ...engineArgs], true);
    }
    throw error;
  }
}

interface ServerDescription {
  fetch?: unknown;
  app?: unknown;
  stop?: unknown;
}

/** The engine's own rule for a default export that is to be served. */
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
