// The cache that others share: [cache.remote] of rtfig.toml, and the variables that turbo's users have set already. Its
// address says what it speaks: http and https are turbo's protocol, grpc and grpcs the Remote Execution API.
//
// Invariants:
// - A variable wins over the file, as with turbo; also TURBO_TOKEN over the name of another variable.
// - If the file names a server of the other kind, the variables of turbo's server and team do not count.
// - A server that neither names is not contacted.
// - The file has no token or key. It names variables, whose values are in the environment or in [secrets].
// - Without the table, variables have to say everything. If one is missing, rt prints nothing.
import { dirname, resolve } from "node:path";
import type { Config } from "../rtfig.ts";
import { UserError } from "../../user-error.ts";
import {
  type Certificates,
  readCertificates,
  readServerUrl,
  requireHeaderName,
  variablesIn,
} from "./remote-server.ts";

interface Shared {
  /** Variables that a person has to allow for this server, because rtfig.toml names the variable or the server. */
  readonly named: readonly string[];
  /** Without a slash at its end. */
  readonly url: string;
  /** The name of a variable; undefined where what is exchanged is not signed. */
  readonly signatureKey?: string | undefined;
  readonly isRead: boolean;
  readonly isWritten: boolean;
  /** Milliseconds for one answer, and for what is still being uploaded when the run is over. */
  readonly timeout: number;
  readonly uploadTimeout: number;
}

export interface TurboSettings extends Shared {
  readonly protocol: "turbo";
  /** Which part of the server, as turbo says it: a name, or an id. */
  readonly slug?: string | undefined;
  readonly teamId?: string | undefined;
  /** The name of a variable. */
  readonly token: string;
}

