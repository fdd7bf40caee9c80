// Locks a credential for all processes and threads on one session bus. The lock is a bus name, which has one owner.
//
// Invariants:
// - The lock ends with its process: the bus releases the names of a closed connection.
// - A bus that grants no names (a sandbox's proxy) does not fail the operation, which then runs without a lock.
//
// Non-obvious: no lock file would have this scope. Programs in containers and sandboxes share the bus, and no directory.
import type { Bus } from "./dbus/bus.ts";
import { BusFailure } from "./dbus/bus-failure.ts";
import { type Operation, rejectIfOver } from "./dbus/operation.ts";

/** Acquires the lock of the operation's pair. The caller of the operation releases it. */
export async function lockCredential(operation: Operation): Promise<void> {
  if (operation.lock?.isLocked) return;
  operation.lock?.release();
  operation.lock = undefined;
  const { service, name, patience, connection } = operation;
  const hash = new Bun.CryptoHasher("sha256").update(`${service}\0${name}`).digest("hex");
  const busName = `dev.rt.secrets.lock.h${hash}`;
  try {
    await connection.bus.acquireName(busName, patience);
  } catch (error) {
    rejectIfOver(operation);
    if (error instanceof BusFailure && error.kind === "answered") return;
    throw error;
  }
  const lock = new CredentialLock(connection.bus, busName);
  if (operation.isOver) lock.release();
  rejectIfOver(operation);
  operation.lock = lock;
}

/** Keeps its connection open, even if the operation continues on a new one. */
export class CredentialLock {
  readonly #bus: Bus;
  readonly #name: string;

  constructor(bus: Bus, name: string) {
    this.#bus = bus;
    this.#name = name;
    bus.hold();
  }

  /** False if the connection is closed. */
  get isLocked(): boolean {
    return this.#bus.isUsable;
  }

  release(): void {
    this.#bus.releaseName(this.#name);
    this.#bus.release();
  }
}
