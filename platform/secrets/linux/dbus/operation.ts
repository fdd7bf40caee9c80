// State of one running operation, and its calls of the secret service. After a timeout or abort, the next step rejects.
import { ProviderFailure } from "../../contract/secret-provider.ts";
import type { DBusCall } from "./dbus-encoder.ts";
import type { SecretServiceConnection } from "../connection.ts";
import type { CredentialLock } from "../credential-lock.ts";
import { PROPERTIES_INTERFACE, SERVICE_NAME } from "./dbus-names.ts";
import type { PreparedCall } from "./prepared-messages.ts";
import { checkProperty } from "./reply-signatures.ts";

export interface Operation {
  readonly service: string;
  readonly name: string;
  /** Time of the call in `performance.now()` milliseconds. */
  readonly calledAt: number;
  /** Timeout in milliseconds for calls and prompts that wait for a person. */
  readonly patience: number;
  connection: SecretServiceConnection;
  /** Set after a timeout or abort. */
  isOver: boolean;
  isPrompting: boolean;
  lock?: CredentialLock | undefined;
  /** Whether this operation has deleted an item, or may have: the reply was lost. */
  hasDeleted?: boolean;
}

export function call(
  operation: Operation,
  path: string,
  on: string,
  member: string,
  signature?: string,
  body?: DBusCall["body"],
): Promise<unknown[]> {
  return send(operation, { destination: SERVICE_NAME, path, interface: on, member, signature, body });
}

export async function send(operation: Operation, call: DBusCall | PreparedCall): Promise<unknown[]> {
  rejectIfOver(operation);
  try {
    return await operation.connection.bus.call(call, operation.patience);
  } catch (error) {
    rejectIfOver(operation); // the timeout may be this caller's only
    throw error;
  }
}

export function rejectIfOver(operation: Operation): void {
  if (operation.isOver) throw new OperationAbandoned();
}

/** Ends an operation that has timed out or was aborted. No caller receives it. */
export class OperationAbandoned extends ProviderFailure {
  constructor() {
    super("CANCELED", "The operation was aborted");
  }
}

export async function readProperty(
  operation: Operation,
  path: string,
  of: string,
  name: string,
): Promise<unknown> {
  const [variant] = await call(operation, path, PROPERTIES_INTERFACE, "Get", "ss", [of, name]);
  return checkProperty(name, variant);
}
