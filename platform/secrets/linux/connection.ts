// What lives as long as one connection to the secret service: the bus, the session, the dialogs and what
// was learnt about the service. Opening waits for nothing; the first calls leave together with the greeting.
import { originalVariable } from "../../processes/posix/environment.ts";
import type { ProviderFailure } from "../contract/secret-provider.ts";
import { parseAddresses, sessionBusAddress } from "./dbus/address.ts";
import { Bus } from "./dbus/bus.ts";
import { BusFailure } from "./dbus/bus-failure.ts";
import { NO_OBJECT } from "./dbus/dbus-names.ts";
import { prepareReadAlias } from "./dbus/prepared-messages.ts";
import { Prompts } from "./prompts.ts";
import { SecretRequests } from "./secret-requests.ts";
import { openSession, type SecretServiceSession } from "./session.ts";

/** Milliseconds, connecting included. */
const HELLO_TIMEOUT = 5_000;

export interface SecretServiceConnection {
  readonly bus: Bus;
  readonly prompts: Prompts;
  readonly requests: SecretRequests;
  session: Promise<SecretServiceSession>;
  /** Object path of the default collection as last read, "/" without one. */
  defaultCollection: Promise<string>;
  /** What a person is asked at present, or the service without one, see unlocking.ts. */
  asking: Promise<void> | undefined;
  /** The last refusal; `at` as `performance.now()` counts. */
  declined: { readonly at: number; readonly failure: ProviderFailure } | undefined;
  /** The items that were last read, by service and name: `get` asks for them while it searches. */
  readonly lastItems: Map<string, string>;
  /** Set when a part could not be had; the connection then serves nobody new. */
  hasFailed: boolean;
}

/**
 * Starts to connect to the session bus that the environment named when the program was started: neither `.env` nor code
 * that has come to run since then has a say in where a secret is stored.
 */
export function openBus(): { bus: Bus; address: string; greeted: Promise<unknown> } {
  const env = {
    DBUS_SESSION_BUS_ADDRESS: originalVariable("DBUS_SESSION_BUS_ADDRESS"),
    XDG_RUNTIME_DIR: originalVariable("XDG_RUNTIME_DIR"),
  };
  const uid = process.getuid!();
  const address = sessionBusAddress(env, uid);
  const bus = new Bus(parseAddresses(address, env, uid), address, uid);
  const greeted = bus.greet(HELLO_TIMEOUT).catch((error: unknown) => {
    if (!isTimeout(error)) throw error;
    const text = `The session bus at ${address} did not answer within ${HELLO_TIMEOUT / 1000} seconds`;
    const failure = new BusFailure("timeout", text);
    bus.close(failure);
    throw failure;
  });
  greeted.catch(() => {}); // the other calls tell as well
  return { bus, address, greeted };
}

export function openConnection(): SecretServiceConnection {
  const { bus } = openBus();
  const defaultCollection = readFirst(bus);
  // Nobody is asked anything by it, so its silence is the service's.
  defaultCollection.catch((error: unknown) => {
    if (isTimeout(error)) bus.close(error);
  });
  const connection: SecretServiceConnection = {
    bus,
    prompts: new Prompts(bus),
    requests: new SecretRequests(bus),
    defaultCollection,
    session: openSession(bus),
    asking: undefined,
    declined: undefined,
    lastItems: new Map(),
    hasFailed: false,
  };
  watch(connection, connection.defaultCollection);
  watch(connection, connection.session);
  return connection;
}

/** A failure is told to those who await it; all others get a new connection. */
function watch(connection: SecretServiceConnection, part: Promise<unknown>): void {
  part.catch(() => {
    connection.hasFailed = true;
  });
}

/** For a service that has restarted and forgotten the session; does so once for all who notice. */
export function renewSession(
  connection: SecretServiceConnection,
  stale: Promise<SecretServiceSession>,
): void {
  if (connection.session !== stale) return;
  renewDefaultCollection(connection);
  connection.session = openSession(connection.bus);
  watch(connection, connection.session);
}

export function renewDefaultCollection(connection: SecretServiceConnection): void {
  connection.defaultCollection = readDefaultCollection(connection.bus);
  watch(connection, connection.defaultCollection);
}

/** A call that does no harm, before any other, see bus.ts. Its answer is "/" from a service that does not know us yet. */
async function readFirst(bus: Bus): Promise<string> {
  const [path] = await bus.call({ ...prepareReadAlias(), leads: true });
  return path === NO_OBJECT ? readDefaultCollection(bus) : (path as string);
}

async function readDefaultCollection(bus: Bus): Promise<string> {
  const [path] = await bus.call(prepareReadAlias());
  return path as string;
}

function isTimeout(error: unknown): error is BusFailure {
  return error instanceof BusFailure && error.kind === "timeout";
}
