// Reads a release and its checksum files from a URL or a local path.
//
// Invariants:
// - Every read has a size limit.
// - A redirect never leads from https to another scheme.
// - Plain http is accepted only if the user passed the checksum.
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode, errorMessage, errorReason } from "../../../platform/caught-error.ts";
import { UserError } from "../../user-error.ts";
import { CONNECTION } from "./tls-policy.ts";
import { printable } from "../../printable.ts";

export interface Origin {
  /** Base name, which SHA256SUMS lists. */
  readonly name: string;
  read(): Promise<Uint8Array>;
  readBeside(name: string): Promise<Uint8Array>;
}

const MAX_SIZE = { archive: 256 * 1024 * 1024, beside: 1024 * 1024 } as const; // bytes
const MAX_REDIRECTS = 10;
const WITHOUT_SUMS =
  "pass the checksum with --sha256, or put SHA256SUMS and SHA256SUMS.minisig beside the file";

/**
 * Opens a source without reading it. A local file must exist.
 * @param hasSum whether the user passed the checksum
 * @throws UserError for an unsupported URL or a missing file
 */
export function openOrigin(source: string, hasSum: boolean): Origin {
  const isAddress = /^[a-z][a-z0-9+.-]+:\/\//i.test(source);
  const url = isAddress ? parseAddress(source) : undefined;
  if (!url || url.protocol === "file:") {
    const path = url ? pathOf(url) : resolve(source);
    checkLocal(path, MAX_SIZE.archive);
    return {
      name: basename(path),
      read: async () => readLocal(path, MAX_SIZE.archive),
      readBeside: async (name) => readLocal(join(dirname(path), name), MAX_SIZE.beside, WITHOUT_SUMS),
    };
  }
  if (url.protocol === "http:" && !hasSum)
    throw new UserError(
      "A download over http can be replaced by an attacker",
      "use https, or pass the checksum with --sha256",
    );
  return {
    name: nameOf(url),
    read: async () => await download(url, MAX_SIZE.archive),
    readBeside: async (name) => await download(new URL(name, url), MAX_SIZE.beside, WITHOUT_SUMS),
  };
}

function isWeb({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}

function parseAddress(source: string): URL {
  const url = URL.parse(source);
  if (!url || !(isWeb(url) || url.protocol === "file:"))
    throw new UserError(
      `Unsupported URL "${url ? describe(url) : printable(source)}"`,
      "use an https URL or a file",
    );
  return url;
}

/** Returns the decoded last segment of a URL. @throws UserError for an invalid percent encoding */
function nameOf(url: URL): string {
  try {
    return decodeURIComponent(url.pathname.split("/").at(-1)!);
  } catch {
    throw new UserError(`Invalid percent encoding in "${describe(url)}"`, "write a % as %25");
  }
}

function pathOf(url: URL): string {
  try {
    return Bun.fileURLToPath(url);
  } catch {
    throw new UserError(`"${describe(url)}" is not the URL of a local file`, "use its path instead");
  }
}

/** Formats a URL for messages, without user name and password. */
function describe(url: URL): string {
  const shown = new URL(url);
  shown.username = shown.password = "";
  return printable(shown.href);
}

function tooLarge(name: string, most: number): UserError {
  return new UserError(
    `${name} is larger than ${most / 1024 / 1024} MB`,
    "nothing was changed; pass a release archive",
  );
}

/** @throws UserError unless it is a file of at most `most` bytes */
function checkLocal(path: string, most: number, hint?: string): void {
  const name = printable(path);
  let stats;
  try {
    stats = statSync(path);
  } catch (error) {
    throw cannotRead(path, error, hint);
  }
  if (!stats.isFile()) throw new UserError(`${name} is not a file`, hint);
  if (stats.size > most) throw tooLarge(name, most);
}

function readLocal(path: string, most: number, hint?: string): Buffer {
  checkLocal(path, most, hint);
  try {
    return readFileSync(path);
  } catch (error) {
    throw cannotRead(path, error, hint);
  }
}

function cannotRead(path: string, error: unknown, hint?: string): UserError {
  return new UserError(`Cannot read ${printable(path)} (${errorReason(error)})`, hint);
}

/** Sends one request without following redirects. */
async function request(url: URL): Promise<Response> {
  return await fetch(url, { ...CONNECTION, redirect: "manual" });
}

/** @param hint the hint for an unsuccessful status */
async function download(url: URL, most: number, hint?: string): Promise<Uint8Array> {
  try {
    const response = await followRedirects(url);
    if (response.ok) return await readBody(response, url, most);
    throw new UserError(`Cannot download ${describe(url)} (status ${response.status})`, hint);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const code = errorCode(error);
    const message = errorMessage(error);
    throw new UserError(
      `Cannot download ${describe(url)} (${printable(code ?? message)})`,
      "nothing was changed",
    );
  }
}

/** Follows redirects and returns the first other response. */
async function followRedirects(start: URL): Promise<Response> {
  let url = start;
  for (let remaining = MAX_REDIRECTS; ; remaining -= 1) {
    const response = await request(url);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, url);
    if (!next || !isWeb(next) || (url.protocol === "https:" && next.protocol !== "https:"))
      throw new UserError(
        `${describe(start)} redirects from https to ${next ? describe(next) : "an invalid URL"}`,
        "nothing was changed; use a URL that redirects to https only",
      );
    if (remaining === 0)
      throw new UserError(`Too many redirects from ${describe(start)}`, "nothing was changed");
    url = next;
  }
}

async function readBody({ body }: Response, url: URL, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > most) throw tooLarge(describe(url), most);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
