// Where an upgrade comes from: an address or a file, and what is beside it.
//
// Contract: nothing is read without bound. From https, no redirect leads to anything but https. Plain http is for what
// the user has given the checksum of.
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "../../user-error.ts";
import { CONNECTION } from "./tls-policy.ts";
import { printable } from "../../printable.ts";

export interface Origin {
  /** The last part of its name, which the release's checksums know it by. */
  readonly name: string;
  read(): Promise<Uint8Array>;
  readBeside(name: string): Promise<Uint8Array>;
}

const MOST = { archive: 256 * 1024 * 1024, beside: 1024 * 1024 } as const; // bytes
const MOST_REDIRECTS = 10;
const WITHOUT_SUMS =
  "give the checksum with --sha256, or put SHA256SUMS and SHA256SUMS.minisig beside the file";

/**
 * Reads nothing yet, but a file has to be there.
 * @param hasSum whether the user has given the checksum
 * @throws Failure for an address that nothing is fetched from
 */
export function openOrigin(source: string, hasSum: boolean): Origin {
  const isAddress = /^[a-z][a-z0-9+.-]+:\/\//i.test(source);
  const url = isAddress ? parseAddress(source) : undefined;
  if (!url || url.protocol === "file:") {
    const path = url ? pathOf(url) : resolve(source);
    checkLocal(path, MOST.archive);
    return {
      name: basename(path),
      read: async () => readLocal(path, MOST.archive),
      readBeside: async (name) => readLocal(join(dirname(path), name), MOST.beside, WITHOUT_SUMS),
    };
  }
  if (url.protocol === "http:" && !hasSum)
    throw new UserError(
      "Over http, anybody on the way could put something else in its place",
      "use https, or give the checksum with --sha256",
    );
  return {
    name: nameOf(url),
    read: async () => await download(url, MOST.archive),
    readBeside: async (name) => await download(new URL(name, url), MOST.beside, WITHOUT_SUMS),
  };
}

function isWeb({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}

function parseAddress(source: string): URL {
  const url = URL.parse(source);
  if (!url || !(isWeb(url) || url.protocol === "file:"))
    throw new UserError(
      `"${url ? describe(url) : printable(source)}" is no address that rt can fetch from`,
      "use https, or a file",
    );
  return url;
}

/** The last part of an address, as a file is named; throws for an address that stands for no text. */
function nameOf(url: URL): string {
  try {
    return decodeURIComponent(url.pathname.split("/").at(-1)!);
  } catch {
    throw new UserError(`"${describe(url)}" is no address that rt can fetch from`, "write a % as %25");
  }
}

function pathOf(url: URL): string {
  try {
    return Bun.fileURLToPath(url);
  } catch {
    throw new UserError(`"${describe(url)}" is no address of a file here`, "give its path instead");
  }
}

/** As it is shown: without the user and password that may be in it. */
function describe(url: URL): string {
  const shown = new URL(url);
  shown.username = shown.password = "";
  return printable(shown.href);
}

function tooLarge(name: string, most: number): UserError {
  return new UserError(
    `${name} is larger than ${most / 1024 / 1024} MB`,
    "nothing was changed; a release is smaller",
  );
}

/** @throws Failure unless it is a file of no more than so many bytes */
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
  return new UserError(`Cannot read ${printable(path)} (${(error as NodeJS.ErrnoException).code})`, hint);
}

/** One request; what follows from the answer is decided by who asked. */
async function request(url: URL): Promise<Response> {
  return await fetch(url, { ...CONNECTION, redirect: "manual" });
}

/** @param hint what to do when it is not there */
async function download(url: URL, most: number, hint?: string): Promise<Uint8Array> {
  try {
    const response = await follow(url);
    if (response.ok) return await readBody(response, url, most);
    throw new UserError(`Cannot download ${describe(url)} (status ${response.status})`, hint);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UserError(
      `Cannot download ${describe(url)} (${printable(code ?? message)})`,
      "nothing was changed",
    );
  }
}

/** The first answer that is no redirect. */
async function follow(start: URL): Promise<Response> {
  let url = start;
  for (let left = MOST_REDIRECTS; ; left -= 1) {
    const response = await request(url);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, url);
    if (!next || !isWeb(next) || (url.protocol === "https:" && next.protocol !== "https:"))
      throw new UserError(
        `${describe(start)} leads from https to ${next ? describe(next) : "an address that is none"}`,
        "nothing was changed; use an address that stays with https",
      );
    if (left === 0)
      throw new UserError(`${describe(start)} leads from one address to the next`, "nothing was changed");
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
