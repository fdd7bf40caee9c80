// TypeScript in the REPL of --interactive, which is node:repl and reads JavaScript alone: there a line goes through the
// transpiler that `bun repl` has, and declares what it declares for the lines that follow.
//
// Contract: what is JavaScript is left to the REPL as it is, but for static imports, which that refuses. What is neither
// one nor the other is the REPL's to refuse, and what has not ended yet is asked to go on.
//
// Surprising: the one that makes the REPL keeps it to itself, so it is met where it prepares its context. And it reads lines
// that are not typed (a pipe's) while one before them is still awaited, which therefore wait here.
import type { REPLEval, REPLServer } from "node:repl";

type EvaluationResult = { readonly value?: unknown } | undefined;

/** The REPL alone can have the end wait for what a line awaits. */
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
    Object.assign(this, this.terminal ? { eval: evaluate } : inTurn(this, evaluate));
    resetContext.call(this);
  };
}

type LineQueue = Pick<REPLServer, "close" | "displayPrompt" | "emit" | "eval">;

/**
 * Lines, and their end, come when the one before them has been answered, which is when there is a prompt again: an error has
 * no other sign. On a terminal the REPL waits by itself.
 */
function inTurn(server: REPLServer, evaluate: REPLEval): LineQueue {
  const emit = server.emit.bind(server) as (...words: unknown[]) => boolean;
  const displayPrompt = server.displayPrompt.bind(server);
  const close = server.close.bind(server);
  const waiting: (() => unknown)[] = [];
  let isBusy = false;
  let isClosed = false;
  const goOn = () => {
    while (waiting.length > 0 && !isBusy && !isClosed) waiting.shift()!();
  };
  return {
    emit(...words: unknown[]) {
      if (words[0] !== "line") return emit(...words);
      waiting.push(() => emit(...words));
      goOn();
      return true;
    },
    close() {
      if (isBusy) return void waiting.push(() => this.close());
      isClosed = true; // by .exit, with lines behind it
      close();
    },
    eval(...words) {
      isBusy = true;
      evaluate.apply(this, words);
    },
    displayPrompt(isCursorKept) {
      isBusy = false;
      displayPrompt(isCursorKept);
      queueMicrotask(goOn);
    },
  };
}

function withTypes(evaluate: REPLEval, Recoverable: new (error: Error) => Error): REPLEval {
  const plain = new Bun.Transpiler({ loader: "js" });
  // Not among the engine's own types: statements become an expression, declarations globals.
  const options = { loader: "tsx", target: "bun", replMode: true } as Bun.TranspilerOptions;
  const typed = new Bun.Transpiler(options);
  return function (this: REPLServer, code, context, file, callback) {
    if (isPlain(code, plain)) return evaluate.call(this, code, context, file, callback);
    let script: string;
    try {
      script = typed.transformSync(code);
    } catch (error) {
      if (END_OF_INPUT.test((error as Error).message))
        return callback(new Recoverable(error as Error), undefined);
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
  // Imports are those of a file in the working directory.
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  return runInThisContext(script, { filename, importModuleDynamically }) as
    EvaluationResult | Promise<EvaluationResult>;
}
