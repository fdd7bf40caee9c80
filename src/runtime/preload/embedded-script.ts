// Scripts that this program carries as texts.

/**
 * What a script exports. It is a function expression of CommonJS' five names, as build/compile.ts makes them; its own name
 * shows in stack traces.
 */
export function evaluate<Exports extends object>(
  script: string,
  require: (name: string) => unknown = process.getBuiltinModule,
): Exports {
  const module = { exports: {} as Exports };
  const wrapped = (0, eval)(`(${script})\n//# sourceURL=rt:runtime`) as (...names: unknown[]) => void;
  wrapped(module.exports, require, module, "", "");
  return module.exports;
}