export interface ReapiSettings extends Shared {
  readonly protocol: "reapi";
  /** "" for none. */
  readonly instance: string;
  /** As the file has them: with names of variables, not their values. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Certificates;
}

export type RemoteCacheSettings = TurboSettings | ReapiSettings;

export interface RemoteAccess {
  readonly isRead: boolean;
  readonly isWritten: boolean;
}

type TurboVariable = (name: string) => string | undefined;
type Table = Readonly<Record<string, unknown>>;

const SECTION = "cache.remote";
const TOKEN = "TURBO_TOKEN";
const KEY = "TURBO_REMOTE_CACHE_SIGNATURE_KEY";
/** Keys that only one kind of server has, with the beginnings of its addresses. */
const OWN_KEYS = [
  [/^https?:/i, ["team", "team-id", "token"], "https:// and http://"],
  [/^grpcs?:/i, ["instance", "headers", "ca", "cert", "key"], "grpcs:// and grpc://"],
] as const;
/** Seconds. */
const TIMEOUT = 30;
const UPLOAD_TIMEOUT = 60;
const LONGEST = 3600;

/** Undefined where nothing is shared. @param cwd absolute. Throws Failure. */
export function readRemoteCache(
  { content, file }: Pick<Config, "content" | "file">,
  access: RemoteAccess,
  cwd: string,
  variable: TurboVariable,
): RemoteCacheSettings | undefined {
  const cache = content.cache as Table | undefined;
  const table = cache?.remote as Table | undefined;
  const own = (name: string) => variable(name) || undefined;
  const written = table?.url as string | undefined;
  const speaksReapi = written !== undefined && /^grpcs?:/i.test(written);
  const url = speaksReapi ? written : (own("TURBO_API") ?? written);
  const { isRead, isWritten } = access;
  if (table?.enabled === false || (!isRead && !isWritten)) return undefined;
  if (!table && (url === undefined || own(TOKEN) === undefined || own(KEY) === undefined)) return undefined;
  if (url === undefined)
    throw new UserError(
      `${file}: [${SECTION}] does not say where the cache is`,
      'write url = "https://..." or url = "grpcs://..." below it, or set TURBO_API',
    );
  for (const [address, keys, beginnings] of OWN_KEYS) {
    const strange = address.test(url) ? undefined : keys.find((key) => table?.[key] !== undefined);
    if (strange !== undefined && URL.canParse(url))
      throw new UserError(
        `${file}: ${SECTION}.${strange} is for addresses that begin with ${beginnings}`,
        speaksReapi
          ? `credentials are in [${SECTION}.headers]`
          : "this one is of turbo's protocol, which has a token",
      );
  }
  const variableFor = (name: string, standard: string) => {
    const configured = nameOf(table?.[name] as string | undefined, name, file);
    return own(standard) === undefined || speaksReapi ? (configured ?? standard) : standard;
  };
  const shared = {
    signatureKey: table?.signature === false ? undefined : variableFor("signature-key", KEY),
    isRead,
    isWritten: isWritten && !["1", "true"].includes(own("TURBO_REMOTE_CACHE_READ_ONLY") ?? ""),
    timeout: seconds(own("TURBO_REMOTE_CACHE_TIMEOUT"), table?.timeout, TIMEOUT),
    uploadTimeout: seconds(
      own("TURBO_REMOTE_CACHE_UPLOAD_TIMEOUT"),
      table?.["upload-timeout"],
      UPLOAD_TIMEOUT,
    ),
  };
  if (speaksReapi) return withNamed({ ...shared, ...readReapi(table!, dirname(resolve(cwd, file))) }, true);
  const settings = {
    ...shared,
    protocol: "turbo" as const,
    url: readUrl(url),
    slug: own("TURBO_TEAM") ?? (table?.team as string | undefined),
    teamId: own("TURBO_TEAMID") ?? (table?.["team-id"] as string | undefined),
    token: variableFor("token", TOKEN),
  };
  return withNamed(settings, own("TURBO_API") === undefined);
}

/**
 * The standard key needs no consent, since it is not sent.
 * @param isFromFile whether rtfig.toml says where the server is: then it gets no token without consent
 */
function withNamed<Settings extends Omit<TurboSettings, "named"> | Omit<ReapiSettings, "named">>(
  settings: Settings,
  isFromFile: boolean,
): Settings & { readonly named: readonly string[] } {
  const named = variablesOf(settings).filter((name) => name !== KEY && (isFromFile || name !== TOKEN));
  return { ...settings, named };
}

function readReapi(
  table: Table,
  directory: string,
): Pick<ReapiSettings, "protocol" | "url" | "instance" | "headers" | "tls"> {
  const texts = new Map(
    Object.entries(table).filter((each): each is [string, string] => typeof each[1] === "string"),
  );
  const headers = (table.headers ?? {}) as Record<string, string>;
  for (const name of Object.keys(headers)) requireHeaderName(name, SECTION);
  return {
    protocol: "reapi",
    url: readServerUrl(texts.get("url")!, SECTION, Object.keys(headers).length > 0),
    instance: texts.get("instance") ?? "",
    headers,
    tls: readCertificates(texts, SECTION, directory),
  };
}

/** Names of variables without which the cache cannot be used. */
export function variablesOf(settings: Omit<TurboSettings, "named"> | Omit<ReapiSettings, "named">): string[] {
  const { signatureKey } = settings;
  const names =
    settings.protocol === "turbo" ? [settings.token] : Object.values(settings.headers).flatMap(variablesIn);
  return [...new Set([...names, ...(signatureKey === undefined ? [] : [signatureKey])])];
}

/** A name that the value mentions: "$NAME". Throws Failure, which does not show what else it may be. */
function nameOf(value: string | undefined, key: string, file: string): string | undefined {
  if (value === undefined) return undefined;
  const [, name] = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(value) ?? [];
  if (name === undefined)
    throw new UserError(
      `${file}: ${SECTION}.${key} is the name of a variable, not its value`,
      `write ${key} = "$NAME", and NAME in the environment or in [secrets]`,
    );
  return name;
}

/** Throws Failure. */
function readUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new UserError(
      "The shared cache needs an address that begins with https:// or http://, or with grpcs:// or grpc:// in rtfig.toml",
    );
  if (url.username !== "" || url.password !== "")
    throw new UserError(
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
