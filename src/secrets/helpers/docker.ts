// `docker-credential-rt`, or `rt secrets helper docker`: the protocol of docker-credential-helpers, which podman, buildx,
// skopeo and others speak too.
//
// A login's service is "docker:" and the server as docker writes it, its name the user, its value the password or
// identity token. docker knows one login for a server, so a new one replaces those of other users.
//
// Surprising: docker reads why something failed from standard output, where "credentials not found in native keychain"
// means that there is none, to the letter; every failure exits with 1. For people the failure of a store is on standard
// error as well, with what to do.
import { escapeJson, oneLine } from "../../printable.ts";
import { VERSION } from "../../version.ts";
import { splitRemedy } from "../../../platform/secrets/contract/secret-provider.ts";
import { print, readInput } from "../streams.ts";
import { complain, ArgumentError } from "../command-arguments.ts";
import { requireReader, requireWriter } from "./helper-io.ts";
import { openStore, type HelperStore } from "./helper-store.ts";

const PREFIX = "docker:";
const NOT_FOUND = "credentials not found in native keychain";
const NO_SERVER = "no credentials server URL";
const NO_USER = "no credentials username";

/** What docker compares letter by letter, and nobody needs to be told beside it. */
class Refusal extends Error {
  override readonly name = "Refusal";
}

export async function answerDocker(action: string): Promise<number> {
  try {
    const perform = ACTIONS[action];
    if (!perform) throw new Refusal("Unknown credential action");
    await perform(openStore());
    return 0;
  } catch (error) {
    const { name, code, message, hint } = error as Error & { code?: string; hint?: string };
    if (name === "Refusal") await print(`${message}\n`);
    else {
      if (name !== "WordsError" && !code?.startsWith("ERR_")) throw error;
      const [what, remedy] = name === "SecretsError" ? splitRemedy(message) : [message, hint];
      await print(`${oneLine(what)}\n`);
      complain(what, remedy);
    }
    return 1;
  }
}

const ACTIONS: Readonly<Record<string, (store: HelperStore) => Promise<void>>> = {
  __proto__: null as never,
  get: giveLogin,
  store: storeLogin,
  erase: eraseLogins,
  list: listLogins,
  version: async () => await print(`docker-credential-rt (rt) ${VERSION}\n`),
};

async function giveLogin({ secrets, list }: HelperStore): Promise<void> {
  await requireReader("A password");
  const server = await readServer();
  const users = (await list(PREFIX + server)).map(({ name }) => name);
  if (users.length > 1)
    throw new ArgumentError(
      `There are ${users.length} users for one registry`,
      "log out of it with docker, and in again",
    );
  const user = users[0];
  const secret = user === undefined ? null : await secrets.get(PREFIX + server, user);
  if (secret === null) throw new Refusal(NOT_FOUND);
  await print(`${JSON.stringify({ ServerURL: server, Username: user, Secret: secret })}\n`);
}

async function storeLogin({ secrets, list }: HelperStore): Promise<void> {
  await requireWriter("docker");
  const { ServerURL: server, Username: user, Secret: secret } = readLogin(await readInput());
  if (!server) throw new Refusal(NO_SERVER);
  if (!user) throw new Refusal(NO_USER);
  const service = PREFIX + server;
  await secrets.set(service, user, secret);
  for (const { name } of await list(service)) if (name !== user) await secrets.delete(service, name);
}

/** That there is none is what was asked for. */
async function eraseLogins({ secrets, list }: HelperStore): Promise<void> {
  const service = PREFIX + (await readServer());
  for (const { name } of await list(service)) await secrets.delete(service, name);
}

async function listLogins({ list }: HelperStore): Promise<void> {
  const logins = (await list()).filter(({ service }) => service.startsWith(PREFIX));
  const users = logins.map(({ service, name }) => [service.slice(PREFIX.length), name] as const);
  await print(`${escapeJson(JSON.stringify(Object.fromEntries(users)))}\n`);
}

async function readServer(): Promise<string> {
  await requireWriter("docker");
  const server = (await readInput()).trim();
  if (server === "") throw new Refusal(NO_SERVER);
  return server;
}

interface Login {
  readonly ServerURL: string;
  readonly Username: string;
  readonly Secret: string;
}

/** The input has a password in it, so no message quotes it. Throws WordsError. */
function readLogin(text: string): Login {
  const wrong = new ArgumentError("Standard input is not JSON with ServerURL, Username and Secret");
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw wrong;
  }
  const { ServerURL = "", Username = "", Secret } = (given ?? {}) as Record<string, unknown>;
  if (typeof ServerURL !== "string" || typeof Username !== "string" || typeof Secret !== "string")
    throw wrong;
  return { ServerURL, Username, Secret };
}
