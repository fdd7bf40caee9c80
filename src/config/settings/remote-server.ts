// Reads the keys of a Remote Execution API server that [run.remote] and [cache.remote] share: url, headers and certificates.
//
// Invariants:
// - Headers are never sent unencrypted, except to localhost. A header's value may reference variables ("Bearer $TOKEN"), whose
//   values are in no message.
import { files } from "../../../platform/files/files.ts";
import { configHint } from "../../config-hint.ts";
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";

/** Certificates and key in PEM. */
export interface Certificates {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

const PATHS = ["ca", "cert", "key"] as const;
const MAX_CERTIFICATE_SIZE = 1 << 20;
const REFERENCE = /\$\{?([A-Za-z_]\w*)\}?/g;

/**
 * Validates the URL of a server and returns it without its path.
 * @param section name of the table, such as "run.remote"
 * @param hasHeaders whether headers are sent
 * @throws UserError
 */
export function readServerUrl(text: string, section: string, hasHeaders: boolean): string {
  const url = URL.parse(text);
  if (
    !url ||
    !["grpc:", "grpcs:"].includes(url.protocol) ||
    url.hostname === "" ||
    /[^/]/.test(url.pathname + url.search)
  )
    throw new UserError(
      `${section}.url is not a server address: "${oneLine(text)}"`,
      "use grpcs:// or grpc:// with a host and a port",
    );
  if (url.username !== "" || url.password !== "")
    throw new UserError(
      `${section}.url has a password in it`,
      `remove it, and ${configHint([...section.split("."), "headers", "authorization"], "Bearer $TOKEN")}`,
    );
  // The engine does not verify certificates for IP addresses.
  if (url.protocol === "grpcs:" && /^(?:[\d.]+|\[.*\])$/.test(url.hostname))
    throw new UserError(`${section}.url needs a host name with grpcs://, not an IP address`);
  const isLocal = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "grpc:" && !isLocal && hasHeaders)
    throw new UserError(
      `[${section}.headers] would be sent unencrypted`,
      configHint([...section.split("."), "url"], `grpcs://${url.host}`),
    );
  return `${url.protocol}//${url.host}`;
}

/** Reads the certificate files. @param table paths by key, relative to `directory` @throws UserError */
export function readCertificates(
  table: Readonly<Partial<Record<(typeof PATHS)[number], string>>>,
  section: string,
  directory: string,
): Certificates {
  if ((table.cert === undefined) !== (table.key === undefined))
    throw new UserError(`${section}.cert and ${section}.key belong together`, "give both, or neither");
  const { resolve } = process.getBuiltinModule("node:path"); // lazy: few projects name certificates
  return Object.fromEntries(
    PATHS.flatMap((name) => {
      const path = table[name];
      return path === undefined
        ? []
        : [[name, readCertificate(resolve(directory, path), `${section}.${name}`)]];
    }),
  );
}

function readCertificate(path: string, key: string): string {
  const bytes = files.readFile(path, MAX_CERTIFICATE_SIZE);
  if (typeof bytes === "string") throw new UserError(`Cannot read ${key}, ${oneLine(path)}: ${bytes}`);
  return new TextDecoder().decode(bytes);
}

/** @throws UserError for an invalid header name */
export function requireHeaderName(name: string, section: string): void {
  if (/^[a-z\d_.-]+$/.test(name) && !name.startsWith("grpc-")) return;
  throw new UserError(`${section}.headers.${oneLine(name)} is not a valid header name`, "use lower case");
}

export function variablesIn(value: string): string[] {
  return [...value.matchAll(REFERENCE)].map(([, name]) => name!);
}

/**
 * Replaces the references in a header's value.
 * @param key name of the header in messages
 * @param variable returns a variable; "" and undefined mean that it is not set
 * @throws UserError
 */
export function fillHeader(
  value: string,
  key: string,
  variable: (name: string) => string | undefined,
): string {
  const filled = value.replace(REFERENCE, (_, name: string) => {
    const text = variable(name);
    if (text === undefined || text === "") throw new UserError(`${name} is not set, which ${key} needs`);
    return text;
  });
  if (!/^[\x20-\x7e]*$/.test(filled))
    throw new UserError(`${key} has characters that are invalid in a header`);
  return filled;
}
