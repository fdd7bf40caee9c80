// Diagnoses the keyring step by step: bus, service, default collection, lock state, and encryption of the session.
//
// Invariants:
// - It shows no prompt, unlocks nothing and stores nothing. A service that the bus can activate is started, as by any use.
// - A failed call ends the diagnosis, because later calls would fail too.
import { originalVariable } from "../../processes/posix/environment.ts";
import {
  type DiagnosisCheck,
  type Diagnosis,
  ProviderFailure,
  splitRemedy,
} from "../contract/secret-provider.ts";
import type { Bus } from "./dbus/bus.ts";
import { BusFailure } from "./dbus/bus-failure.ts";
import { openBus } from "./connection.ts";
import { toProviderFailure } from "./failures.ts";
import {
  BUS_NAME,
  BUS_PATH,
  COLLECTION_INTERFACE,
  DH_ALGORITHM,
  isKept,
  NO_OBJECT,
  PROPERTIES_INTERFACE,
  SERVICE_NAME,
} from "./dbus/dbus-names.ts";
import { prepareReadAlias } from "./dbus/prepared-messages.ts";
import { checkProperty } from "./dbus/reply-signatures.ts";
import { openSession } from "./session.ts";

/** Milliseconds for each call; none shows a prompt. */
const TIMEOUT = 5_000;

type KeyringFinding = Omit<DiagnosisCheck, "name">;

interface Advice {
  /** How to create a default collection. */
  readonly create: string;
  /** How to unlock it without a display. */
  readonly unlock: string;
}

interface Store extends Advice {
  readonly name: string;
  /** Further bus names that identify the product. */
  readonly busNames: readonly string[];
  readonly process: RegExp;
}

const KWALLET = "KWallet";
const KWALLET_NAMES = ["org.kde.kwalletd6", "org.kde.kwalletd5"];

const STORES: readonly Store[] = [
  {
    name: "GNOME Keyring",
    busNames: ["org.gnome.keyring"],
    process: /^gnome-keyring-daemon$/,
    create:
      "store a credential from a desktop session, which asks for the new keyring's password, or run gnome-keyring-daemon --replace --unlock with a password on standard input",
    unlock: "run gnome-keyring-daemon --replace --unlock with the keyring's password on standard input",
  },
  {
    name: KWALLET,
    busNames: KWALLET_NAMES,
    process: /^(kwalletd\d?|ksecretd)$/,
    create: "make a wallet in KWalletManager and make it the default",
    unlock: "open the wallet in KWalletManager, or log in through a display manager with pam_kwallet",
  },
  {
    name: "KeePassXC",
    busNames: ["org.keepassxc.KeePassXC.MainWindow"],
    process: /^keepassxc$/,
    create:
      "open a database in KeePassXC and expose a group of it in Database Settings, Secret Service Integration",
    unlock: "unlock the database in KeePassXC",
  },
];

const UNKNOWN: Advice = {
  create: "create one in the application of the secret service",
  unlock: "unlock it in the application of the secret service",
};

interface CheckProgress {
  readonly bus: Bus;
  readonly checks: DiagnosisCheck[];
  store?: string;
  advice: Advice;
}

export async function diagnoseSecretService(): Promise<Diagnosis> {
  const { bus, address, greeted } = openBus();
  const progress: CheckProgress = { bus, checks: [], advice: UNKNOWN };
  const steps: readonly [string, (progress: CheckProgress) => Promise<KeyringFinding>][] = [
    ["session bus", () => checkBus(address, greeted)],
    ["secret service", checkService],
    ["default keyring", checkCollection],
    ["encryption", checkSession],
  ];
  bus.hold();
  try {
    for (const [name, step] of steps) {
      progress.checks.push({ name, ...(await step(progress)) });
    }
  } catch (error) {
    const [name] = steps[progress.checks.length]!;
    progress.checks.push({ name, ...toProblem(error) });
  } finally {
    bus.close();
  }
  return { store: progress.store, checks: progress.checks };
}

async function checkBus(address: string, greeted: Promise<unknown>): Promise<KeyringFinding> {
  await greeted;
  const source = originalVariable("DBUS_SESSION_BUS_ADDRESS") ? "DBUS_SESSION_BUS_ADDRESS" : "the default";
  return { status: "ok", found: `${address} (${source})` };
}

