// One connection to the secret service: bus, session, prompts and cached state. Opening does not wait: the first calls are sent
// together with the greeting.
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

/** Milliseconds, including the connection. */
const HELLO_TIMEOUT = 5_000;

export interface SecretServiceConnection {
  readonly bus: Bus;
  readonly prompts: Prompts;
  readonly requests: SecretRequests;
  session: Promise<SecretServiceSession>;
  /** Object path of the default collection as last read; "/" if there is none. */
  defaultCollection: Promise<string>;
  /** The current prompt or promptless request, see unlocking.ts. */
  asking: Promise<void> | undefined;
  /** The last refusal; `at` in `performance.now()` milliseconds. */
  declined: { readonly at: number; readonly failure: ProviderFailure } | undefined;
  /** Last read items by service and name: `get` reads them while it searches. */
  readonly lastItems: Map<string, string>;
  /** Set when a part has failed; new operations then use a new connection. */
  hasFailed: boolean;
}

/**
 * Starts to connect to the session bus of the original environment: neither `.env` nor user code can redirect where a secret is
 * stored.
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
    const text = `The session bus at ${address} did not respond within ${HELLO_TIMEOUT / 1000} seconds`;
    const failure = new BusFailure("timeout", text);
    bus.close(failure);
    throw failure;
  });
  greeted.catch(() => {}); // the other calls report the failure too
  return { bus, address, greeted };
}

export function openConnection(): SecretServiceConnection {
  const { bus } = openBus();
  const defaultCollection = readFirst(bus);
  // The call needs no prompt, so a timeout means that the service does not respond.
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

/** Marks the connection as failed: waiting callers get the error, new ones a new connection. */
function watch(connection: SecretServiceConnection, part: Promise<unknown>): void {
  part.catch(() => {
    connection.hasFailed = true;
  });
}

/** Opens a new session after the service has restarted; once for all concurrent callers. */
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

/** A harmless first call, see bus.ts. The result is "/" if the service does not know this client yet. */
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
