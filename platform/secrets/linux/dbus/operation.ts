// One operation of the API on its way, and how it calls the secret service. After its caller has given up, its next
// step rejects.
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
  /** When it was called, as `performance.now()` counts. */
  readonly calledAt: number;
  /** Milliseconds for calls and dialogs that wait for a person. */
  readonly patience: number;
  connection: SecretServiceConnection;
  /** Set when the caller has given up. */
  isOver: boolean;
  isPrompting: boolean;
  lock?: CredentialLock | undefined;
  /** Whether this operation has deleted an item, or may have: the answer was lost with the connection or the service. */
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
    rejectIfOver(operation); // its time may have been too short for the answer, and others' is longer
    throw error;
  }
}

export function rejectIfOver(operation: Operation): void {
  if (operation.isOver) throw new OperationAbandoned();
}

/** Why an operation goes no further whose caller has given up. It is nobody's answer: that caller has heard already. */
export class OperationAbandoned extends ProviderFailure {
  constructor() {
    super("CANCELED", "The operation was given up");
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
