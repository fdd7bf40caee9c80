// Reads the settings of a shared run: --share, --share-id, --share-name.
//
// Invariants:
// - The address in messages contains no password; only `password` does.
// - Options that would mean something different on each machine cannot be combined with --share.
import { UserError } from "../../user-error.ts";
import type { GivenOptions } from "../../options/parse.ts";
import { oneLine } from "../../printable.ts";

export interface ShareSettings {
  readonly server: RedisAddress;
  /** The same on all machines of the run. */
  readonly id: string;
  /** Name of this machine; undefined for its host name. */
  readonly name?: string | undefined;
  /** Reports of earlier runs, or folders of them. */
  readonly times: readonly string[];
}

export interface RedisAddress {
  /** Scheme, host, port and database, without credentials. */
  readonly url: string;
  /** "" for the server's default user. */
  readonly user: string;
  /** Password of the address, if it has one. */
  readonly password?: string | undefined;
}

/** Options that cannot be combined with a shared run. */
const EXCLUDED = ["shard", "sequential", "watch", "force", "no-cache", "verify-inputs", "remote"] as const;
const MAX_ID_LENGTH = 200;
const DEFAULT_PORT = 6379;
const EXAMPLE =
  "for example: rt run --share rediss://redis.example.com:6379 --share-id $CI_RUN --filter '*' build";

/** @throws UserError */
export function readShare(given: GivenOptions): ShareSettings | undefined {
  if (!given.has("share")) {
    const withoutEffect = ["share-id", "share-name"].find((name) => given.has(name));
    if (withoutEffect !== undefined)
      throw new UserError(`--${withoutEffect} has no effect without --share`, EXAMPLE);
    return undefined;
  }
  const other = EXCLUDED.find((name) => given.has(name));
  if (other !== undefined)
    throw new UserError(`--share cannot be used with --${other}`, "remove one of them");
  const id = given.get("share-id")?.last ?? "";
  if (id === "" || id.length > MAX_ID_LENGTH)
    throw new UserError(
      id === "" ? "--share needs --share-id" : `--share-id has more than ${MAX_ID_LENGTH} characters`,
      "use the same value on all machines of this run only: in GitHub Actions --share-id $GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT",
    );
  return {
    server: readAddress(given.get("share")!.last ?? ""),
    id,
    name: given.get("share-name")?.last || undefined,
    times: given.get("shard-times")?.all ?? [],
  };
}

/** @throws UserError, which does not contain the address: it may contain a password */
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

/** Returns text with invalid percent encoding unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
