// A fake secret service with faults on a private bus. It reproduces what real services do rarely: dialogs without an answer,
// items that disappear, calls without a reply.
//
// It keeps items in memory, has only `plain` sessions and one collection. `silent` names methods without replies, `held` those
// with replies after `release`. `failures` has errors for one call each, `replies` wrong replies, and `prompts` the result of
// dialogs.
import { type MessageBus, Message, sessionBus, Variant } from "dbus-next";
import { SECRETS_NAME } from "./keyring.ts";

const COLLECTION = "/org/freedesktop/secrets/collection/fake";
const PROMPT = "org.freedesktop.Secret.Prompt";

type Secret = [string, Uint8Array, Uint8Array, string];

export interface FakeItem {
  attributes: Record<string, string>;
  value: string;
  isLocked: boolean;
  modified: bigint;
}

export class FakeSecretService implements AsyncDisposable {
  readonly items = new Map<string, FakeItem>();
  readonly silent = new Set<string>();
  readonly held = new Set<string>();
  /** Signature and body of the reply, by method, or by "Get" and the name of a property. */
  readonly replies = new Map<string, [string, unknown[]]>();
  /** The unique name of the last caller. */
  caller = "";
  /** The path of the last prompt. */
  lastPrompt = "";
  /** The text of error replies. */
  errorText = "as the test wanted";
  /** Error names to reply with, by method, each once. */
  readonly failures = new Map<string, string[]>();
  prompts: "complete" | "dismiss" | "ignore" = "complete";
  /** All called methods, in order. */
  readonly calls: string[] = [];
  /** The largest number of dialogs that were open at one time. */
  maxOpenPrompts = 0;
  needsPrompt = false;
  /** Whether a locked item has an empty value, as in KWallet. */
  hidesLocks = false;
  readonly #bus: MessageBus;
  readonly #open = new Map<string, () => void>();
  readonly #heldMessages: Message[] = [];
  #serial = 0;
  #isOver = false;
  #listeners: { member: string; resolve: () => void }[] = [];

