// With which machines a run is shared, and over which Redis: --share, --share-id, --share-name.
//
// Contract: the address that is shown has no password in it, nor has anything else here but `password`. What would have
// another meaning on each machine excludes --share.
import { UserError } from "../../user-error.ts";
import type { GivenOptions } from "../../options/parse.ts";
import { oneLine } from "../../printable.ts";

export interface ShareSettings {
  readonly server: RedisAddress;
  /** The same on all machines of the run. */
  readonly id: string;
  /** Of this machine; undefined for that of its host. */
  readonly name?: string | undefined;
  /** Reports of earlier runs, or folders of them. */
  readonly times: readonly string[];
}

export interface RedisAddress {
  /** Scheme, host, port and database: nothing that nobody may know. */
  readonly url: string;
  /** "" for the server's default user. */
  readonly user: string;
  /** Where the address has one. */
  readonly password?: string | undefined;
}

/** Options by which machines would do something else than share what each script makes. */
const EXCLUDED = ["shard", "sequential", "watch", "force", "no-cache", "verify-inputs", "remote"] as const;
const LONGEST_ID = 200;
const DEFAULT_PORT = 6379;
const EXAMPLE = "as in: rt run --share rediss://redis.example.com:6379 --share-id $CI_RUN --filter '*' build";

/** Throws Failure. */
export function readShare(given: GivenOptions): ShareSettings | undefined {
  if (!given.has("share")) {
    const idle = ["share-id", "share-name"].find((name) => given.has(name));
    if (idle !== undefined) throw new UserError(`--${idle} has no effect without --share`, EXAMPLE);
    return undefined;
  }
  const other = EXCLUDED.find((name) => given.has(name));
  if (other !== undefined)
    throw new UserError(`--share and --${other} exclude each other`, "leave one of them out");
  const id = given.get("share-id")?.last ?? "";
  if (id === "" || id.length > LONGEST_ID)
    throw new UserError(
      id === "" ? "--share needs --share-id" : `--share-id has more than ${LONGEST_ID} characters`,
      "give what is the same on all machines of this run, and of no other: in GitHub Actions --share-id $GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT",
    );
  return {
    server: readAddress(given.get("share")!.last ?? ""),
    id,
    name: given.get("share-name")?.last || undefined,
    times: given.get("shard-times")?.all ?? [],
  };
}

/** Throws Failure, which does not show what it was given: there may be a password in it. */
function readAddress(text: string): RedisAddress {
  const url = URL.parse(text);
  const [, database] = /^\/?(\d{0,5})$/.exec(url?.pathname ?? "") ?? [];
  if (
    !url ||
    !["redis:", "rediss:"].includes(url.protocol) ||
    url.hostname === "" ||
    database === undefined ||
    url.search + url.hash !== ""
  )
    throw new UserError(
      "--share needs the address of a Redis, which begins with redis:// or rediss://",
      EXAMPLE,
    );
  const port = url.port === "" ? DEFAULT_PORT : url.port;
  const [user, password] = [url.username, url.password].map(decode) as [string, string];
  return {
    url: `${url.protocol}//${oneLine(url.hostname)}:${port}${database === "" ? "" : `/${database}`}`,
    user,
    ...(password !== "" && { password }),
  };
}

/** What is no encoding is meant as it stands. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
