// Evaluates scripts that the executable contains as texts.

/**
 * Evaluates a script and returns its exports. The script is a function expression with the five parameters of CommonJS, created
 * by build/compile.ts. Stack traces show it as `rt:runtime`.
 */
export function evaluate<Exports extends object>(
  script: string,
  require: (name: string) => unknown = process.getBuiltinModule,
): Exports {
  const module = { exports: {} as Exports };
  // oxlint-disable-next-line no-eval -- the text is part of this program
  const wrapped = (0, eval)(`(${script})\n//# sourceURL=rt:runtime`) as (...names: unknown[]) => void;
  wrapped(module.exports, require, module, "", "");
  return module.exports;
}
