// The `rt` object: everything the engine's own namespace has, with `secrets` and `CSRF` ours.
//
// Contract (specification, "Endpoints"): reachable as `rt` and as named exports of the module "rt" (module-exports.ts).
// The stack trace of an error that a call ends with begins where the program made the call: what prints an uncaught
// error shows the source of its first frame, and ours would be a page of minified code.
//
// A call reads its options before it returns. It validates the copy once its code is loaded.
//
// Surprising: making the object loads nothing. The methods of `secrets` and `CSRF` load their code when one is
// first called.
import type { CSRF } from "../csrf/csrf.ts";
import type { Secrets } from "../secrets/api/secrets.ts";
import type { LazyModules } from "./modules/lazy-modules.ts";

/** A stack, taken down where the program called. */
type Caller = { readonly stack?: unknown };

/** Bound now: test environments replace globals. */
const OwnError = Error;
const { captureStackTrace } = OwnError;

export interface Rt extends Omit<typeof Bun, "secrets" | "CSRF"> {
  readonly secrets: Secrets;
  readonly CSRF: typeof CSRF;
}

export function createRt({ loadSecrets, loadCSRF }: LazyModules): Rt {
  // Kept here: asking for a loaded module again takes longer than signing a token.
  let secrets: ReturnType<LazyModules["loadSecrets"]> | undefined;
  let csrf: ReturnType<LazyModules["loadCSRF"]> | undefined;

  async function perform(method: keyof Secrets, [first, ...rest]: [never], caller: Caller): Promise<never> {
    // Before the first await: the program may use the same object for its next call.
    const args: [never] = [copyOptions(first) as never, ...rest];
    const loaded = await (secrets ??= loadSecrets());
    try {
      return (await loaded.secrets[method](...args)) as never;
    } catch (error) {
      throw loaded.traceFrom(error, caller);
    }
  }

  const lateSecrets = {
    get: async (...args: [never]) => perform("get", args, callerOf(lateSecrets.get)),
    set: async (...args: [never]) => perform("set", args, callerOf(lateSecrets.set)),
    delete: async (...args: [never]) => perform("delete", args, callerOf(lateSecrets.delete)),
  };
  const lateCSRF: typeof CSRF = {
    generate(secret, options) {
      try {
        return (csrf ??= loadCSRF()).CSRF.generate(secret, options);
      } catch (error) {
        throw csrf ? csrf.traceFrom(error, callerOf(lateCSRF.generate)) : error;
      }
    },
    verify(token, options) {
      try {
        return (csrf ??= loadCSRF()).CSRF.verify(token, options);
      } catch (error) {
        throw csrf ? csrf.traceFrom(error, callerOf(lateCSRF.verify)) : error;
      }
    },
  };
  return { __proto__: Bun, secrets: lateSecrets, CSRF: lateCSRF } as unknown as Rt;
}

/** The properties that an operation of `secrets` has, each read once; anything but an object as it is. */
function copyOptions(argument: unknown): unknown {
  if (typeof argument !== "object" || argument === null) return argument;
  const { service, name, signal, timeout, persist, value } = argument as Record<string, unknown>;
  return { service, name, signal, timeout, persist, value };
}

/** The stack below `method`, which is running. Asynchronous work has to take it down before it begins. */
function callerOf(method: Function): Caller {
  // Of an error, it becomes a text when it is read: a program's Error.prepareStackTrace is not called for nothing.
  const caller = new OwnError();
  captureStackTrace(caller, method);
  return caller;
}
