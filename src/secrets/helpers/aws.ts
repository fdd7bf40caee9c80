// `rt secrets helper aws`: access keys for `credential_process`, which AWS' tools and SDKs start.
//
// A profile's keys are one credential, so that an ID never goes with the key of another: the service is "aws", the name is the
// profile, the value the JSON that `credential_process` prints. `store` asks for them on a terminal, not shown; from
// a program it takes JSON: that same form, or what `aws sts` and `aws iam create-access-key` print.
//
// Contract: expired keys are not handed out; the SDKs would use them and report what the service says.
import { printable } from "../../printable.ts";
import { isTerminal, print, readInput } from "../streams.ts";
import { complain, ArgumentError } from "../command-arguments.ts";
import { requireReader } from "./helper-io.ts";
import { openStore } from "./helper-store.ts";

const SERVICE = "aws";
const ABSENT = 1;
const INTERRUPTED = 130;
const ENTERED = "What was entered";

interface Keys {
  readonly AccessKeyId: string;
  readonly SecretAccessKey: string;
  readonly SessionToken?: string;
  /** ISO 8601. */
  readonly Expiration?: string;
}

export async function answerAws(action: string, profile: string): Promise<number> {
  const { secrets } = openStore();
  if (action === "store") {
    const keys = (await isTerminal(0)) ? await askForKeys(profile) : readKeys(await readInput());
    if (keys === null) return INTERRUPTED;
    await secrets.set(SERVICE, profile, JSON.stringify({ Version: 1, ...keys }));
    return 0;
  }
  if (action === "erase") return (await secrets.delete(SERVICE, profile)) ? 0 : reportAbsent(profile);
  await requireReader("An access key");
  const value = await secrets.get(SERVICE, profile);
  if (value === null) return reportAbsent(profile);
  const keys = readKeys(value, `What is stored for the profile "${printable(profile)}"`);
  if (Date.parse(keys.Expiration ?? "") <= Date.now())
    throw new ArgumentError(
      `The access key of the profile "${printable(profile)}" expired at ${printable(keys.Expiration!)}`,
      `store a new one: rt secrets helper aws store ${printable(profile)}`,
    );
  await print(`${JSON.stringify({ Version: 1, ...keys })}\n`);
  return 0;
}

function reportAbsent(profile: string): number {
  complain(
    `There is no access key for the profile "${printable(profile)}"`,
    `rt secrets helper aws store ${printable(profile)}`,
  );
  return ABSENT;
}

/** In one line, since both are useless alone; what is pasted may be JSON. Null when the person gave up. */
async function askForKeys(profile: string): Promise<Keys | null> {
  const { promptHidden } = await import("../hidden-prompt.ts");
  const question = `Access key ID, secret access key and, if there is one, session token for ${printable(profile)}`;
  const entered = await promptHidden(`${question}, with spaces between (not shown): `);
  if (entered === null) return null;
  if (entered.trimStart().startsWith("{")) return readKeys(entered, ENTERED);
  const [AccessKeyId, SecretAccessKey, SessionToken, ...more] = entered.trim().split(/\s+/);
  if (more.length > 0) throw new ArgumentError(`${ENTERED} has more than three words`);
  return checkKeys({ AccessKeyId, SecretAccessKey, SessionToken }, ENTERED);
}

/** Throws WordsError; no message quotes the text. */
function readKeys(text: string, what = "Standard input"): Keys {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new ArgumentError(
      `${what} is no JSON`,
      "it has AccessKeyId and SecretAccessKey, as aws sts prints them",
    );
  }
  const { Credentials, AccessKey } = (given ?? {}) as Record<string, unknown>;
  return checkKeys(Credentials ?? AccessKey ?? given, what);
}

function checkKeys(given: unknown, what: string): Keys {
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = (given ?? {}) as Record<string, unknown>;
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
  const isOptional = (value: unknown): value is string | undefined => value === undefined || isText(value);
  if (!isText(AccessKeyId) || !isText(SecretAccessKey))
    throw new ArgumentError(`${what} lacks an access key ID or a secret access key`);
  if (!isOptional(SessionToken) || !isOptional(Expiration))
    throw new ArgumentError(`${what} has a session token or an expiration that is no text`);
  if (Expiration !== undefined && Number.isNaN(Date.parse(Expiration)))
    throw new ArgumentError(`${what} has an expiration that is no time in ISO 8601`);
  return {
    AccessKeyId,
    SecretAccessKey,
    ...(SessionToken && { SessionToken }),
    ...(Expiration && { Expiration }),
  };
}
