// Creates the `rt` object: the engine's `Bun` namespace with rt's `secrets` and `CSRF`.
//
// Invariants (specification, "Endpoints"):
// - It is available as the global `rt` and as named exports of the module "rt" (module-exports.ts).
// - The stack trace of a rejected call begins at the program's call. An uncaught error prints the source of its first frame,
//   which would otherwise be minified code.
// - A call copies its options synchronously. It validates the copy after its code is loaded.
// Non-obvious:
// - Creating the object loads nothing. `secrets` and `CSRF` load their code at the first call.
import type { Secrets } from "rt";
import type { CSRF } from "../csrf/csrf.ts";
import type { LazyModules } from "./modules/lazy-modules.ts";

/** An object with the stack captured at the program's call. */
type Caller = { readonly stack?: unknown };

/** Captured at load: test environments replace globals. */
const OwnError = Error;
const { captureStackTrace } = OwnError;

export interface Rt extends Omit<typeof Bun, "secrets" | "CSRF"> {
  readonly secrets: Secrets;
  readonly CSRF: typeof CSRF;
}

export function createRt({ loadSecrets, loadCSRF }: LazyModules): Rt {
  // Memoized: a second import of a loaded module takes longer than signing a token.
  let secrets: ReturnType<LazyModules["loadSecrets"]> | undefined;
  let csrf: ReturnType<LazyModules["loadCSRF"]> | undefined;

  async function perform(method: keyof Secrets, [first, ...rest]: [never], caller: Caller): Promise<never> {
    // Copied before the first await, because the program may change the object for its next call.
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

/** Copies the options of a `secrets` operation; reads each property once. Returns any other value unchanged. */
function copyOptions(argument: unknown): unknown {
  if (typeof argument !== "object" || argument === null) return argument;
  const { service, name, signal, timeout, persist, value } = argument as Record<string, unknown>;
  return { service, name, signal, timeout, persist, value };
}

/** Captures the stack of the caller of `method`. An asynchronous method must call it before its first await. */
function callerOf(method: (...args: never) => unknown): Caller {
  // The stack of an Error is formatted when it is read, so a program's Error.prepareStackTrace runs only if needed.
  const caller = new OwnError();
  captureStackTrace(caller, method);
  return caller;
}
