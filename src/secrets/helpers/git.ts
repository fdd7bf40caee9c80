// Runs `rt secrets helper git`: git's credential protocol (gitcredentials(7), git-credential(1)). The form is that of git's
// libsecret helper. Service: "git:" and the address ("git:https://example.com:8080"). Name: the user. Value: the password, then
// one line for each other attribute ("password_expiry_utc=...").
//
// Non-obvious:
// - If several users are stored and git names none, no user is chosen. A line on standard error reports it, and git prompts.
// - `erase` deletes only the value that git rejected: another process may have stored a new password since.
// - An expired password is not returned. git before 2.40 would try it.
// - `store` skips a value that is stored already, because git repeats `store` after each use.
// - A credential without a user (a certificate's, or a token of `authtype`) has the name "*". Unknown actions are ignored.
import { printable } from "../../printable.ts";
import { print, readInput } from "../streams.ts";
import { reportProblem, ArgumentError } from "../command-arguments.ts";
import { requireReader, requireWriter } from "./helper-io.ts";
import { openStore, type HelperStore } from "./helper-store.ts";

type Attributes = ReadonlyMap<string, string>;

const WITHOUT_USER = "*";
/** Attributes that are stored after the password, in this order. */
const STORED_KEYS = ["password_expiry_utc", "oauth_refresh_token", "authtype", "credential"] as const;
const KNOWN_KEYS = ["protocol", "host", "path", "username", "password", "ephemeral", ...STORED_KEYS];
const CAPABILITY = "capability[]";

export async function runGitHelper(action: string): Promise<number> {
  const perform = ACTIONS[action];
  if (!perform) return 0;
  await requireWriter("git");
  if (action === "get") await requireReader("A password");
  return await perform(openStore(), readAttributes(await readInput(endsInBlankLine)));
}

const ACTIONS: Readonly<Record<string, (store: HelperStore, request: Attributes) => Promise<number>>> = {
  __proto__: null as never,
  get: printCredential,
  store: storeCredential,
  erase: eraseCredential,
};

function endsInBlankLine(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return text.includes("\n\n") || text.includes("\n\r\n") || text[0] === 0x0a;
}

/** Parses git's request. @throws ArgumentError for input that git rejects too; the message contains no value */
function readAttributes(text: string): Attributes {
  const attributes = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    const [, key, value] = /^([^=]+)=([^]*?)\r?$/.exec(line) ?? [];
    if (line === "" || line === "\r") break;
    if (key === undefined || value === undefined)
      throw new ArgumentError(`Line ${index + 1} of standard input is not of the form key=value`);
    if (key === CAPABILITY && value === "authtype") attributes.set(CAPABILITY, value);
    if (!KNOWN_KEYS.includes(key)) continue;
    requireSafe(key, value);
    attributes.set(key, value);
  }
  return attributes;
}

/** Rejects a line break, which would inject another attribute such as a host, and NUL. @throws ArgumentError */
function requireSafe(what: string, value: string): void {
  if (/[\0\r\n]/.test(value))
    throw new ArgumentError(`${what} has a line break or a NUL character, which git's protocol cannot carry`);
}

/** @throws ArgumentError if the attributes are not one address */
function serviceOf(request: Attributes): string {
  const [protocol, host, path] = ["protocol", "host", "path"].map((key) => request.get(key) ?? "");
  if (!/^[a-z][a-z0-9+.-]*$/i.test(protocol!)) throw new ArgumentError("git sent no protocol");
  if (host === "" && path === "") throw new ArgumentError("git sent neither a host nor a path");
  // The host "a/b" would collide with the host "a" and the path "b".
  if (/[/\\?#@\s]/.test(host!)) throw new ArgumentError("git sent an invalid host");
  return `git:${protocol}://${host}${path === "" ? "" : `/${path}`}`;
}

/** Returns the user that git names, or the only stored one; undefined if there is none or if there are several. */
async function findUser(
  { list }: HelperStore,
  service: string,
  request: Attributes,
): Promise<string | undefined> {
  const user = request.get("username");
  if (user !== undefined) return user === "" ? WITHOUT_USER : user;
  const users = (await list(service)).map(({ name }) => name);
  if (users.length < 2) return users[0];
  const address = service.slice("git:".length);
  reportProblem(
    `${users.length} users are stored for ${printable(address)}: ${users.map(printable).join(", ")}`,
    `set credential.${printable(address)}.username to one of them, with git config`,
  );
  return undefined;
}

async function printCredential(store: HelperStore, request: Attributes): Promise<number> {
  const service = serviceOf(request);
  const user = await findUser(store, service, request);
  const value = user === undefined ? null : await store.secrets.get(service, user);
  if (user === undefined || value === null) return 0;
  const stored = readValue(value);
  requireSafe("The user's name", user);
  const isExpired = Number(stored.get("password_expiry_utc") ?? Infinity) * 1000 <= Date.now();
  if (isExpired && !stored.has("oauth_refresh_token")) return 0;
  const isToken = stored.has("authtype");
  if (isToken && !request.has(CAPABILITY)) return 0;
  const given = isToken
    ? [[CAPABILITY, "authtype"], ...pick(stored, isExpired ? [] : ["authtype", "credential"])]
    : pick(stored, isExpired ? [] : ["password"]);
  const rest = pick(stored, ["password_expiry_utc", "oauth_refresh_token"]);
  const lines = [...given, ...(user === WITHOUT_USER ? [] : [["username", user]]), ...rest];
  await print(lines.map(([key, each]) => `${key}=${each}\n`).join(""));
  return 0;
}

async function storeCredential({ secrets }: HelperStore, request: Attributes): Promise<number> {
  if (request.get("ephemeral") === "1") return 0;
  const isToken = request.has("authtype") && request.has("credential");
  if (!isToken && !request.has("password")) throw new ArgumentError("git sent no password to store");
  const service = serviceOf(request);
  const user = request.get("username") || WITHOUT_USER;
  const value = [
    request.get("password") ?? "",
    ...pick(request, STORED_KEYS).map(([key, each]) => `${key}=${each}`),
  ];
  const text = value.join("\n");
  if ((await secrets.get(service, user)) !== text) await secrets.set(service, user, text);
  return 0;
}

async function eraseCredential(store: HelperStore, request: Attributes): Promise<number> {
  const service = serviceOf(request);
  const user = request.get("username");
  const users =
    user === undefined ? (await store.list(service)).map(({ name }) => name) : [user || WITHOUT_USER];
  for (const each of users) {
    if (request.has("password") || request.has("credential")) {
      const value = await store.secrets.get(service, each);
      const stored = value === null ? undefined : readValue(value);
      if (!stored || pick(request, ["password", "credential"]).some(([key, old]) => stored.get(key) !== old))
        continue;
    }
    await store.secrets.delete(service, each);
  }
  return 0;
}

/** Parses a stored value. @throws ArgumentError if another program stored a value that the protocol cannot carry */
function readValue(value: string): Attributes {
  const [password, ...lines] = value.split("\n");
  requireSafe("The stored password", password!);
  const stored = new Map([["password", password!]]);
  for (const line of lines) {
    const key = STORED_KEYS.find((each) => line.startsWith(`${each}=`));
    if (!key) requireSafe("The stored password", value);
    const storedText = line.slice(key!.length + 1);
    requireSafe(`The stored ${key}`, storedText);
    stored.set(key!, storedText);
  }
  return stored;
}

function pick(from: Attributes, keys: readonly string[]): (readonly [string, string])[] {
  return keys.flatMap((key) => (from.has(key) ? [[key, from.get(key)!] as const] : []));
}