async function checkService(progress: CheckProgress): Promise<KeyringFinding> {
  const { bus } = progress;
  let owner = await ownerOf(bus, SERVICE_NAME);
  const wasRunning = owner !== undefined;
  if (!wasRunning) {
    await callBus(bus, "StartServiceByName", "su", [SERVICE_NAME, 0]);
    owner = await ownerOf(bus, SERVICE_NAME);
  }
  const [number] = await callBus(bus, "GetConnectionUnixProcessID", "s", [owner ?? SERVICE_NAME]);
  const pid = Number(number);
  const command = await commandOf(pid);
  const store = (await findByBusName(bus, owner)) ?? STORES.find(({ process }) => process.test(command));
  if (store) progress.advice = store;
  progress.store = store?.name ?? (command || "an unknown program");
  const program = command ? `${command}, process ${pid}` : `process ${pid}`;
  return {
    status: "ok",
    found: `${progress.store} (${program})${wasRunning ? "" : ", started by this check"}`,
  };
}

async function checkCollection({ bus, store, advice }: CheckProgress): Promise<KeyringFinding> {
  const [path] = (await bus.call(prepareReadAlias(), TIMEOUT)) as [string];
  if (path === NO_OBJECT || !isKept(path))
    return { status: "problem", found: "No default keyring exists", remedy: advice.create };
  const [label, isLocked] = await Promise.all(
    ["Label", "Locked"].map((name) => readProperty(bus, path, name)),
  );
  const title =
    typeof label === "string" && label !== "" ? `"${label}"` : path.slice(path.lastIndexOf("/") + 1);
  if (isLocked !== true || (store === KWALLET && (await isOpenWallet(bus, String(label)))))
    return { status: "ok", found: `${title}, unlocked` };
  const canAsk = originalVariable("DISPLAY") || originalVariable("WAYLAND_DISPLAY");
  const remedy = canAsk ? "run `rt secrets list` to open the unlock dialog" : advice.unlock;
  return { status: "problem", found: `${title} is locked`, remedy };
}

/** KWallet reports an open wallet as locked until a client has used its secret service interface. */
async function isOpenWallet(bus: Bus, wallet: string): Promise<boolean> {
  for (const name of KWALLET_NAMES) {
    const destination = await ownerOf(bus, name); // the only accepted sender of the reply
    if (destination === undefined) continue;
    const path = `/modules/${name.slice(name.lastIndexOf(".") + 1)}`;
    const call = { destination, path, interface: "org.kde.KWallet", member: "isOpen" };
    const [isOpen] = await bus
      .call({ ...call, signature: "s", body: [wallet] }, TIMEOUT)
      .catch(() => [false]);
    if (isOpen === true) return true;
  }
  return false;
}

async function checkSession({ bus }: CheckProgress): Promise<KeyringFinding> {
  const { key } = await openSession(bus, TIMEOUT);
  if (key) return { status: "ok", found: `Values cross the bus encrypted (${DH_ALGORITHM})` };
  const remedy = "for KWallet install the OpenSSL plug-in of QCA; update any other service";
  return { status: "warning", found: "The service accepts only unencrypted values", remedy };
}

function toProblem(error: unknown): KeyringFinding {
  const failure = toProviderFailure(error);
  if (!(failure instanceof ProviderFailure)) throw failure;
  const [found, remedy] = splitRemedy(failure.message);
  return { status: "problem", found, remedy };
}

async function findByBusName(bus: Bus, owner: string | undefined): Promise<Store | undefined> {
  for (const store of STORES) {
    const owners = await Promise.all(store.busNames.map((name) => ownerOf(bus, name)));
    if (owner !== undefined && owners.includes(owner)) return store;
  }
  return undefined;
}

/** Returns "" if the process is not visible, as from within a container. */
async function commandOf(pid: number): Promise<string> {
  const words = await Bun.file(`/proc/${pid}/cmdline`)
    .text()
    .catch(() => "");
  return words.split("\0", 1)[0]!.split("/").at(-1)!;
}

async function ownerOf(bus: Bus, name: string): Promise<string | undefined> {
  try {
    const [owner] = await callBus(bus, "GetNameOwner", "s", [name]);
    return owner as string;
  } catch (error) {
    if (error instanceof BusFailure && error.native?.endsWith(".NameHasNoOwner")) return undefined;
    throw error;
  }
}

async function readProperty(bus: Bus, path: string, name: string): Promise<unknown> {
  const body = [COLLECTION_INTERFACE, name];
  const call = { destination: SERVICE_NAME, path, interface: PROPERTIES_INTERFACE, member: "Get" };
  const [variant] = await bus.call({ ...call, signature: "ss", body }, TIMEOUT);
  return checkProperty(name, variant);
}

function callBus(bus: Bus, member: string, signature: string, body: unknown[]): Promise<unknown[]> {
  const call = { destination: BUS_NAME, path: BUS_PATH, interface: BUS_NAME, member };
  return bus.call({ ...call, signature, body }, TIMEOUT);
}
