// A private desktop session for one test: a message bus, a secret service, HOME and XDG_RUNTIME_DIR.
//
//   await using keyring = await startKeyring();                     // GNOME Keyring, unlocked
//   await using keyring = await startKeyring({ service: "none" });  // a bus without a service
//   await runRt({ args: ["script.ts"], env: keyring.env });
//
// Disposing the keyring kills and removes everything. The bus also exits with the test's process, and the services with the bus.
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resultOf } from "../output.ts";
import { setVariables } from "../own-environment.ts";
import { waitUntil } from "../processes.ts";
import { type MessageBus, Message, sessionBus, Variant } from "dbus-next";

export const SECRETS_NAME = "org.freedesktop.secrets";
export const SECRETS_PATH = "/org/freedesktop/secrets";
/** The password of the default collection, for dialogs. */
export const KEYRING_PASSWORD = "the-keyring's-password";

export interface KeyringOptions {
  /** With "activatable" the bus starts GNOME Keyring at the first call. */
  service?: "gnome-keyring" | "activatable" | "none";
  /** Whether the default collection exists and is unlocked; a daemon that was never unlocked has no collection. */
  isUnlocked?: boolean;
  /** Socket of the bus; by default a path in the session's directory. */
  listen?: string;
  /** An X display for dialogs (display.ts); the bus can then start the programs that show them. */
  display?: string;
  /** Whether programs may own rt's names on the bus. */
  ownsNames?: boolean;
}

export interface Keyring extends AsyncDisposable {
  readonly home: string;
  readonly address: string;
  /** The environment of programs in this session. */
  readonly env: Record<string, string>;
  /** Makes this process part of the session until the keyring is disposed. */
  enter(): void;
  /** Calls the secret service from another connection. */
  call(path: string, on: string, member: string, signature?: string, body?: unknown[]): Promise<unknown[]>;
  lock(): Promise<void>;
  /** Counts the bus's connections or match rules, including the connection that counts. */
  countOnBus(what: "ActiveConnections" | "MatchRules"): Promise<number>;
  /** Starts GNOME Keyring; without `isUnlocked` its collections are locked. */
  startService(options?: { isUnlocked?: boolean }): Promise<void>;
  /** Whether a service runs and has a default collection that is not locked. */
  isOpen(): Promise<boolean>;
  /** Starts a program and waits until it owns the name of the secret service. */
  start(command: readonly string[], environment?: Record<string, string>, stdin?: string): Promise<void>;
  killService(): Promise<void>;
  killBus(): Promise<void>;
  /** Runs a program in the session and returns its output without the last line break. */
  run(command: readonly string[], stdin?: string): Promise<string>;
}

