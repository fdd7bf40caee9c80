// Adds TypeScript to the REPL of --interactive, which is node:repl and accepts only JavaScript. Lines are transpiled as in
// `bun repl`; declarations become globals for the following lines.
//
// Invariants:
// - Plain JavaScript is passed to the REPL unchanged, except static imports, which it rejects.
// - The REPL reports invalid input. Incomplete input continues on the next line.
// Non-obvious:
// - The engine does not expose its REPLServer, so resetContext() is patched to get it.
// - The REPL reads piped lines while an earlier one is pending, so they are queued here.
import type { REPLEval, REPLServer } from "node:repl";
import { errorMessage } from "../../platform/caught-error.ts";

type EvaluationResult = { readonly value?: unknown } | undefined;

/** Global through which the REPL itself awaits a pending result; only its own evaluation delays the end of input. */
const PENDING = Symbol.for("rt:pending");
const AWAIT_PENDING = '(await globalThis[Symbol.for("rt:pending")])?.value\n';

const END_OF_INPUT = /\bend of file\b/;

export function readTypeScript(): void {
  const { REPLServer: Server, Recoverable } = process.getBuiltinModule("node:repl");
  const prototype = Server.prototype as unknown as { resetContext(this: REPLServer): void };
  const { resetContext } = prototype;
  prototype.resetContext = function () {
    prototype.resetContext = resetContext;
    const evaluate = withTypes(this.eval, Recoverable);
    Object.assign(this, this.terminal ? { eval: evaluate } : queueLines(this, evaluate));
    resetContext.call(this);
  };
}

type LineQueue = Pick<REPLServer, "close" | "displayPrompt" | "emit" | "eval">;

/**
 * Delays each line, and the end of input, until the previous line is complete. The prompt signals completion, because an error
 * has no other event. On a terminal the REPL does this itself.
 */
function queueLines(server: REPLServer, evaluate: REPLEval): LineQueue {
  const emit = server.emit.bind(server) as (...words: unknown[]) => boolean;
  const displayPrompt = server.displayPrompt.bind(server);
  const close = server.close.bind(server);
  const waiting: (() => unknown)[] = [];
  let isBusy = false;
  let isClosed = false;
  const runNext = () => {
    while (waiting.length > 0 && !isBusy && !isClosed) waiting.shift()!();
  };
  return {
    emit(...words: unknown[]) {
      if (words[0] !== "line") return emit(...words);
      waiting.push(() => emit(...words));
      runNext();
      return true;
    },
    close() {
      if (isBusy) return void waiting.push(() => this.close());
      isClosed = true; // drops the lines after .exit
      close();
    },
    eval(...words) {
      isBusy = true;
      evaluate.apply(this, words);
    },
    displayPrompt(isCursorKept) {
      isBusy = false;
      displayPrompt(isCursorKept);
      queueMicrotask(runNext);
    },
  };
}

function withTypes(evaluate: REPLEval, Recoverable: new (error: Error) => Error): REPLEval {
  const plain = new Bun.Transpiler({ loader: "js" });
  // `replMode` is missing in the engine's types: statements become an expression, declarations become globals.
  const options = { loader: "tsx", target: "bun", replMode: true } as Bun.TranspilerOptions;
  const typed = new Bun.Transpiler(options);
  return function (this: REPLServer, code, context, file, callback) {
    if (isPlain(code, plain)) return evaluate.call(this, code, context, file, callback);
    let script: string;
    try {
      script = typed.transformSync(code);
    } catch (error) {
      if (END_OF_INPUT.test(errorMessage(error))) return callback(new Recoverable(error as Error), undefined);
      return evaluate.call(this, code, context, file, callback);
    }
    let outcome: EvaluationResult | Promise<EvaluationResult>;
    try {
      outcome = run(script, file);
    } catch (error) {
      return callback(error as Error, undefined);
    }
    if (!(outcome instanceof Promise)) return callback(null, outcome?.value);
    Object.defineProperty(globalThis, PENDING, { value: outcome, configurable: true });
    evaluate.call(this, AWAIT_PENDING, context, file, callback);
  };
}

function isPlain(code: string, plain: Bun.Transpiler): boolean {
  try {
    return plain.scan(code).imports.every(({ kind }) => kind !== "import-statement");
  } catch {
    return false;
  }
}

function run(script: string, filename: string): EvaluationResult | Promise<EvaluationResult> {
  const { constants, runInThisContext } = process.getBuiltinModule("node:vm");
  // Imports are resolved as in a file of the working directory.
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  return runInThisContext(script, { filename, importModuleDynamically }) as
    EvaluationResult | Promise<EvaluationResult>;
}
