// Windows functions of the credential store, on entries. `call` determines the thread.
import { ProviderFailure } from "../contract/secret-provider.ts";
import type { ForeignCall, ForeignLibrary } from "../foreign-threads.ts";
import { read } from "bun:ffi";
import { originalVariable } from "../../processes/windows/environment.ts";
import { encodeCredential, encodeWide, GENERIC, takeCredential } from "./credential.ts";
import type { Vault } from "./chunked-credentials.ts";
import { NOT_FOUND, TIMED_OUT } from "./failures.ts";

export const LIBRARIES: readonly ForeignLibrary[] = [
  {
    path: "kernel32.dll",
    symbols: {
      GetLastError: { args: [], returns: "u32" },
      CreateMutexW: { args: ["u64", "i32", "u64"], returns: "u64" },
      WaitForSingleObject: { args: ["u64", "u32"], returns: "u32" },
      ReleaseMutex: { args: ["u64"], returns: "i32" },
      CloseHandle: { args: ["u64"], returns: "i32" },
    },
  },
  {
    path: "advapi32.dll",
    symbols: {
      CredReadW: { args: ["u64", "u32", "u32", "u64"], returns: "i32" },
      CredWriteW: { args: ["u64", "u32"], returns: "i32" },
      CredDeleteW: { args: ["u64", "u32", "u32"], returns: "i32" },
      CredEnumerateW: { args: ["u64", "u32", "u64", "u64"], returns: "i32" },
      CredFree: { args: ["u64"], returns: "void" },
      CredGetSessionTypes: { args: ["u32", "u64"], returns: "i32" },
    },
  },
];

/** Returns the error of the last call. */
export const ERROR_FROM = "GetLastError";

/** The error code of a call, which the provider maps to a failure. */
export class Win32Error extends Error {
  override readonly name = "Win32Error";
  readonly code: number;

  constructor(symbol: string, code: number) {
    super(`${symbol} failed with error ${code}`);
    this.code = code;
  }
}

/** Wine's code for an entry that is deleted concurrently. */
const KEY_DELETED = 1018;

export function openVault(call: ForeignCall): Vault {
  /** Returns whether the call succeeded; false if the entry does not exist. */
  async function attempt(...[symbol, args, keep]: Parameters<ForeignCall>): Promise<boolean> {
    const { value, error } = await call(symbol, args, keep);
    if (value !== 0) return true;
    if (error === NOT_FOUND || error === KEY_DELETED) return false;
    throw new Win32Error(symbol, error);
  }

  /** Not awaited: the thread's next call runs after it. */
  function free(address: bigint): void {
    call("CredFree", [address]).catch(() => {});
  }

  return {
    async read(target) {
      const out = new BigUint64Array(1);
      if (!(await attempt("CredReadW", [encodeWide(target), GENERIC, 0, out]))) return null;
      try {
        return takeCredential(Number(out[0]));
      } finally {
        free(out[0]!);
      }
    },

    async write(credential, persist) {
      const { structure, buffers } = encodeCredential(credential, persist);
      if (!(await attempt("CredWriteW", [structure, 0], buffers)))
        throw new Win32Error("CredWriteW", NOT_FOUND);
    },

    remove: (target) => attempt("CredDeleteW", [encodeWide(target), GENERIC, 0]),

    async list() {
      const count = new Uint32Array(1);
      const out = new BigUint64Array(1);
      if (!(await attempt("CredEnumerateW", [null, 0, count, out]))) return [];
      try {
        return Array.from({ length: count[0]! }, (_, index) => {
          const credential = takeCredential(read.ptr(Number(out[0]), index * 8));
          credential?.blob.fill(0);
          return credential;
        }).filter((credential) => credential !== null);
      } finally {
        free(out[0]!);
      }
    },
  };
}

/** Returns the greatest persistence of generic entries in this session; undefined if unknown. */
export async function readMaximumPersistence(call: ForeignCall): Promise<number | undefined> {
  const TYPES = 7;
  const most = new Uint32Array(TYPES);
  const { value } = await call("CredGetSessionTypes", [TYPES, most]);
  return value === 0 ? undefined : most[GENERIC];
}

/** Result of WaitForSingleObject at its timeout. */
const WAIT_TIMEOUT = 258;
/** Milliseconds; storing a value of many parts takes a fraction of a second. */
const LOCK_TIMEOUT = 30_000;

/**
 * Runs `task` under a mutex of all rt processes in this user's session. The lock of a dead process is released by Windows. If the
 * operation has timed out or was aborted, nothing runs. If the mutex is unavailable (created by a process with more rights),
 * `task` runs without it.
 */
export async function withLock<T>(
  call: ForeignCall,
  isOver: () => boolean,
  task: () => Promise<T>,
): Promise<T> {
  const user = (originalVariable("USERNAME") ?? "").replaceAll("\\", "_");
  const { value: mutex } = await call("CreateMutexW", [null, 0, encodeWide(`Local\\rt.secrets.${user}`)]);
  if (!mutex) return await task();
  try {
    const { value } = await call("WaitForSingleObject", [mutex, LOCK_TIMEOUT]);
    if (value === WAIT_TIMEOUT) throw new Win32Error("WaitForSingleObject", TIMED_OUT);
    try {
      if (isOver()) throw new ProviderFailure("CANCELED", "The operation was aborted");
      return await task();
    } finally {
      await call("ReleaseMutex", [mutex]);
    }
  } finally {
    await call("CloseHandle", [mutex]);
  }
}
