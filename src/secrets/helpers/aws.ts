// Runs `rt secrets helper aws`: access keys for the `credential_process` of AWS tools and SDKs.
//
// Invariants:
// - The keys of a profile are one credential, so that a key ID is never combined with another secret key. Service "aws", name:
//   the profile, value: the JSON that `credential_process` prints.
// - Expired keys are not returned: the SDKs would use them and report the service's error.
//
// Non-obvious:
// - `store` prompts on a terminal. From a pipe it reads JSON: the same form, or the output of `aws sts` or
//   `aws iam create-access-key`.
import { printable } from "../../printable.ts";
import { isTerminal, print, readInput } from "../streams.ts";
import { reportProblem, ArgumentError } from "../command-arguments.ts";
import { requireReader } from "./helper-io.ts";
import { openStore } from "./helper-store.ts";

const SERVICE = "aws";
const ABSENT = 1;
const INTERRUPTED = 130;
const ENTERED_TEXT = "The entered text";

interface AwsKeys {
  readonly AccessKeyId: string;
  readonly SecretAccessKey: string;
  readonly SessionToken?: string;
  /** ISO 8601. */
  readonly Expiration?: string;
}

export async function runAwsHelper(action: string, profile: string): Promise<number> {
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
  const keys = readKeys(value, `The value stored for the profile "${printable(profile)}"`);
  if (Date.parse(keys.Expiration ?? "") <= Date.now())
    throw new ArgumentError(
      `The access key of the profile "${printable(profile)}" expired at ${printable(keys.Expiration!)}`,
      `store a new one: rt secrets helper aws store ${printable(profile)}`,
    );
  await print(`${JSON.stringify({ Version: 1, ...keys })}\n`);
  return 0;
}

function reportAbsent(profile: string): number {
  reportProblem(
    `No access key for the profile "${printable(profile)}"`,
    `rt secrets helper aws store ${printable(profile)}`,
  );
  return ABSENT;
}

/** Prompts once for all parts, because each is useless alone. Accepts JSON too. Returns null if the user cancels. */
async function askForKeys(profile: string): Promise<AwsKeys | null> {
  const { promptHidden } = await import("../hidden-prompt.ts");
  const question = `Access key ID, secret access key and optional session token for ${printable(profile)}`;
  const entered = await promptHidden(`${question}, with spaces between (not shown): `);
  if (entered === null) return null;
  if (entered.trimStart().startsWith("{")) return readKeys(entered, ENTERED_TEXT);
  const [AccessKeyId, SecretAccessKey, SessionToken, ...more] = entered.trim().split(/\s+/);
  if (more.length > 0) throw new ArgumentError(`${ENTERED_TEXT} has more than three words`);
  return checkKeys({ AccessKeyId, SecretAccessKey, SessionToken }, ENTERED_TEXT);
}

/** @throws ArgumentError, which does not quote the text */
function readKeys(text: string, what = "Standard input"): AwsKeys {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new ArgumentError(
      `${what} is not JSON`,
      "use JSON with AccessKeyId and SecretAccessKey, as aws sts prints it",
    );
  }
  const { Credentials, AccessKey } = (given ?? {}) as Record<string, unknown>;
  return checkKeys(Credentials ?? AccessKey ?? given, what);
}

function checkKeys(given: unknown, what: string): AwsKeys {
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = (given ?? {}) as Record<string, unknown>;
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
  const isOptional = (value: unknown): value is string | undefined => value === undefined || isText(value);
  if (!isText(AccessKeyId) || !isText(SecretAccessKey))
    throw new ArgumentError(`${what} lacks an access key ID or a secret access key`);
  if (!isOptional(SessionToken) || !isOptional(Expiration))
    throw new ArgumentError(`${what} has a session token or an expiration that is not a string`);
  if (Expiration !== undefined && Number.isNaN(Date.parse(Expiration)))
    throw new ArgumentError(`${what} has an expiration that is not an ISO 8601 time`);
  return {
    AccessKeyId,
    SecretAccessKey,
    ...(SessionToken && { SessionToken }),
    ...(Expiration && { Expiration }),
  };
}
