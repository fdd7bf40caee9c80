// Stores credentials in GNOME Keyring, KWallet or KeePassXC through the Secret Service API (freedesktop.org, draft 0.2). An item
// has the attributes `service` and `account` (as secret-tool and keytar) and Bun's schema; its label is "service/name".
//
// Invariants:
// - Operations on one pair run in call order; reads are concurrent. Of concurrent deletes in any process, one returns true.
// - An operation survives one restart of the bus or the service, and vanished items or sessions (retry).
// - It ends at its caller's timeout, even while a prompt is shown.
// - The process stays alive until the last operation has ended; an idle connection does not keep it alive.
import { type OperationKind, orGiveUp, KeyedLock } from "../credential-operations.ts";
import type { CredentialName, OperationOptions, SecretProvider } from "../contract/secret-provider.ts";
import { PERSON_TIMEOUT } from "./dbus/bus.ts";
import {
  type SecretServiceConnection,
  openConnection,
  renewDefaultCollection,
  renewSession,
} from "./connection.ts";
import { isInterrupted, isNoSession, isVanished, toProviderFailure } from "./failures.ts";
import { listCredentials } from "./item-list.ts";
import { deleteItems, getSecret, setSecret } from "./items.ts";
import { type Operation, rejectIfOver } from "./dbus/operation.ts";

/** Retry limit if objects vanish. */
const MAX_ATTEMPTS = 5;
const TIMEOUT = "The secret service did not finish within $; look for its dialog, then try again";

export function openSecretService(): SecretProvider {
  return new SecretService();
}

class SecretService implements SecretProvider {
  #connection: SecretServiceConnection | undefined;
  readonly #turns = new KeyedLock();

  get(service: string, name: string, options?: OperationOptions): Promise<Uint8Array | null> {
    return this.#perform(service, name, "read", options, getSecret);
  }

  set(service: string, name: string, value: Uint8Array, options?: OperationOptions): Promise<void> {
    return this.#perform(service, name, "write", options, (operation) => setSecret(operation, value));
  }

  delete(service: string, name: string, options?: OperationOptions): Promise<boolean> {
    return this.#perform(service, name, "write", options, deleteItems);
  }

  /** Uses a key that no credential can have, so it waits for no other operation. */
  list(service = "", options?: OperationOptions): Promise<CredentialName[]> {
    return this.#perform(service, "", "read", options, listCredentials);
  }

  async #perform<T>(
    service: string,
    name: string,
    kind: OperationKind,
    options: OperationOptions = {},
    attempt: (operation: Operation) => Promise<T>,
  ): Promise<T> {
    options.signal?.throwIfAborted();
    const connection = this.#connect();
    const operation: Operation = {
      service,
      name,
      calledAt: performance.now(),
      patience: options.timeout ?? PERSON_TIMEOUT,
      connection,
      isOver: false,
      isPrompting: false,
    };
    connection.bus.hold();
    try {
      const done = this.#turns.take(`${service}\0${name}`, kind, () => this.#attempt(operation, attempt));
      return await orGiveUp(done, options, TIMEOUT);
    } catch (error) {
      throw options.signal?.aborted && error === options.signal.reason ? error : toProviderFailure(error);
    } finally {
      operation.isOver = true;
      operation.lock?.release();
      if (operation.isPrompting) this.#retire(operation.connection);
      operation.connection.bus.release();
    }
  }

  async #attempt<T>(operation: Operation, attempt: (operation: Operation) => Promise<T>): Promise<T> {
    let hasReconnected = false;
    for (let count = 1; ; count++) {
      rejectIfOver(operation);
      const connection = this.#connect();
      const { session } = connection;
      if (connection !== operation.connection) {
        connection.bus.hold();
        operation.connection.bus.release();
        operation.connection = connection;
      }
      try {
        return await attempt(operation);
      } catch (error) {
        if (operation.isOver || count === MAX_ATTEMPTS) throw error;
        if (isNoSession(error)) renewSession(connection, session);
        else if (isVanished(error)) renewDefaultCollection(connection);
        else if (isInterrupted(error) && !hasReconnected) {
          hasReconnected = true;
          this.#retire(connection);
        } else throw error;
      }
    }
  }

  #connect(): SecretServiceConnection {
    const current = this.#connection;
    if (current?.bus.isUsable && !current.hasFailed) return current;
    if (current) this.#retire(current);
    this.#connection = openConnection();
    return this.#connection;
  }

  /** Replaces the connection; callers that wait on it keep it, with its prompt. */
  #retire(connection: SecretServiceConnection): void {
    if (this.#connection === connection) this.#connection = undefined;
    connection.bus.closeWhenReleased();
  }
}
