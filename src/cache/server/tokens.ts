// Reads the token file of `rt cache serve`: one line per token, `<name> <access> <SHA-256 of the token>`.
//
//   read       reads the main scope
//   write      reads and writes the main scope
//   write-own  reads the main scope; reads and writes a separate scope
//
// Invariants:
// - The file stores hashes only. A token has 32 random bytes, so its hash cannot be inverted. Comparisons take
//   constant time.
// - The file is reloaded when it changes. While it is unreadable, all requests are rejected.
import { timingSafeEqual } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";
import { hashBytes } from "../store/file-hash-cache.ts";

export const ACCESSES = ["read", "write", "write-own"] as const;
export type TokenAccess = (typeof ACCESSES)[number];

export interface Token {
  readonly name: string;
  readonly access: TokenAccess;
  /** Hexadecimal. */
  readonly hash: string;
}

const NAME = /^[\w.-]{1,64}$/;

/** @throws UserError with the number of the invalid line */
function parseTokens(text: string, file: string): Token[] {
  const tokens: Token[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line.trim().split(/\s+/);
    if (words[0] === "" || words[0]!.startsWith("#")) continue;
    const [name = "", access, hash = "", ...rest] = words;
    const known = ACCESSES.find((each) => each === access);
    if (!known || !NAME.test(name) || !/^[\da-f]{64}$/.test(hash) || rest.length > 0)
      throw new UserError(
        `${oneLine(file)}:${index + 1} is not a valid token line`,
        "rt cache token <file> <name> <read|write|write-own> writes one",
      );
    if (tokens.some((each) => each.name === name))
      throw new UserError(
        `${oneLine(file)}:${index + 1} repeats the name "${name}"`,
        "give each token its own name",
      );
    tokens.push({ name, access: known, hash });
  }
  return tokens;
}

export class Tokens {
  readonly #file: string;
  readonly #warn: (line: string) => void;
  #stamp = "";
  #tokens: readonly Token[] = [];
  #printed = "";

  /**
   * @param warn called once per error when the file becomes unreadable
   * @throws UserError
   */
  constructor(file: string, warn: (line: string) => void) {
    this.#file = file;
    this.#warn = warn;
    this.#read();
  }

  get count(): number {
    return this.#tokens.length;
  }

  /** Names of the tokens with a separate scope. */
  get scopes(): string[] {
    return this.#tokens.filter(({ access }) => access === "write-own").map(({ name }) => name);
  }

  /** @param header "Bearer ..." */
  find(header: string | null): Token | undefined {
    this.#readAgain();
    const [, given = ""] = /^Bearer (\S+)$/i.exec(header ?? "") ?? [];
    const hash = Buffer.from(hashBytes(given), "hex");
    let found: Token | undefined;
    for (const token of this.#tokens)
      if (timingSafeEqual(hash, Buffer.from(token.hash, "hex"))) found = token;
    return found;
  }

  #readAgain(): void {
    try {
      if (stampOf(this.#file) === this.#stamp) return;
      this.#read();
      this.#printed = "";
    } catch (error) {
      this.#tokens = [];
      const { message: line } = explain(this.#file, error as NodeJS.ErrnoException);
      if (line !== this.#printed) this.#warn(line);
      this.#printed = line;
    }
  }

  #read(): void {
    try {
      const stamp = stampOf(this.#file);
      this.#tokens = parseTokens(readFileSync(this.#file, "utf8"), this.#file);
      this.#stamp = stamp;
    } catch (error) {
      this.#stamp = "";
      throw explain(this.#file, error as NodeJS.ErrnoException);
    }
  }
}

/** Converts the system's errors; returns others unchanged. */
function explain(file: string, error: NodeJS.ErrnoException): Error {
  if (error.code === undefined) return error;
  return new UserError(
    `Cannot read the token file ${oneLine(file)} (${error.code})`,
    "rt cache token <file> <name> <read|write|write-own> creates one",
  );
}

/** @throws UserError if other users can write to the file */
function stampOf(file: string): string {
  const { ino, size, mtimeMs, ctimeMs, mode } = statSync(file);
  if (process.getuid && (mode & 0o022) !== 0)
    throw new UserError(`${oneLine(file)} is writable by other users`, `chmod 600 ${oneLine(file)}`);
  return [ino, size, mtimeMs, ctimeMs].join(":");
}

/** Adds a token to the file and returns it. @throws UserError */
export function addToken(file: string, name: string, access: string): string {
  if (!NAME.test(name))
    throw new UserError(
      `Invalid token name "${oneLine(name)}"`,
      "use letters, digits, dots and hyphens, 64 at most",
    );
  if (!ACCESSES.some((each) => each === access))
    throw new UserError(`Invalid access "${oneLine(access)}"`, `use one of: ${ACCESSES.join(", ")}`);
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (parseTokens(before, file).some((each) => each.name === name))
    throw new UserError(
      `${oneLine(file)} already has a token "${name}"`,
      "remove its line to revoke that token",
    );
  const token = `rtc_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url")}`;
  const gap = before === "" || before.endsWith("\n") ? "" : "\n";
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  try {
    appendFileSync(file, `${gap}${name} ${access} ${hashBytes(token)}\n`, { mode: 0o600 });
  } catch (error) {
    // Disk full: an incomplete line would invalidate the whole file.
    if (size !== undefined) truncateSync(file, size);
    else rmSync(file, { force: true });
    throw error;
  }
  return token;
}