export async function startKeyring({
  service = "gnome-keyring",
  isUnlocked = true,
  listen,
  display,
  ownsNames = true,
}: KeyringOptions = {}): Promise<Keyring> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "rt-keyring-")));
  const home = join(directory, "home");
  const runtime = join(directory, "run");
  for (const path of [home, runtime]) await mkdir(path, { mode: 0o700 });
  const config = join(directory, "bus.conf");
  await writeFile(
    config,
    busConfig(
      listen ?? `unix:path=${join(runtime, "bus")}`,
      service === "activatable" || display !== undefined,
      ownsNames,
    ),
  );
  const base = {
    PATH: process.env.PATH!,
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    LANG: "C.UTF-8",
    ...(display !== undefined && { DISPLAY: display }),
  };

  const busProcess = Bun.spawn(
    [
      "setpriv",
      "--pdeathsig",
      "KILL",
      "dbus-daemon",
      "--nofork",
      "--print-address=1",
      `--config-file=${config}`,
    ],
    {
      env: base,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    },
  );
  const address = await firstLine(busProcess.stdout);
  const log = join(directory, "service.log");
  const env = { ...base, DBUS_SESSION_BUS_ADDRESS: address, NO_COLOR: "1" };
  let client: MessageBus | undefined;
  let serviceProcess: Bun.Subprocess | undefined;
  /** Whether the test itself stopped the service. */
  let isStopped = false;
  let restore: Record<string, string | undefined> | undefined;

  async function connect(): Promise<MessageBus> {
    if (client) return client;
    // dbus-next supports neither escapes nor, without a native package, abstract sockets.
    const socket = decodeURIComponent(address).replace(/,guid=.*/, "");
    client = sessionBus({
      busAddress: socket.replace("unix:path=", "unix:socket=").replace("unix:abstract=", "unix:socket=\0"),
    });
    client.on("error", () => {}); // the test may kill the bus
    await new Promise<void>((resolve) => client!.once("connect", resolve));
    return client;
  }

  const keyring: Keyring = {
    home,
    address,
    env,
    enter() {
      const { PATH } = process.env;
      const before = setVariables({ DISPLAY: undefined, WAYLAND_DISPLAY: undefined, ...env, PATH });
      restore ??= before;
    },
    async call(path, on, member, signature = "", body = []) {
      const bus = await connect();
      const reply = await bus.call(
        new Message({ destination: SECRETS_NAME, path, interface: on, member, signature, body }),
      );
      return reply!.body;
    },
    async countOnBus(what) {
      const [path, on] = ["/org/freedesktop/DBus", "org.freedesktop.DBus"];
      const command = ["dbus-send", "--session", "--print-reply", `--dest=${on}`, path];
      const statistics = await keyring.run([...command, `${on}.Debug.Stats.GetStats`]);
      return Number(new RegExp(`"${what}"\\s+variant\\s+uint32 (\\d+)`).exec(statistics)![1]);
    },
    async isOpen() {
      const [path] = await keyring
        .call(SECRETS_PATH, "org.freedesktop.Secret.Service", "ReadAlias", "s", ["default"])
        .catch(() => ["/"]);
      if (path === "/") return false;
      const property = ["org.freedesktop.Secret.Collection", "Locked"];
      const [isLocked] = await keyring.call(
        path as string,
        "org.freedesktop.DBus.Properties",
        "Get",
        "ss",
        property,
      );
      return !(isLocked as { value: boolean }).value;
    },
    async lock() {
      const [path] = await keyring.call(SECRETS_PATH, "org.freedesktop.Secret.Service", "ReadAlias", "s", [
        "default",
      ]);
      await keyring.call(SECRETS_PATH, "org.freedesktop.Secret.Service", "Lock", "ao", [[path]]);
    },
    async startService({ isUnlocked = true } = {}) {
      const daemon = ["gnome-keyring-daemon", "--foreground", "--components=secrets"];
      if (!isUnlocked) return await keyring.start(daemon);
      await keyring.start([...daemon, "--unlock"], {}, KEYRING_PASSWORD);
      // The daemon owns its name on the bus before it has read the password.
      await waitUntil(() => keyring.isOpen());
    },
    async start(command, environment = {}, stdin) {
      const bus = await connect();
      const owned = nameOwned(bus);
      serviceProcess = Bun.spawn([...command], {
        env: { ...env, ...environment },
        cwd: home,
        stdin: stdin === undefined ? "ignore" : new TextEncoder().encode(stdin),
        stdout: "ignore",
        stderr: Bun.file(log),
      });
      isStopped = false;
      const started = serviceProcess;
      const ended = started.exited.then(async () => {
        if (isStopped) return;
        // The service's exit explains any later failure.
        const how = started.signalCode ?? `exit code ${started.exitCode}`;
        const words = await readFile(log, "utf8").catch(() => "");
        if (started.exitCode !== 0)
          console.error(`${command[0]} ended by itself (${how}): ${words.trim().slice(-2000)}`);
        throw new Error(`${command[0]} ended by itself`);
      });
      ended.catch(() => {});
      await Promise.race([owned, ended]);
    },
    async killService() {
      isStopped = true;
      serviceProcess?.kill("SIGKILL");
      await serviceProcess?.exited;
    },
    async killBus() {
      isStopped = true; // the service ends with the bus
      busProcess.kill("SIGKILL");
      await busProcess.exited;
    },
    async run(command, stdin) {
      const child = Bun.spawn([...command], {
        env,
        cwd: home,
        stdin: stdin === undefined ? "ignore" : new TextEncoder().encode(stdin),
        stdout: "pipe",
        stderr: "pipe",
      });
      const { stdout } = await resultOf(child);
      return stdout.replace(/\n$/, "");
    },
    async [Symbol.asyncDispose]() {
      setVariables(restore ?? {});
      client?.disconnect();
      isStopped = true;
      serviceProcess?.kill("SIGKILL");
      busProcess.kill("SIGKILL");
      await Promise.all([serviceProcess?.exited, busProcess.exited]);
      await killRemaining(runtime);
      await rm(directory, { recursive: true, force: true });
    },
  };
  try {
    if (service === "gnome-keyring") await keyring.startService({ isUnlocked });
  } catch (error) {
    await keyring[Symbol.asyncDispose]();
    throw error;
  }
  return keyring;
}

function busConfig(listen: string, canActivate: boolean, ownsNames: boolean): string {
  return `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>${listen}</listen>
  <auth>EXTERNAL</auth>
  ${canActivate ? "<standard_session_servicedirs/>" : ""}
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
    ${ownsNames ? "" : '<deny own_prefix="dev.rt"/>'}
  </policy>
</busconfig>
`;
}

async function nameOwned(bus: MessageBus): Promise<void> {
  const call = (member: string, body: string[]) =>
    bus.call(
      new Message({
        destination: "org.freedesktop.DBus",
        path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus",
        member,
        signature: "s",
        body,
      }),
    );
  const { promise, resolve } = Promise.withResolvers<void>();
  const listen = (message: Message) => {
    if (message.member === "NameOwnerChanged" && message.body[0] === SECRETS_NAME && message.body[2] !== "")
      resolve();
  };
  bus.on("message", listen);
  await call("AddMatch", [`type='signal',member='NameOwnerChanged',arg0='${SECRETS_NAME}'`]);
  await promise;
  bus.off("message", listen);
}

/** Resolves with the first line of a program's output. */
export async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const end = text.indexOf("\n");
    if (end >= 0) return text.slice(0, end);
  }
  throw new Error("A program of the test ended before it printed a line");
}

/** Kills services that the bus has started, and their helpers; only their environment identifies them. */
async function killRemaining(runtime: string): Promise<void> {
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    if (!environment.includes(`XDG_RUNTIME_DIR=${runtime}\0`)) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // it has already exited
    }
  }
}

export { Variant };
