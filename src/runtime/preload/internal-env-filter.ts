// Removes rt's internal environment variables from process.env and from the environment of child processes.
//
// Invariants:
// - A variable of the same name that the user set is kept.
// - Bun.spawn() without `env` passes on the environment that the program was started with, as in the engine.
// Non-obvious:
// - The engine keeps a separate, immutable map of the environment, which Bun.spawn() passes on without `env`. So Bun.spawn() is
//   wrapped and always gets an `env`.
// - The variables remain in libc's environment, because --watch restarts the process from it. C code can read them.

/** Value of the switch in the engine's map, which no user would set. See `replace` of platform/processes. */
const OFF = "off";
/** Value of the switch if an emulator keeps one value per name (see src/runner/engine/internal-variables.ts). */
const ON = "1";

type SpawnFunction = (...args: unknown[]) => unknown;
type SpawnOptions = { readonly env?: unknown } | null | undefined;

export function hideSwitch(): void {
  const { env } = process;
  // Only once in a thread, because --hot runs this again. A thread starts with a copy of process.env and the engine's full map.
  const isFirst = env.RT_BECAME !== undefined || !Bun.isMainThread;
  delete env.RT_BECAME;
  if (env.BUN_BE_BUN === OFF || env.BUN_BE_BUN === ON) delete env.BUN_BE_BUN;
  if (isFirst) hideFromChildren({ ...env });
}

function hideFromChildren(env: Readonly<Record<string, string | undefined>>): void {
  const { spawn, spawnSync } = Bun as unknown as Record<"spawn" | "spawnSync", SpawnFunction>;
  // Class methods are strict, so the engine performs proper tail calls: stack traces begin at the program's line.
  class Hooked {
    static spawn(...args: unknown[]): unknown {
      return spawn(...withEnvironment(args, env));
    }
    static spawnSync(...args: unknown[]): unknown {
      return spawnSync(...withEnvironment(args, env));
    }
  }
  Object.assign(Bun, { spawn: likeNative(Hooked.spawn), spawnSync: likeNative(Hooked.spawnSync) });
}

/** Makes a function look like a native one, without adding a stack frame. */
function likeNative(start: SpawnFunction): SpawnFunction {
  Object.defineProperty(start, "length", { value: 1 });
  return new Proxy(start, {});
}

/** Handles `(words, options)` and `(options)`. Invalid arguments are unchanged, so that the engine rejects them. */
function withEnvironment(args: readonly unknown[], env: object): readonly unknown[] {
  const at = Array.isArray(args[0]) ? 1 : 0;
  const options = args[at] as SpawnOptions;
  const isMissing = options === undefined && at === 1;
  if (!isMissing && (typeof options !== "object" || options === null || options.env !== undefined))
    return args;
  const own = { ...options, env };
  return at === 0 ? [own] : [args[0], own];
}
