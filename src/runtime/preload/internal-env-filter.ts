// The engine's switch, and what else rt has put into the environment, kept from a program and from what it starts.
//
// Contract: neither process.env nor a child has a variable of rt's; one of that name which the user has set stays. Bun.spawn()
// gives its children what it gave them before: the environment that the program was started with.
//
// Surprising: the engine keeps a map of its own of that environment, which nothing of ours can change and which Bun.spawn()
// passes on where it is given no other; so it is given one. In libc's list, by which --watch starts the process again, the
// variables stay: C code that asks for them finds them.

/** What the engine's own map says of the switch: a way to say no that nobody takes. See `replace` of platform. */
const OFF = "off";
/** The same, where a name has one value: see src/runner/engine/internal-variables.ts. */
const ON = "1";

type SpawnFunction = (...args: unknown[]) => unknown;
type SpawnOptions = { readonly env?: unknown } | null | undefined;

export function hideSwitch(): void {
  const { env } = process;
  // Once in a thread: --hot comes here again. A thread begins with a copy of process.env, and the engine's whole map.
  const isFirst = env.RT_BECAME !== undefined || !Bun.isMainThread;
  delete env.RT_BECAME;
  if (env.BUN_BE_BUN === OFF || env.BUN_BE_BUN === ON) delete env.BUN_BE_BUN;
  if (isFirst) hideFromChildren({ ...env });
}

function hideFromChildren(env: Readonly<Record<string, string | undefined>>): void {
  const { spawn, spawnSync } = Bun as unknown as Record<"spawn" | "spawnSync", SpawnFunction>;
  // A class, whose methods are strict: a call in the last place of one takes its place on the stack, and what is printed of
  // an error begins at the program's own line.
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

/** Looks like a function of the engine's, and adds nothing to the stack. */
function likeNative(start: SpawnFunction): SpawnFunction {
  Object.defineProperty(start, "length", { value: 1 });
  return new Proxy(start, {});
}

/** `(words, options)` or `(options)`; what is neither is the engine's to refuse. */
function withEnvironment(args: readonly unknown[], env: object): readonly unknown[] {
  const at = Array.isArray(args[0]) ? 1 : 0;
  const options = args[at] as SpawnOptions;
  const isMissing = options === undefined && at === 1;
  if (!isMissing && (typeof options !== "object" || options === null || options.env !== undefined))
    return args;
  const own = { ...options, env };
  return at === 0 ? [own] : [args[0], own];
}
