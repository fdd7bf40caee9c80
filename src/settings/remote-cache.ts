// The cache that others share: [cache.remote] of rtfig.toml, and the variables that turbo's users have set already.
//
// Contract: as with turbo, a variable wins over the file. Nobody is spoken to whom neither names, and no token or key stands
// in the file: it names variables, which have them, or [secrets] does. Without the table all that is needed has to be in
// variables, and where some of it is missing nothing is said.
import type { Config } from "../config/rtfig.ts";
import { Failure } from "../failure.ts";

export interface RemoteCacheSettings {
  /** Without a slash at its end. */
  readonly url: string;
  /** Which part of the server, as turbo says it: a name, or an id. */
  readonly slug?: string | undefined;
  readonly teamId?: string | undefined;
  /** Names of variables. */
  readonly token: string;
  /** Undefined where what is exchanged is not signed. */
  readonly signatureKey?: string | undefined;
  readonly isRead: boolean;
  readonly isWritten: boolean;
  /** Milliseconds for one answer, and for what is still being uploaded when the run is over. */
  readonly timeout: number;
  readonly uploadTimeout: number;
}

export interface RemoteAccess {
  readonly isRead: boolean;
  readonly isWritten: boolean;
}

type Variable = (name: string) => string | undefined;
type Table = Readonly<Record<string, unknown>>;

const TOKEN = "TURBO_TOKEN";
const KEY = "TURBO_REMOTE_CACHE_SIGNATURE_KEY";
/** Seconds. */
const TIMEOUT = 30;
const UPLOAD_TIMEOUT = 60;
const LONGEST = 3600;

/** Undefined where nothing is shared. Throws Failure. */
export function readRemoteCache(
  { content, file }: Pick<Config, "content" | "file">,
  access: RemoteAccess,
  variable: Variable,
): RemoteCacheSettings | undefined {
  const cache = content.cache as Table | undefined;
  const table = cache?.remote as Table | undefined;
  const text = (name: string) => table?.[name] as string | undefined;
  const own = (name: string) => variable(name) || undefined;
  const url = own("TURBO_API") ?? text("url");
  const { isRead, isWritten } = access;
  if (table?.enabled === false || (!isRead && !isWritten)) return undefined;
  if (!table && (url === undefined || own(TOKEN) === undefined || own(KEY) === undefined)) return undefined;
  if (url === undefined)
    throw new Failure(
      `${file}: [cache.remote] does not say where the cache is`,
      'write url = "https://..." below it, or set TURBO_API',
    );
  const named = (name: string, other: string) => nameOf(text(name), name, file) ?? other;
  const teamId = own("TURBO_TEAMID") ?? text("team-id");
  return {
    url: readUrl(url),
    slug: own("TURBO_TEAM") ?? text("team"),
    teamId,
    token: named("token", TOKEN),
    signatureKey: table?.signature === false ? undefined : named("signature-key", KEY),
    isRead,
    isWritten: isWritten && !["1", "true"].includes(own("TURBO_REMOTE_CACHE_READ_ONLY") ?? ""),
    timeout: seconds(own("TURBO_REMOTE_CACHE_TIMEOUT"), table?.timeout, TIMEOUT),
    uploadTimeout: seconds(
      own("TURBO_REMOTE_CACHE_UPLOAD_TIMEOUT"),
      table?.["upload-timeout"],
      UPLOAD_TIMEOUT,
    ),
  };
}

/** A name that the value mentions: "$NAME". Throws Failure, which does not show what else it may be. */
function nameOf(value: string | undefined, key: string, file: string): string | undefined {
  if (value === undefined) return undefined;
  const [, name] = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(value) ?? [];
  if (name === undefined)
    throw new Failure(
      `${file}: cache.remote.${key} is the name of a variable, not its value`,
      `write ${key} = "$NAME", and NAME in the environment or in [secrets]`,
    );
  return name;
}

/** Throws Failure. */
function readUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new Failure("The shared cache needs an address that begins with https:// or http://");
  if (url.username !== "" || url.password !== "")
    throw new Failure(
      "The address of the shared cache has a password in it",
      `give it as a token instead: ${TOKEN}`,
    );
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** As with turbo, 0 is for as long as it takes; an hour is long enough. */
function seconds(given: string | undefined, configured: unknown, otherwise: number): number {
  const value =
    given !== undefined && /^\d+$/.test(given) ? Number(given) : ((configured as number) ?? otherwise);
  return (value === 0 ? LONGEST : Math.min(value, LONGEST)) * 1000;
}
