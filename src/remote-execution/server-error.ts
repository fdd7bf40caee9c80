// What is wrong with a server, as one error for whoever has started the run.
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import { Code } from "../reapi/grpc/grpc-status.ts";
import type { RemoteError } from "../reapi/grpc/retry.ts";
import type { RemoteSettings } from "../config/settings/remote.ts";

const EXPLANATIONS: Readonly<Record<number, string>> = {
  [Code.UNAVAILABLE]: "cannot be reached",
  [Code.UNAUTHENTICATED]: "does not accept the credentials",
  [Code.PERMISSION_DENIED]: "does not allow it",
  [Code.DEADLINE_EXCEEDED]: "takes too long",
  [Code.RESOURCE_EXHAUSTED]: "has no room",
  [Code.UNIMPLEMENTED]: "does not know what is asked",
};

const LONGEST = 300;

export function toUserError({ message, code }: RemoteError, { url, isAsked }: RemoteSettings): UserError {
  const reason = code === undefined ? undefined : EXPLANATIONS[code];
  const said = oneLine(message.length > LONGEST ? `${message.slice(0, LONGEST)}...` : message);
  return new UserError(
    `The server ${url} ${reason ?? "has failed"}: ${said}`,
    isAsked ? "without --remote the script runs here" : "with --no-remote it runs here",
  );
}
