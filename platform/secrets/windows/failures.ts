// Maps the Credential Manager's error codes to failures.
import { type FailureKind, ProviderFailure } from "../contract/secret-provider.ts";

/** ERROR_NOT_FOUND: the entry is absent, which is not a failure. */
export const NOT_FOUND = 1168;

/** ERROR_TIMEOUT */
export const TIMED_OUT = 1460;

const SERVICE_DISABLED = 1058;

const ENABLE =
  "set the service Credential Manager (VaultSvc) to Manual, in services.msc or as an administrator with: sc.exe config VaultSvc start= demand";
export const DISABLED = `The Credential Manager service is disabled; ${ENABLE}`;

const CODES: Readonly<Record<number, readonly [FailureKind, string]>> = {
  5: [
    "DENIED",
    "Windows denies this program access to the Credential Manager; start it as a program of the signed-in user, outside a sandbox",
  ],
  87: ["TOO_LARGE", "The Credential Manager rejects this service, name or value; use shorter ones"],
  1004: [
    "PLATFORM",
    "The Credential Manager rejected the flags of the request; report this with the version of Windows",
  ],
  [SERVICE_DISABLED]: ["UNAVAILABLE", DISABLED],
  1062: [
    "UNAVAILABLE",
    "The Credential Manager service is not running; start it with: sc.exe start VaultSvc",
  ],
  1223: ["CANCELED", "The dialog of the Credential Manager was dismissed; try again"],
  1312: [
    "UNAVAILABLE",
    "This session has no credential store, as with SSH by key, services and some scheduled tasks; sign in with a password, or pass the credential in another way",
  ],
  [TIMED_OUT]: [
    "TIMEOUT",
    "Another program has locked the credentials for half a minute; end it and try again",
  ],
  1722: [
    "UNAVAILABLE",
    "The Credential Manager service does not respond; start it with: sc.exe start VaultSvc",
  ],
  1783: ["TOO_LARGE", "The value is too large for the Credential Manager; use a shorter one"],
  2202: ["PLATFORM", "The Credential Manager rejects this name as a user name; use another name"],
};

/**
 * @param code of GetLastError
 * @param isServiceDisabled checks the service's settings, if the code only reports that the service does not respond
 */
export function toProviderFailure(code: number, isServiceDisabled: () => boolean): ProviderFailure {
  const [kind, message] = CODES[code] ?? [
    "PLATFORM",
    `The Credential Manager failed with error ${code}; for an explanation run: net helpmsg ${code}`,
  ];
  const isDisabled = kind === "UNAVAILABLE" && code !== SERVICE_DISABLED && isServiceDisabled();
  return new ProviderFailure(kind, isDisabled ? DISABLED : message, code);
}
