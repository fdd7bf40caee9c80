// Reads the settings of the shared cache: [cache.remote] of rtfig.toml, and turbo's variables. The scheme of its URL
// selects the backend: http and https are turbo's protocol, grpc and grpcs the Remote Execution API.
//
// Invariants:
// - A variable overrides the file, as in turbo. If the file names a grpc server, turbo's server and team variables
//   are ignored.
// - The file contains no token or key, only names of variables. Their values come from the environment or [secrets].
// - Without the table, variables must define everything. If one is missing, rt prints nothing.
import { folderOfConfig } from "../config-file-name.ts";
import type { ConfigSection } from "../config-content.ts";
import type { Config } from "../rtfig.ts";
import { configHint } from "../../config-hint.ts";
import { UserError } from "../../user-error.ts";
import {
  type Certificates,
  readCertificates,
  readServerUrl,
  requireHeaderName,
  variablesIn,
} from "./remote-server.ts";

interface Shared {
  /** Variables that need consent for this server, because rtfig.toml names the variable or the server. */
  readonly named: readonly string[];
  /** Without a trailing slash. */
  readonly url: string;
  /** Name of a variable; undefined if artifacts are not signed. */
  readonly signatureKey?: string | undefined;
  readonly isRead: boolean;
  readonly isWritten: boolean;
  /** Milliseconds for one response, and for uploads after the run. */
  readonly timeout: number;
  readonly uploadTimeout: number;
}

export interface TurboSettings extends Shared {
  readonly protocol: "turbo";
  /** The team: a name, or an ID. */
  readonly slug?: string | undefined;
  readonly teamId?: string | undefined;
  /** Name of a variable. */
  readonly token: string;
}

export interface ReapiSettings extends Shared {
  readonly protocol: "reapi";
  /** "" for the default instance. */
  readonly instance: string;
  /** Values contain names of variables, not their values. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Certificates;
}

export type RemoteCacheSettings = TurboSettings | ReapiSettings;

export interface RemoteAccess {
  readonly isRead: boolean;
  readonly isWritten: boolean;
}

type RemoteTable = NonNullable<ConfigSection<"cache">["remote"]>;
type TurboVariable = (name: string) => string | undefined;
const SECTION = "cache.remote";
const TOKEN = "TURBO_TOKEN";
const KEY = "TURBO_REMOTE_CACHE_SIGNATURE_KEY";
/** Keys of one backend only, with the URL schemes of that backend. */
const OWN_KEYS = [
  [/^https?:/i, ["team", "team-id", "token"], "https:// and http://"],
  [/^grpcs?:/i, ["instance", "headers", "ca", "cert", "key"], "grpcs:// and grpc://"],
] as const;
/** Seconds. */
const TIMEOUT = 30;
const UPLOAD_TIMEOUT = 60;
const LONGEST = 3600;

/**
 * Returns undefined if nothing is shared. @param cwd absolute
 * @throws UserError
 */
export function readRemoteCache(
  { content, file }: Pick<Config, "content" | "file">,
  access: RemoteAccess,
  cwd: string,
  variable: TurboVariable,
): RemoteCacheSettings | undefined {
  const table = content.cache?.remote;
  const own = (name: string) => variable(name) || undefined;
  const written = table?.url;
  const speaksReapi = written !== undefined && /^grpcs?:/i.test(written);
  const url = speaksReapi ? written : (own("TURBO_API") ?? written);
  const { isRead, isWritten } = access;
  if (table?.enabled === false || (!isRead && !isWritten)) return undefined;
  if (!table && (url === undefined || own(TOKEN) === undefined || own(KEY) === undefined)) return undefined;
  if (url === undefined)
    throw new UserError(
      `${file}: [${SECTION}] has no url`,
      `set TURBO_API, or ${configHint(["cache", "remote", "url"], "https://cache.example.com", file)}`,
    );
  for (const [address, keys, beginnings] of OWN_KEYS) {
    const strange = address.test(url) ? undefined : keys.find((key) => table?.[key] !== undefined);
    if (strange !== undefined && URL.canParse(url))
      throw new UserError(
        `${file}: ${SECTION}.${strange} is for addresses that begin with ${beginnings}`,
        strange === "token"
          ? `remove it, and ${configHint(["cache", "remote", "headers", "authorization"], "Bearer $TOKEN", file)}`
          : strange === "headers"
            ? `remove it, and ${configHint(["cache", "remote", "token"], "$TOKEN", file)}`
            : "remove it",
      );
  }
  const variableFor = (name: "token" | "signature-key", standard: string) => {
    const configured = nameOf(table?.[name], name, standard, file);
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
  if (speaksReapi)
    return withNamed({ ...shared, ...readReapi(table!, url, folderOfConfig(file, cwd)) }, true);
  const settings = {
    ...shared,
    protocol: "turbo" as const,
    url: readUrl(url),
    slug: own("TURBO_TEAM") ?? table?.team,
    teamId: own("TURBO_TEAMID") ?? table?.["team-id"],
    token: variableFor("token", TOKEN),
  };
  return withNamed(settings, own("TURBO_API") === undefined);
}

/**
 * Lists the variables that need consent. The standard signature key needs none, since it is never sent.
 *
 * @param isFromFile whether rtfig.toml names the server, which then receives no token without consent
 */
function withNamed<Settings extends Omit<TurboSettings, "named"> | Omit<ReapiSettings, "named">>(
  settings: Settings,
  isFromFile: boolean,
): Settings & { readonly named: readonly string[] } {
  const named = variablesOf(settings).filter((name) => name !== KEY && (isFromFile || name !== TOKEN));
  return { ...settings, named };
}

function readReapi(
  table: RemoteTable,
  url: string,
  directory: string,
): Pick<ReapiSettings, "protocol" | "url" | "instance" | "headers" | "tls"> {
  const headers = table.headers ?? {};
  for (const name of Object.keys(headers)) requireHeaderName(name, SECTION);
  return {
    protocol: "reapi",
    url: readServerUrl(url, SECTION, Object.keys(headers).length > 0),
    instance: table.instance ?? "",
    headers,
    tls: readCertificates(table, SECTION, directory),
  };
}

export function variablesOf(settings: Omit<TurboSettings, "named"> | Omit<ReapiSettings, "named">): string[] {
  const { signatureKey } = settings;
  const names =
    settings.protocol === "turbo" ? [settings.token] : Object.values(settings.headers).flatMap(variablesIn);
  return [...new Set([...names, ...(signatureKey === undefined ? [] : [signatureKey])])];
}

/** Returns the variable that a value refers to: "$NAME". @throws UserError without the value, which may be a secret */
function nameOf(value: string | undefined, key: string, standard: string, file: string): string | undefined {
  if (value === undefined) return undefined;
  const [, name] = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(value) ?? [];
  if (name === undefined)
    throw new UserError(
      `${file}: ${SECTION}.${key} is the name of a variable, not its value`,
      `set ${standard} to the value, and ${configHint(["cache", "remote", key], `$${standard}`, file)}`,
    );
  return name;
}

/** @throws UserError */
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

/** As in turbo, 0 means no limit; rt uses one hour. */
function seconds(given: string | undefined, configured: number | undefined, otherwise: number): number {
  const value = given !== undefined && /^\d+$/.test(given) ? Number(given) : (configured ?? otherwise);
  return (value === 0 ? LONGEST : Math.min(value, LONGEST)) * 1000;
}
