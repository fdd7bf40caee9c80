// A server of the Remote Execution API, as rtfig.toml names one: [run.remote] to run scripts there, [cache.remote] to share
// what they have made. Both have url, instance, headers, ca, cert, key and timeout, and they mean the same.
//
// Contract: nothing goes over the network for all to read. A header's value may mention variables ("Bearer $TOKEN"), whose
// values are in no message.
import { resolve } from "node:path";
import { files } from "../../../platform/files/files.ts";
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";

/** PEM. */
export interface Certificates {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

const PATHS = ["ca", "cert", "key"] as const;
const LARGEST_CERTIFICATE = 1 << 20;
const MENTION = /\$\{?([A-Za-z_]\w*)\}?/g;

/** @param section "run.remote" @param hasHeaders whether any are sent. Throws Failure. */
export function readServerUrl(text: string, section: string, hasHeaders: boolean): string {
  const url = URL.parse(text);
  if (
    !url ||
    !["grpc:", "grpcs:"].includes(url.protocol) ||
    url.hostname === "" ||
    /[^/]/.test(url.pathname + url.search)
  )
    throw new UserError(
      `${section}.url is no address of a server: "${oneLine(text)}"`,
      "it begins with grpcs:// or grpc://, and has a host and a port",
    );
  if (url.username !== "" || url.password !== "")
    throw new UserError(`${section}.url has a password in it`, `give it in [${section}.headers]`);
  // The engine takes no address as the name of a server that it verifies.
  if (url.protocol === "grpcs:" && /^(?:[\d.]+|\[.*\])$/.test(url.hostname))
    throw new UserError(`${section}.url needs the name of a host with grpcs://, and has an address`);
  const isHere = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "grpc:" && !isHere && hasHeaders)
    throw new UserError(
      `[${section}.headers] would go over the network for all to read`,
      `write grpcs:// in ${section}.url`,
    );
  return `${url.protocol}//${url.host}`;
}

/** @param texts what the section says, by key; paths are relative to `directory`. Throws Failure. */
export function readCertificates(
  texts: ReadonlyMap<string, string>,
  section: string,
  directory: string,
): Certificates {
  if (texts.has("cert") !== texts.has("key"))
    throw new UserError(`${section}.cert and ${section}.key belong together`, "give both, or neither");
  return Object.fromEntries(
    PATHS.flatMap((name) => {
      const path = texts.get(name);
      return path === undefined
        ? []
        : [[name, readCertificate(resolve(directory, path), `${section}.${name}`)]];
    }),
  );
}

function readCertificate(path: string, key: string): string {
  const bytes = files.readFile(path, LARGEST_CERTIFICATE);
  if (typeof bytes === "string") throw new UserError(`Cannot read ${key}, ${oneLine(path)}: ${bytes}`);
  return new TextDecoder().decode(bytes);
}

/** Throws Failure for a name that no header has. */
export function requireHeaderName(name: string, section: string): void {
  if (/^[a-z\d_.-]+$/.test(name) && !name.startsWith("grpc-")) return;
  throw new UserError(`${section}.headers.${oneLine(name)} is no name of a header`, "they are in lower case");
}

/** The variables that a header's value mentions. */
export function variablesIn(value: string): string[] {
  return [...value.matchAll(MENTION)].map(([, name]) => name!);
}

/** @param key of the header, for people @param variable "" and undefined are not set. Throws Failure. */
export function fillHeader(
  value: string,
  key: string,
  variable: (name: string) => string | undefined,
): string {
  const filled = value.replace(MENTION, (_, name: string) => {
    const found = variable(name);
    if (found === undefined || found === "") throw new UserError(`${name} is not set, which ${key} needs`);
    return found;
  });
  if (!/^[\x20-\x7e]*$/.test(filled))
    throw new UserError(`${key} has characters in it that no header may have`);
  return filled;
}
