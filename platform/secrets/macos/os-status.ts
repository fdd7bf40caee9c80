// Maps the keychain's OSStatus codes to failures. Numbers and names are those of Apple's SecBase.h and Authorization.h.
import { type FailureKind, ProviderFailure } from "../contract/secret-provider.ts";

export const SUCCESS = 0;
export const DUPLICATE_ITEM = -25299;
export const ITEM_NOT_FOUND = -25300;

const UNLOCK = "run `security unlock-keychain` first, or use a session on the Mac's own screen";
const LOGIN_KEYCHAIN =
  "log in at the Mac's own screen once, or choose one with `security default-keychain -s login.keychain-db`";
const ACCESS_CONTROL = "allow it for this entry in Keychain Access (Get Info, Access Control)";
const NOT_OWNED = [
  "DENIED",
  "The entry belongs to another program, and rt has no permission to change it; " +
    "remove it in Keychain Access or with `security delete-generic-password -s <service> -a <name>`",
] as const;

const FAILURES: Readonly<Record<number, readonly [FailureKind, string]>> = {
  // errSecUserCanceled, errAuthorizationCanceled
  [-128]: ["CANCELED", "The keychain's dialog was declined; try again and choose Always Allow"],
  [-60006]: ["CANCELED", "The keychain's dialog was declined; try again and choose Always Allow"],
  // errSecInteractionNotAllowed, errSecInteractionRequired, errAuthorizationInteractionNotAllowed
  [-25308]: ["LOCKED", `The keychain is locked or needs a confirmation, and cannot show a dialog; ${UNLOCK}`],
  [-25315]: ["LOCKED", `The keychain is locked or needs a confirmation, and cannot show a dialog; ${UNLOCK}`],
  [-60007]: ["LOCKED", `The keychain is locked or needs a confirmation, and cannot show a dialog; ${UNLOCK}`],
  // errSecInDarkWake
  [-25320]: ["LOCKED", "The keychain cannot be unlocked while the Mac's display sleeps; wake it up"],
  // errSecAuthFailed: a wrong password in the dialog, or no dialog for a program that the entry does not trust
  [-25293]: ["DENIED", `The keychain rejected the password or this program; try again, or ${ACCESS_CONTROL}`],
  // errAuthorizationDenied
  [-60005]: ["DENIED", `The keychain rejected the password or this program; try again, or ${ACCESS_CONTROL}`],
  // errSecNoAccessForItem, errSecInvalidOwnerEdit, errSecACLNotSimple
  [-25243]: NOT_OWNED,
  [-25244]: NOT_OWNED,
  [-25240]: NOT_OWNED,
  // errSecReadOnly, errSecWrPerm
  [-25292]: ["DENIED", "The keychain is read-only; make its file in ~/Library/Keychains writable"],
  [-61]: ["DENIED", "The keychain's file cannot be written; make it in ~/Library/Keychains writable"],
  // errSecMissingEntitlement
  [-34018]: ["DENIED", "macOS denies this build of rt access to the keychain; install a signed release"],
  // errSecNotAvailable, errSecServiceNotAvailable
  [-25291]: ["UNAVAILABLE", "No keychain is available to this process; run it in a user's login session"],
  [-67585]: ["UNAVAILABLE", "The keychain's service is not running; restart the Mac"],
  // errSecNoSuchKeychain, errSecInvalidKeychain, errSecNoDefaultKeychain
  [-25294]: ["UNAVAILABLE", `The keychain does not exist; ${LOGIN_KEYCHAIN}`],
  [-25295]: [
    "UNAVAILABLE",
    "The keychain's file is damaged; check it in Keychain Access, or restore it from a backup",
  ],
  [-25307]: ["UNAVAILABLE", `There is no default keychain; ${LOGIN_KEYCHAIN}`],
  // errSecDataTooLarge
  [-25302]: ["TOO_LARGE", "The value is too large for the keychain; store a shorter one"],
  // errSecDiskFull
  [-34]: ["PLATFORM", "The disk is full; free some space and try again"],
};

/** @param words the system's text for a status that is not in the table */
export function toFailure(status: number, words: string | undefined): ProviderFailure {
  const [kind, message] = FAILURES[status] ?? ["PLATFORM", describe(words)];
  return new ProviderFailure(kind, message, status);
}

export function isKnown(status: number): boolean {
  return status in FAILURES;
}

function describe(words = "no explanation"): string {
  return `The keychain failed (${words.replace(/\.$/, "")}); check the keychain in Keychain Access, then try again`;
}
