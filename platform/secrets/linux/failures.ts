// Maps errors of D-Bus and of the Secret Service API to failures.
import { type FailureKind, ProviderFailure } from "../contract/secret-provider.ts";
import { BusFailure } from "./dbus/bus-failure.ts";

/** rt's own code: the value is not encrypted with the session's key. */
export const UNDECIPHERABLE = "undecipherable";
export const IS_LOCKED = "org.freedesktop.Secret.Error.IsLocked";

const NO_SERVICE =
  "No secret service runs in this session; start GNOME Keyring (gnome-keyring-daemon), KWallet, or KeePassXC with its Secret Service integration";
const START_BUS =
  "log in to a desktop session, start the program with dbus-run-session, or set DBUS_SESSION_BUS_ADDRESS";
const REPORT = "see the log of the secret service";

// The first matching row counts; `$` is the service's message.
const ANSWERS: readonly [RegExp, FailureKind, string][] = [
  [/\.(ServiceUnknown|NameHasNoOwner)$/, "UNAVAILABLE", NO_SERVICE],
  [
    /\.Spawn\.|\.TimedOut$/,
    "UNAVAILABLE",
    "The secret service could not be started ($); start it in a terminal to see the reason",
  ],
  [
    /\.(NoReply|Disconnected)$/,
    "UNAVAILABLE",
    "The secret service exited before it replied; see its log, then try again",
  ],
  [
    /\.(AccessDenied|AuthFailed)$/,
    "DENIED",
    "The secret service denied access ($); allow this program in its settings",
  ],
  [/\.IsLocked$/, "LOCKED", "The keyring is locked; unlock it and try again"],
  [
    /\.(LimitsExceeded|NoMemory)$/,
    "TOO_LARGE",
    "The value exceeds a limit of the secret service ($); store a shorter one",
  ],
  [/\.Timeout$/, "TIMEOUT", "The secret service did not respond in time"],
];

const isVanishedName = /\.(UnknownMethod|UnknownObject|UnknownInterface|NoSuchObject)$/;

/** Returns whether the called object does not exist (any more). */
export function isVanished(error: unknown): boolean {
  return isAnswer(error, isVanishedName);
}

export function isLocked(error: unknown): boolean {
  return error instanceof BusFailure && error.native === IS_LOCKED;
}

/**
 * Returns whether a new session may help: the service has restarted, or has another key. KWallet has no error name for the first.
 */
export function isNoSession(error: unknown): boolean {
  if (!(error instanceof BusFailure)) return false;
  const { native = "", message } = error;
  return (
    native === UNDECIPHERABLE ||
    /^org\.(freedesktop\.Secret\.Error\.NoSession|qtproject\.QtDBus\.Error\.InvalidObjectPath)$/.test(
      native,
    ) ||
    (native.endsWith(".UnknownObject") && message.includes("/secrets/session/"))
  );
}

/** Returns whether the bus or service has disconnected, so that a new connection may succeed. */
export function isInterrupted(error: unknown): boolean {
  return (
    (error instanceof BusFailure && error.kind === "closed") || isAnswer(error, /\.(NoReply|Disconnected)$/)
  );
}

function isAnswer(error: unknown, name: RegExp): boolean {
  return error instanceof BusFailure && error.kind === "answered" && name.test(error.native ?? "");
}

export function toProviderFailure(error: unknown): unknown {
  if (error instanceof ProviderFailure) return error;
  if (!(error instanceof BusFailure)) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return new ProviderFailure("PLATFORM", `The keyring cannot be used (${name}: ${message}); ${REPORT}`);
  }
  const { kind, native, message } = error;
  if (kind === "unreachable" || kind === "refused")
    return new ProviderFailure("UNAVAILABLE", `${message}; ${START_BUS}`, native);
  if (kind === "closed") return new ProviderFailure("UNAVAILABLE", `${message}; try again`, native);
  if (kind === "timeout")
    return new ProviderFailure(
      "TIMEOUT",
      `${message}; check whether the secret service waits for a dialog or hangs`,
      native,
    );
  if (kind === "malformed") return new ProviderFailure("PLATFORM", `${message}; ${REPORT}`, native);
  for (const [name, failure, text] of ANSWERS) {
    if (name.test(native ?? ""))
      return new ProviderFailure(
        failure,
        text.replace("$", () => message || native!),
        native,
      );
  }
  return new ProviderFailure(
    "PLATFORM",
    `The secret service returned an error (${native}: ${message}); ${REPORT}`,
    native,
  );
}
