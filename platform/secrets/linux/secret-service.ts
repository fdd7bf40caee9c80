// Credentials in the desktop's keyring, over the Secret Service API (freedesktop.org, draft 0.2): GNOME
// Keyring, KWallet, KeePassXC.
//
// (service, name) becomes an item with the attributes `service` and `account`, the layout of secret-tool's
// examples and of keytar, and with Bun's schema, so that Bun.secrets finds it; its label is "service/name".
//
// What is kept here, whatever the service does (items.ts has the steps of an operation, unlocking.ts the dialogs):
// - operations on one pair run in the order in which they were called, but reads wait for no reads;
// - of several deletes of one pair, in whatever threads and processes, one at most answers true (credential-lock.ts);
// - an operation outlives one death of the bus or the service, and an item or session that vanishes;
// - it ends when its caller's patience ends, dialog or not;
// - the process stays until the last operation has ended, and an idle connection does not keep it.
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

/** How often an operation starts again because something vanished under it. */
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

  /** Goes by a pair that no credential can have, so it waits for no other operation. */
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

  /** Leaves a connection, and with it a dialog, to those who still wait on it. */
  #retire(connection: SecretServiceConnection): void {
    if (this.#connection === connection) this.#connection = undefined;
    connection.bus.closeWhenReleased();
  }
}
