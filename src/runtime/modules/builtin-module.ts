// What programs are told of builtin modules names "rt" among them: tools leave those to the runtime, where they look for
// every other name in node_modules.
//
// Contract: node:module's list, test and resolver, process.getBuiltinModule() and the resolvers of `Bun` answer for "rt" as they do for
// "bun", in whichever way a program asks. The engine itself answers `require.resolve()`, and `import.meta.resolve()` cannot
// be told (docs/tools.md).
//
// Surprising: an import of node:module copies its exports, so they have to be right before the program's first line; so
// short a way is there to it that nothing is made here that the program would not make itself.
const NAME = "rt";

type ModuleCall = (...args: never[]) => unknown;

/** Answers for "rt", and is the function itself for everything else: its name, its length, how it is printed. */
function withRt<F extends ModuleCall>(original: F, answer: () => unknown): F {
  return new Proxy(original, {
    apply: (_, self, args: readonly unknown[]) =>
      args[0] === NAME ? answer() : Reflect.apply(original, self, args as never[]),
  });
}

interface Resolving {
  _resolveFilename: ModuleCall;
}

/**
 * What is assigned to this property the engine calls at each `require()`, so it is not assigned to: it is read otherwise, and
 * programs that put their own there still do.
 */
function nameForRequire(nodeModule: Resolving): void {
  const { get, set } = Object.getOwnPropertyDescriptor(nodeModule, "_resolveFilename")!;
  const original = nodeModule._resolveFilename;
  const answering = withRt(original, () => NAME);
  Object.defineProperty(nodeModule, "_resolveFilename", {
    get() {
      const current: unknown = get!.call(nodeModule);
      return current === original ? answering : current;
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
