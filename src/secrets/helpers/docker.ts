// Runs `docker-credential-rt`, alias `rt secrets helper docker`: the docker-credential-helpers protocol, which podman, buildx
// and skopeo use too. Service: "docker:" and the server as docker writes it, name: the user, value: password or identity token.
//
// Invariants:
// - A server has one login: a new one replaces those of other users.
//
// Non-obvious:
// - docker reads the error from standard output and compares "credentials not found in native keychain" literally. Every
//   failure exits with 1.
// - A store failure is also printed on standard error, with a hint for the user.
import { escapeJson, oneLine } from "../../printable.ts";
import { VERSION } from "../../version.ts";
import { splitRemedy } from "../../../platform/secrets/contract/secret-provider.ts";
import { print, readInput } from "../streams.ts";
import { reportProblem, ArgumentError } from "../command-arguments.ts";
import { requireReader, requireWriter } from "./helper-io.ts";
import { openStore, type HelperStore } from "./helper-store.ts";

const PREFIX = "docker:";
const NOT_FOUND = "credentials not found in native keychain";
const NO_SERVER = "no credentials server URL";
const NO_USER = "no credentials username";

/** An error of the protocol, whose text docker compares literally. It is not repeated on standard error. */
class DockerProtocolError extends Error {
  override readonly name = "DockerProtocolError";
}

export async function runDockerHelper(action: string): Promise<number> {
  try {
    const perform = ACTIONS[action];
    if (!perform) throw new DockerProtocolError("Unknown credential action");
    await perform(openStore());
    return 0;
  } catch (error) {
    const { name, code, message, hint } = error as Error & { code?: string; hint?: string };
    if (name === "DockerProtocolError") await print(`${message}\n`);
    else {
      if (name !== "ArgumentError" && !code?.startsWith("ERR_")) throw error;
      const [what, remedy] = name === "SecretsError" ? splitRemedy(message) : [message, hint];
      await print(`${oneLine(what)}\n`);
      reportProblem(what, remedy);
    }
    return 1;
  }
}

const ACTIONS: Readonly<Record<string, (store: HelperStore) => Promise<void>>> = {
  __proto__: null as never,
  get: printLogin,
  store: storeLogin,
  erase: eraseLogins,
  list: listLogins,
  version: async () => await print(`docker-credential-rt (rt) ${VERSION}\n`),
};

async function printLogin({ secrets, list }: HelperStore): Promise<void> {
  await requireReader("A password");
  const server = await readServer();
  const users = (await list(PREFIX + server)).map(({ name }) => name);
  if (users.length > 1)
    throw new ArgumentError(
      `${users.length} users are stored for one registry`,
      "log out of it with docker, and in again",
    );
  const user = users[0];
  const secret = user === undefined ? null : await secrets.get(PREFIX + server, user);
  if (secret === null) throw new DockerProtocolError(NOT_FOUND);
  await print(`${JSON.stringify({ ServerURL: server, Username: user, Secret: secret })}\n`);
}

async function storeLogin({ secrets, list }: HelperStore): Promise<void> {
  await requireWriter("docker");
  const { ServerURL: server, Username: user, Secret: secret } = readLogin(await readInput());
  if (!server) throw new DockerProtocolError(NO_SERVER);
  if (!user) throw new DockerProtocolError(NO_USER);
  const service = PREFIX + server;
  await secrets.set(service, user, secret);
  for (const { name } of await list(service)) if (name !== user) await secrets.delete(service, name);
}

/** Idempotent: a missing login is not an error. */
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
  if (server === "") throw new DockerProtocolError(NO_SERVER);
  return server;
}

interface DockerLogin {
  readonly ServerURL: string;
  readonly Username: string;
  readonly Secret: string;
}

/** @throws ArgumentError, which does not quote the input: it contains a password */
function readLogin(text: string): DockerLogin {
  const invalidInput = new ArgumentError("Standard input is not JSON with ServerURL, Username and Secret");
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw invalidInput;
  }
  const { ServerURL = "", Username = "", Secret } = (parsed ?? {}) as Record<string, unknown>;
  if (typeof ServerURL !== "string" || typeof Username !== "string" || typeof Secret !== "string")
    throw invalidInput;
  return { ServerURL, Username, Secret };
}
