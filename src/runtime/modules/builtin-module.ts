// Makes "rt" a builtin module for the program, so that tools do not search for it in node_modules.
//
// Invariants:
// - node:module's builtinModules, isBuiltin() and resolver, process.getBuiltinModule() and Bun's resolvers handle "rt" like "bun".
// Non-obvious:
// - `require.resolve()` works without a hook, and `import.meta.resolve()` cannot be hooked (docs/reference/tools.md).
// - An import of node:module copies its exports, so they are changed before the program's first line. This is on the critical
//   path, so it creates nothing that the engine has not created.
const NAME = "rt";

type ModuleCall = (...args: never[]) => unknown;

/** Wraps a function so that it handles "rt". A Proxy keeps the function's name, length and inspection. */
function withRt<F extends ModuleCall>(original: F, resolve: () => unknown): F {
  return new Proxy(original, {
    apply: (_, self, args: readonly unknown[]) =>
      args[0] === NAME ? resolve() : Reflect.apply(original, self, args as never[]),
  });
}

interface Resolving {
  _resolveFilename: ModuleCall;
}

/**
 * Replaces the getter of `_resolveFilename` instead of assigning to it: after an assignment the engine calls the function at
 * each `require()`. A program can still assign its own resolver.
 */
function nameForRequire(nodeModule: Resolving): void {
  const { get, set } = Object.getOwnPropertyDescriptor(nodeModule, "_resolveFilename")!;
  const original = nodeModule._resolveFilename;
  const wrapped = withRt(original, () => NAME);
  Object.defineProperty(nodeModule, "_resolveFilename", {
    get() {
      const current: unknown = get!.call(nodeModule);
      return current === original ? wrapped : current;
    },
    set,
    enumerable: true,
    configurable: true,
  });
}

export function nameBuiltin(): void {
  const { getBuiltinModule } = process;
  const nodeModule = getBuiltinModule("node:module");
  const { isBuiltin, createRequire } = nodeModule;
  (nodeModule.builtinModules as string[]).push(NAME);
  nodeModule.isBuiltin = withRt(isBuiltin, () => true);
  const own = Bun as { -readonly [Name in "resolve" | "resolveSync"]: (typeof Bun)[Name] };
  own.resolve = withRt(Bun.resolve, () => Promise.resolve(NAME));
  own.resolveSync = withRt(Bun.resolveSync, () => NAME);
  nameForRequire(nodeModule as unknown as Resolving);
  process.getBuiltinModule = withRt(getBuiltinModule, () => createRequire(process.execPath)(NAME));
}
