// Converts a server's error into a UserError.
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import { Code } from "../reapi/grpc/grpc-status.ts";
import type { RemoteError } from "../reapi/grpc/retry.ts";
import type { RemoteSettings } from "../config/settings/remote.ts";

const EXPLANATIONS: Readonly<Record<number, string>> = {
  [Code.UNAVAILABLE]: "cannot be reached",
  [Code.UNAUTHENTICATED]: "rejected the credentials",
  [Code.PERMISSION_DENIED]: "denied permission",
  [Code.DEADLINE_EXCEEDED]: "timed out",
  [Code.RESOURCE_EXHAUSTED]: "has no capacity",
  [Code.UNIMPLEMENTED]: "does not support the operation",
};

const MAX_MESSAGE = 300;

export function toUserError({ message, code }: RemoteError, { url, isAsked }: RemoteSettings): UserError {
  const reason = code === undefined ? undefined : EXPLANATIONS[code];
  const shortened = oneLine(message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}...` : message);
  return new UserError(
    `The server ${url} ${reason ?? "failed"}: ${shortened}`,
    isAsked ? "omit --remote to run the script locally" : "use --no-remote to run it locally",
  );
}