  private constructor(bus: MessageBus) {
    this.#bus = bus;
    bus.on("error", () => {});
    bus.addMethodHandler((message: Message) => {
      if (
        message.destination !== SECRETS_NAME &&
        message.destination !== (bus as unknown as { name: string }).name
      )
        return false;
      if (!this.#isOver) this.#answer(message);
      return true;
    });
  }

  static async start(address: string): Promise<FakeSecretService> {
    const bus = sessionBus({
      busAddress: address.replace("unix:path=", "unix:socket=").replace(/,guid=.*/, ""),
    });
    const service = new FakeSecretService(bus);
    await bus.requestName(SECRETS_NAME, 0);
    return service;
  }

  addItem(service: string, account: string, value: string, extra: Partial<FakeItem> = {}): string {
    const path = `${COLLECTION}/${++this.#serial}`;
    this.items.set(path, {
      attributes: { service, account },
      value,
      isLocked: false,
      modified: 1n,
      ...extra,
    });
    return path;
  }

  /** Resolves at the next call of `member`. */
  called(member: string): Promise<void> {
    return new Promise((resolve) => this.#listeners.push({ member, resolve }));
  }

  /** Sends the signal that a prompt has ended; the prompt need not exist. */
  announce(path: string, isDismissed: boolean): void {
    this.#bus.send(Message.newSignal(path, PROMPT, "Completed", "bv", [isDismissed, new Variant("s", "")]));
  }

  /** Answers all open dialogs as a user would. */
  completePrompts(isDismissed = false): void {
    for (const [path, accept] of this.#open) this.#complete(path, accept, isDismissed);
  }

  /** Replies to all held calls, and holds no further ones. */
  release(): void {
    this.held.clear();
    for (const message of this.#heldMessages.splice(0)) this.#reply(message);
  }

  count(member: string): number {
    return this.calls.filter((call) => call === member).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#bus.disconnect();
  }

  #answer(message: Message): void {
    const { member } = message;
    this.calls.push(member);
    this.caller = message.sender ?? "";
    const matching = this.#listeners.filter((listener) => listener.member === member);
    this.#listeners = this.#listeners.filter((listener) => listener.member !== member);
    for (const { resolve } of matching) resolve();
    if (this.silent.has(member)) return;
    if (this.held.has(member)) return void this.#heldMessages.push(message);
    this.#reply(message);
  }

  #reply(message: Message): void {
    const { member } = message;
    const failure = this.failures.get(member)?.shift();
    if (failure) return this.#bus.send(Message.newError(message as never, failure, this.errorText));
    try {
      const isGet = member === "Get" || member === "GetAll";
      const key = isGet ? `${member} ${message.body.at(-1)}` : member;
      const [signature, body] = this.replies.get(key) ?? this.#perform(message, member);
      this.#bus.send(Message.newMethodReturn(message, signature, body));
    } catch (error) {
      this.#bus.send(Message.newError(message as never, (error as Error).message, "from the fake service"));
    }
  }

  #perform(message: Message, member: string): [string, unknown[]] {
    const { body } = message;
    const path = message.path ?? "";
    switch (member) {
      case "ReadAlias":
        return ["o", [COLLECTION]];
      case "OpenSession":
        if (body[0] !== "plain") throw new Error("org.freedesktop.DBus.Error.NotSupported");
        return ["vo", [new Variant("s", ""), "/org/freedesktop/secrets/session/fake"]];
      case "SearchItems": {
        const query = Object.entries(body[0] as Record<string, string>);
        const found = [...this.items].filter(([, { attributes }]) =>
          query.every(([key, value]) => attributes[key] === value),
        );
        const paths = (isLocked: boolean) =>
          found.filter(([, item]) => item.isLocked === isLocked).map(([path]) => path);
        return ["aoao", [paths(false), paths(true)]];
      }
      case "Get":
        if (body[1] === "Label") return ["v", [new Variant("s", "Fake")]];
        return ["v", [new Variant("b", this.items.get(path)?.isLocked ?? false)]];
      case "GetAll": {
        const { attributes, modified } = this.#item(path);
        return [
          "a{sv}",
          [{ Attributes: new Variant("a{ss}", attributes), Modified: new Variant("t", modified) }],
        ];
      }
      case "GetSecret": {
        const item = this.hidesLocks ? this.#item(path) : this.#openItem(path);
        const value = Buffer.from(item.isLocked ? "" : item.value);
        return ["(oayays)", [[body[0] as string, Buffer.alloc(0), value, "text/plain"]]];
      }
      case "GetSecrets": {
        const [paths, session] = body as [string[], string];
        const found = paths.filter((path) => this.items.get(path)?.isLocked === false);
        const secrets = found.map((path) => {
          const value = Buffer.from(this.#item(path).value);
          return [path, [session, Buffer.alloc(0), value, "text/plain"]];
        });
        return ["a{o(oayays)}", [Object.fromEntries(secrets)]];
      }
      case "SetSecret":
        this.#openItem(path).value = Buffer.from((body[0] as Secret)[2]).toString();
        return ["", []];
      case "CreateItem": {
        const properties = body[0] as Record<string, Variant>;
        const attributes = properties["org.freedesktop.Secret.Item.Attributes"]!.value as Record<
          string,
          string
        >;
        const value = Buffer.from((body[1] as Secret)[2]).toString();
        const create = () =>
          void this.items.set(`${COLLECTION}/${++this.#serial}`, {
            attributes,
            value,
            isLocked: false,
            modified: 1n,
          });
        if (this.needsPrompt) return ["oo", ["/", this.#newPrompt(create)]];
        create();
        return ["oo", [`${COLLECTION}/${this.#serial}`, "/"]];
      }
      case "Delete": {
        this.#openItem(path);
        if (this.needsPrompt) return ["o", [this.#newPrompt(() => void this.items.delete(path))]];
        this.items.delete(path);
        return ["o", ["/"]];
      }
      case "Unlock": {
        const unlock = () => {
          for (const path of body[0] as string[]) this.#item(path).isLocked = false;
        };
        return ["aoo", [[], this.#newPrompt(unlock)]];
      }
      case "Prompt": {
        const accept = this.#waiting.get(path);
        if (!accept) throw new Error("org.freedesktop.DBus.Error.UnknownObject");
        this.#waiting.delete(path);
        this.#open.set(path, accept);
        this.maxOpenPrompts = Math.max(this.maxOpenPrompts, this.#open.size);
        if (this.prompts !== "ignore")
          queueMicrotask(() => this.#complete(path, accept, this.prompts === "dismiss"));
        return ["", []];
      }
      default:
        throw new Error("org.freedesktop.DBus.Error.UnknownMethod");
    }
  }

  readonly #waiting = new Map<string, () => void>();

  #newPrompt(accept: () => void): string {
    const path = `/org/freedesktop/secrets/prompt/p${++this.#serial}`;
    this.#waiting.set(path, accept);
    this.lastPrompt = path;
    return path;
  }

  #complete(path: string, accept: () => void, isDismissed: boolean): void {
    this.#open.delete(path);
    if (!isDismissed) accept();
    this.announce(path, isDismissed);
  }

  #item(path: string): FakeItem {
    const item = this.items.get(path);
    if (!item) throw new Error("org.freedesktop.DBus.Error.UnknownObject");
    return item;
  }

  #openItem(path: string): FakeItem {
    const item = this.#item(path);
    if (item.isLocked) throw new Error("org.freedesktop.Secret.Error.IsLocked");
    return item;
  }
}
