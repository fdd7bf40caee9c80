// Calls Security.framework in worker threads, because a call that shows a dialog blocks until a person answers.
//
// Invariants:
// - Each task runs in an autorelease pool, which a thread without Cocoa lacks. No call retains a reference of the caller.
import { type ForeignArgument, type ForeignCall, ForeignThreads } from "../foreign-threads.ts";
import { readString, Scope } from "./core-foundation.ts";
import { OBJECTIVE_C, SECURITY } from "./frameworks.ts";
import { isKnown, SUCCESS, toFailure } from "./os-status.ts";

const POOLS = {
  objc_autoreleasePoolPush: { args: [], returns: "u64" },
  objc_autoreleasePoolPop: { args: ["u64"], returns: "void" },
} as const;

const ITEMS = {
  SecItemAdd: { args: ["u64", "ptr"], returns: "i32" },
  SecItemCopyMatching: { args: ["u64", "ptr"], returns: "i32" },
  SecItemUpdate: { args: ["u64", "u64"], returns: "i32" },
  SecItemDelete: { args: ["u64"], returns: "i32" },
} as const;

const WORDS = { SecCopyErrorMessageString: { args: ["i32", "ptr"], returns: "u64" } } as const;

/** Mostly deprecated functions, so only the diagnosis may use them. */
const STATE = {
  SecKeychainCopyDefault: { args: ["ptr"], returns: "i32" },
  SecKeychainGetStatus: { args: ["u64", "ptr"], returns: "i32" },
  SecKeychainGetPath: { args: ["u64", "ptr", "ptr"], returns: "i32" },
  SessionGetInfo: { args: ["u32", "ptr", "ptr"], returns: "i32" },
  SecCodeCopySelf: { args: ["u32", "ptr"], returns: "i32" },
  SecCodeCopySigningInformation: { args: ["u64", "u32", "ptr"], returns: "i32" },
} as const;

export type ItemSymbol = keyof typeof ITEMS;
export type StateSymbol = keyof typeof STATE;

/**
 * Calls a function and returns its status: success or one of `expected`.
 *
 * @throws ProviderFailure for any other status
 */
export type SecurityCall<Symbol extends string> = (
  symbol: Symbol,
  args: readonly ForeignArgument[],
  expected?: readonly number[],
) => Promise<number>;

export interface SecurityThreads<Symbol extends string> {
  /** Runs `task` in one thread. */
  use<T>(task: (call: SecurityCall<Symbol>) => Promise<T>): Promise<T>;
}

/** All but one may wait for dialogs, which macOS shows one after another. */
const MOST_THREADS = 24;

export function openItemThreads(): SecurityThreads<ItemSymbol> {
  return openThreads(ITEMS, MOST_THREADS);
}

export function openStateThreads(): SecurityThreads<StateSymbol> {
  return openThreads(STATE, 1);
}

function openThreads<Symbols extends typeof ITEMS | typeof STATE>(
  symbols: Symbols,
  most: number,
): SecurityThreads<keyof Symbols & string> {
  const threads = new ForeignThreads(
    [
      { path: SECURITY, symbols: { ...symbols, ...WORDS } },
      { path: OBJECTIVE_C, symbols: POOLS },
    ],
    { most },
  );
  return {
    use: (task) =>
      threads.use(async (call) => {
        const { value: pool } = await call("objc_autoreleasePoolPush", []);
        try {
          return await task(async (symbol, args, expected = []) => {
            const status = Number((await call(symbol, args)).value);
            if (status === SUCCESS || expected.includes(status)) return status;
            throw toFailure(status, isKnown(status) ? undefined : await explainStatus(call, status));
          });
        } finally {
          await call("objc_autoreleasePoolPop", [pool]);
        }
      }),
  };
}

/** Returns the system's text for a status. */
async function explainStatus(call: ForeignCall, status: number): Promise<string | undefined> {
  const { value } = await call("SecCopyErrorMessageString", [status, null]);
  if (BigInt(value) === 0n) return undefined;
  using scope = new Scope();
  return readString(scope.own(BigInt(value)));
}
