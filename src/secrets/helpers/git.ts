// `rt secrets helper git`: git's credential protocol (gitcredentials(7), git-credential(1)).
//
// A credential's service is "git:" and the address as git knows it ("git:https://example.com:8080", with the path where
// git gives one), its name the user. The value is the password; what else git wants kept follows in lines of their
// own ("password_expiry_utc=..."), as git's libsecret helper writes it.
//
// Decisions:
// - Where several users are stored for an address and git names none, none is guessed: git asks, and a line says why.
// - What git rejects is removed only if it is what is stored: another program may have stored a new password meanwhile.
// - An expired password is not handed out. git 2.40 and newer would drop it; older ones would try it.
// - git repeats `store` after each use, so what is stored already is not written again.
// - A credential without a user (a certificate's, or a token of `authtype`) has the name "*".
// - An action that this does not know is passed over without a word, as gitcredentials(7) demands.
import { printable } from "../../printable.ts";
import { print, readInput } from "../streams.ts";
import { complain, ArgumentError } from "../command-arguments.ts";
import { requireReader, requireWriter } from "./helper-io.ts";
import { openStore, type HelperStore } from "./helper-store.ts";

type Attributes = ReadonlyMap<string, string>;

const NOBODY = "*";
/** What is kept after the password, in this order. */
const KEPT = ["password_expiry_utc", "oauth_refresh_token", "authtype", "credential"] as const;
const USED = ["protocol", "host", "path", "username", "password", "ephemeral", ...KEPT];
const CAPABLE = "capability[]";

export async function answerGit(action: string): Promise<number> {
  const perform = ACTIONS[action];
  if (!perform) return 0;
  await requireWriter("git");
  if (action === "get") await requireReader("A password");
  return await perform(openStore(), readAttributes(await readInput(endsInBlankLine)));
}

const ACTIONS: Readonly<Record<string, (store: HelperStore, asked: Attributes) => Promise<number>>> = {
  __proto__: null as never,
  get: giveCredential,
  store: storeCredential,
  erase: eraseCredential,
};

function endsInBlankLine(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return text.includes("\n\n") || text.includes("\n\r\n") || text[0] === 0x0a;
}

/** Throws WordsError for what git itself would refuse; no message has more than a key of this file. */
export function readAttributes(text: string): Attributes {
  const attributes = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    const [, key, value] = /^([^=]+)=([^]*?)\r?$/.exec(line) ?? [];
    if (line === "" || line === "\r") break;
    if (key === undefined || value === undefined)
      throw new ArgumentError(`Line ${index + 1} of standard input is not of the form key=value`);
    if (key === CAPABLE && value === "authtype") attributes.set(CAPABLE, value);
    if (!USED.includes(key)) continue;
    requireCarriable(key, value);
    attributes.set(key, value);
  }
  return attributes;
}

/** A line break would begin another attribute, such as a host; git takes NUL for the end. Throws WordsError. */
function requireCarriable(what: string, value: string): void {
  if (/[\0\r\n]/.test(value))
    throw new ArgumentError(`${what} has a line break or a NUL character, which git's protocol cannot carry`);
}

/** Throws WordsError for what is not one address. */
function serviceOf(asked: Attributes): string {
  const [protocol, host, path] = ["protocol", "host", "path"].map((key) => asked.get(key) ?? "");
  if (!/^[a-z][a-z0-9+.-]*$/i.test(protocol!)) throw new ArgumentError("git names no protocol");
  if (host === "" && path === "") throw new ArgumentError("git names neither a host nor a path");
  // "a/b" would be the host a and the path b.
  if (/[/\\?#@\s]/.test(host!)) throw new ArgumentError("git names a host that cannot be one");
  return `git:${protocol}://${host}${path === "" ? "" : `/${path}`}`;
}

/** Undefined where git has to name one. */
async function findUser(
  { list }: HelperStore,
  service: string,
  asked: Attributes,
): Promise<string | undefined> {
  const user = asked.get("username");
  if (user !== undefined) return user === "" ? NOBODY : user;
  const users = (await list(service)).map(({ name }) => name);
  if (users.length < 2) return users[0];
  const address = service.slice("git:".length);
  complain(
    `There are ${users.length} users for ${printable(address)}: ${users.map(printable).join(", ")}`,
    `set credential.${printable(address)}.username to one of them, with git config`,
  );
  return undefined;
}

async function giveCredential(store: HelperStore, asked: Attributes): Promise<number> {
  const service = serviceOf(asked);
  const user = await findUser(store, service, asked);
  const value = user === undefined ? null : await store.secrets.get(service, user);
  if (user === undefined || value === null) return 0;
  const stored = readValue(value);
  requireCarriable("The user's name", user);
  const isExpired = Number(stored.get("password_expiry_utc") ?? Infinity) * 1000 <= Date.now();
  if (isExpired && !stored.has("oauth_refresh_token")) return 0;
  const isToken = stored.has("authtype");
  if (isToken && !asked.has(CAPABLE)) return 0;
  const given = isToken
    ? [[CAPABLE, "authtype"], ...pick(stored, isExpired ? [] : ["authtype", "credential"])]
    : pick(stored, isExpired ? [] : ["password"]);
  const rest = pick(stored, ["password_expiry_utc", "oauth_refresh_token"]);
  const lines = [...given, ...(user === NOBODY ? [] : [["username", user]]), ...rest];
  await print(lines.map(([key, each]) => `${key}=${each}\n`).join(""));
  return 0;
}

async function storeCredential({ secrets }: HelperStore, asked: Attributes): Promise<number> {
  if (asked.get("ephemeral") === "1") return 0;
  const isToken = asked.has("authtype") && asked.has("credential");
  if (!isToken && !asked.has("password")) throw new ArgumentError("git names no password to store");
  const service = serviceOf(asked);
  const user = asked.get("username") || NOBODY;
  const value = [asked.get("password") ?? "", ...pick(asked, KEPT).map(([key, each]) => `${key}=${each}`)];
  const text = value.join("\n");
  if ((await secrets.get(service, user)) !== text) await secrets.set(service, user, text);
  return 0;
}

async function eraseCredential(store: HelperStore, asked: Attributes): Promise<number> {
  const service = serviceOf(asked);
  const user = asked.get("username");
  const users = user === undefined ? (await store.list(service)).map(({ name }) => name) : [user || NOBODY];
  for (const each of users) {
    if (asked.has("password") || asked.has("credential")) {
      const value = await store.secrets.get(service, each);
      const stored = value === null ? undefined : readValue(value);
      if (!stored || pick(asked, ["password", "credential"]).some(([key, old]) => stored.get(key) !== old))
        continue;
    }
    await store.secrets.delete(service, each);
  }
  return 0;
}

/** Throws WordsError for what somebody else has stored and git cannot be given. */
function readValue(value: string): Attributes {
  const [password, ...lines] = value.split("\n");
  requireCarriable("The stored password", password!);
  const stored = new Map([["password", password!]]);
  for (const line of lines) {
    const key = KEPT.find((each) => line.startsWith(`${each}=`));
    if (!key) requireCarriable("The stored password", value);
    const kept = line.slice(key!.length + 1);
    requireCarriable(`The stored ${key}`, kept);
    stored.set(key!, kept);
  }
  return stored;
}

function pick(from: Attributes, keys: readonly string[]): (readonly [string, string])[] {
  return keys.flatMap((key) => (from.has(key) ? [[key, from.get(key)!] as const] : []));
}
