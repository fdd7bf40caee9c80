// What programs are told of builtin modules names "rt" among them: tools leave those to the runtime, where they look for
// every other name in node_modules.
//
// Contract: node:module's list and test, process.getBuiltinModule() and the resolvers of `Bun` answer for "rt" as they do for
// "bun", in whichever way a program asks. The engine itself answers `require.resolve()`, and `import.meta.resolve()` cannot
// be told (docs/tools.md).
//
// Surprising: an import of node:module copies its exports, so they have to be right before the program's first line; so
// short a way is there to it that nothing is made here that the program would not make itself.
const NAME = "rt";

export function nameBuiltin(): void {
  const { getBuiltinModule } = process;
  const { resolve, resolveSync } = Bun;
  const nodeModule = getBuiltinModule("node:module");
  const { isBuiltin, createRequire } = nodeModule;
  const named = {
    isBuiltin: (name: string) => name === NAME || isBuiltin(name),
    resolve: async (name: string, from: string) => (name === NAME ? name : await resolve(name, from)),
    resolveSync: (name: string, from: string) => (name === NAME ? name : resolveSync(name, from)),
    getBuiltinModule: (name: string): unknown =>
      name === NAME ? createRequire(process.execPath)(name) : getBuiltinModule(name),
  };
  (nodeModule.builtinModules as string[]).push(NAME);
  nodeModule.isBuiltin = named.isBuiltin;
  Object.assign(Bun, { resolve: named.resolve, resolveSync: named.resolveSync });
  process.getBuiltinModule = named.getBuiltinModule as typeof getBuiltinModule;
}
