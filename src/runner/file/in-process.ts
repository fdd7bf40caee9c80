// Runs a source file in this process as the engine would: the same argv, main module, and server for a default
// export.
import { nameBuiltin } from "../../runtime/modules/builtin-module.ts";
import { hookBuild } from "../../runtime/compiled/build-hook.ts";
import { hideEmbeddedFiles, installRuntime } from "../../runtime/install.ts";
import { LATE } from "../../runtime/modules/deferred-modules.ts";
import { PARTS } from "../../runtime/modules/lazy-modules.ts";
import type { Rt } from "../../runtime/rt.ts";
import { findMissingPackage } from "./missing-packages.ts";
import { mayAskForPackages } from "./bare-imports.ts";
import type { ExecutionPlan } from "../plan.ts";

type InProcessPlan = Extract<ExecutionPlan, { mode: "in-process" }>;

export async function startInProcess(plan: InProcessPlan): Promise<void> {
  const { file, args } = plan;
  // Checked in the engine's own map first, which is faster; `isAwaited` decides.
  if (process.env.VSCODE_INSPECTOR_OPTIONS !== undefined && isAwaited(file)) becomeEngineFor(plan);
  if (mayAskForPackages(file) && findMissingPackage(file) !== undefined) becomeEngineFor(plan);
  installRuntime(PARTS, LATE, loadPreloadUrl);
  hookBuild(PARTS);
  hideEmbeddedFiles();
  process.argv = [process.execPath, file, ...args];
  process.execArgv = [];
  (Bun as { main: string }).main = file;
  nameBuiltin();
  let program: { default?: unknown };
  try {
    program = (await import(file)) as typeof program;
  } catch (error) {
    if (isLoadError(error)) await fallBackToEngine(plan, error);
    throw error;
  }
  const description = program.default;
  if (description && describesServer(description))
    void Promise.resolve().then(Bun.serve.bind(Bun, description)).then(announce);
}

function isAwaited(file: string): boolean {
  return (require("../engine/debugger.ts") as typeof import("../engine/debugger.ts")).isAwaited(file);
}

/** The preload of workers, read when the first one is started. */
function loadPreloadUrl(): string {
  return (require("../engine/preload.ts") as typeof import("../engine/preload.ts")).preloadFor();
}

/** Tested by class, because a program may throw anything: even a Proxy that throws on access. */
function isLoadError(error: unknown): boolean {
  try {
    for (const kind of [ResolveMessage, BuildMessage, AggregateError, SyntaxError]) {
      if (error instanceof kind) return true;
    }
  } catch {}
  return false;
}

/** Replaces this process by the engine if the engine can load the program. */
async function fallBackToEngine(plan: InProcessPlan, error: unknown): Promise<void> {
  const { canFallBackToEngine } = await import("./engine-fallback.ts");
  if (canFallBackToEngine(error, plan.file)) becomeEngineFor(plan);
}

function becomeEngineFor({ file, engineArgs, config }: InProcessPlan): never {
  const { becomeEngine } = require("../engine/engine.ts") as typeof import("../engine/engine.ts");
  const { readFileForEngine } =
    require("../../config/engine-config.ts") as typeof import("../../config/engine-config.ts");
  return becomeEngine([file, ...engineArgs], true, { config: readFileForEngine(config) });
}

type ServerDescription = Parameters<Rt["serve"]>[0];

/** The engine's rule for a default export that describes a server. */
// oxlint-disable-next-line typescript/no-empty-object-type -- any default export but null and undefined
function describesServer(value: {}): value is ServerDescription {
  if (value === globalThis) return false;
  const { fetch, app, stop } = value as { fetch?: unknown; app?: unknown; stop?: unknown };
  return (typeof fetch === "function" || (app !== undefined && app !== null)) && typeof stop !== "function";
}

function announce(server: ReturnType<Rt["serve"]>): void {
  const kind = server.development ? "development " : "";
  console.debug(`Started ${kind}server: ${server.protocol}://${server.hostname}:${server.port}`);
}
