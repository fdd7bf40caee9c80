// Prompts of the Secret Service API: the service shows its dialog to a person.
//
// Non-obvious:
// - One prompt at a time: of twenty concurrent prompts of gnome-keyring, one completed.
// - `Dismiss` is never called: gnome-keyring then fails an assertion and exits. It keeps its dialog open when the connection closes,
//   and the answer counts for the next prompt.
import { originalVariable } from "../../processes/posix/environment.ts";
import { ProviderFailure } from "../contract/secret-provider.ts";
import { type Bus, PERSON_TIMEOUT } from "./dbus/bus.ts";
import { BusFailure } from "./dbus/bus-failure.ts";
import { BUS_NAME, BUS_PATH, NO_OBJECT, PROMPT_INTERFACE, SERVICE_NAME } from "./dbus/dbus-names.ts";

interface OpenPrompt {
  path: string;
  complete(isDismissed: boolean): void;
  abandon(failure: BusFailure): void;
}

export class Prompts {
  readonly #bus: Bus;
  #isWatching = false;
  #shown: OpenPrompt | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(bus: Bus) {
    this.#bus = bus;
    bus.onPromptCompleted = (path, isDismissed) => {
      if (path === this.#shown?.path) this.#shown.complete(isDismissed);
    };
    bus.onServiceGone = () =>
      this.#shown?.abandon(new BusFailure("closed", "The secret service exited while a dialog was open"));
  }

  /**
   * Shows the prompt at `path` after earlier ones, and waits for its end; no effect for the path "/". Rejects with CANCELED if
   * the person declines, LOCKED without a display, TIMEOUT after `timeout` milliseconds (at least two minutes). `begin` is called
   * before the prompt is shown; if it throws, the prompt is not shown.
   */
  show(path: string, timeout: number, begin: () => void): Promise<void> {
    if (path === NO_OBJECT) return Promise.resolve();
    const shown = this.#last.then(() => {
      begin();
      return this.#show(path, Math.max(timeout, PERSON_TIMEOUT));
    });
    this.#last = shown.catch(() => {});
    return shown;
  }

  async #show(path: string, timeout: number): Promise<void> {
    this.#watch();
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    promise.catch(() => {}); // it may reject before Prompt has returned
    this.#shown = { path, complete: resolve, abandon: reject };
    const expire = () =>
      reject(
        new ProviderFailure("TIMEOUT", "The keyring's dialog timed out; unlock the keyring and try again"),
      );
    const timer = setTimeout(expire, timeout);
    timer.unref();
    this.#bus.onClose = () =>
      reject(new BusFailure("closed", "The session bus disconnected while a dialog was open"));
    try {
      await this.#bus.call(
        {
          destination: SERVICE_NAME,
          path,
          interface: PROMPT_INTERFACE,
          member: "Prompt",
          signature: "s",
          body: [""],
        },
        timeout,
      );
      if (await promise) throw dismissal();
    } finally {
      clearTimeout(timer);
      this.#shown = undefined;
    }
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const rule = `type='signal',sender='${SERVICE_NAME}',interface='${PROMPT_INTERFACE}',member='Completed'`;
    const call = { destination: BUS_NAME, path: BUS_PATH, interface: BUS_NAME, member: "AddMatch" };
    this.#bus.call({ ...call, signature: "s", body: [rule] }).catch(() => {}); // the prompt then times out
  }
}

/** Without a display the service dismisses its own prompt at once. */
function dismissal(): ProviderFailure {
  if (originalVariable("DISPLAY") || originalVariable("WAYLAND_DISPLAY"))
    return new ProviderFailure("CANCELED", "The keyring's dialog was dismissed; confirm it to continue");
  return new ProviderFailure(
    "LOCKED",
    "The keyring needs a password or a confirmation, and its dialog has no display; unlock it from a desktop session, or run gnome-keyring-daemon --replace --unlock with its password on standard input",
  );
}
