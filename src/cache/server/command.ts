// Implements `rt cache serve` and `rt cache token`.
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { errorCode, errorMessage } from "../../../platform/caught-error.ts";
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";
import { cacheDirectory } from "../../config/cache-directory.ts";
import { startServer } from "./server.ts";
import { ArtifactStores } from "./artifact-stores.ts";
import { ACCESSES, addToken, Tokens } from "./tokens.ts";
import { printLine, reportLine } from "../../output.ts";

const MEGABYTE = 1_000_000;
/** Milliseconds: grace period of pending requests. Service managers kill after a longer time. */
const LAST_ANSWERS = 5000;

const SERVE_HELP = `Serve a cache that others share: for [cache.remote] of rt, for turbo and for nx

USAGE
  rt cache serve --tokens=<file> [options]

OPTIONS
  --tokens=<file>  Who may use it: lines that rt cache token writes; read again when it changes
  --host=<name>    Where it listens (default 127.0.0.1)
  --port=<number>  0 for a free one (default 8317)
  --store=<dir>    Where it keeps what it is given (default rt/served below the user's cache directory)
  --size=<MB>      What is used longest ago goes when there is more (default 20000);
                   with write-own tokens, these have a quarter of it, in equal parts
  --largest=<MB>   Artifacts that are larger are refused (default 512)

It speaks HTTP; in front of other networks than your own put a proxy with HTTPS.
rt help shared-cache describes how clients find it.`;

const TOKEN_HELP = `Make a token for a cache that is served, and print it: the file has only its hash

USAGE
  rt cache token <file> <name> <read|write|write-own>

  read       gets what the main scope has
  write      reads and writes the main scope: for the builds of protected branches
  write-own  reads the main scope, and writes one of its own, which only it reads: for pull requests`;

/** Returns undefined while the server runs. @throws UserError */
export function serveCache(args: readonly string[]): string | undefined {
  if (asksForHelp(args)) return SERVE_HELP;
  const { values, positionals } = readWords(args, {
    tokens: { type: "string" },
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "8317" },
    store: { type: "string" },
    size: { type: "string", default: "20000" },
    largest: { type: "string", default: "512" },
  });
  const text = values as Readonly<Record<string, string | undefined>>;
  const [word] = positionals;
  if (word !== undefined)
    throw new UserError(`Unexpected argument "${oneLine(word)}"`, "see rt cache serve --help");
  if (text.tokens === undefined)
    throw new UserError(
      "Missing --tokens",
      "create a token with rt cache token tokens.txt me write; then: rt cache serve --tokens=tokens.txt",
    );
  const directory = text.store === undefined ? ownDirectory() : resolve(text.store);
  const tokens = new Tokens(text.tokens, warn);
  const stores = openShelves(directory, readNumber("size", text.size!) * MEGABYTE, tokens.scopes);
  const maxSize = readNumber("largest", text.largest!) * MEGABYTE;
  const server = listen(text.host!, readNumber("port", text.port!, 65_535, 0), (hostname, port) =>
    startServer({ hostname, port, tokens, stores, maxSize, warn }),
  );
  const end = endWhenAsked(server);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);
  const { count } = tokens;
  const size = `${(stores.size / MEGABYTE).toFixed(1)} MB in ${oneLine(directory)}`;
  printLine(`Serving at ${server.url.href}: ${count} ${count === 1 ? "token" : "tokens"}, ${size}`);
  return undefined;
}

/** Stops the server after pending requests, or after the grace period. A second signal stops it at once. */
function endWhenAsked(server: { stop(isAtOnce?: boolean): unknown }): () => void {
  let isAsked = false;
  return () => {
    void server.stop(isAsked);
    if (!isAsked) setTimeout(() => void server.stop(true), LAST_ANSWERS).unref();
    isAsked = true;
  };
}

/** Returns the token. @throws UserError */
export function makeToken(args: readonly string[]): string {
  if (asksForHelp(args)) return TOKEN_HELP;
  const [file, name, access, ...rest] = readWords(args, {}).positionals;
  if (file === undefined || name === undefined || access === undefined || rest.length > 0)
    throw new UserError(
      "rt cache token needs a file, a name and an access",
      `as in: rt cache token tokens.txt main write; accesses are ${ACCESSES.join(", ")}`,
    );
  try {
    return addToken(file, name, access);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    throw new UserError(`Cannot write ${oneLine(file)} (${code})`);
  }
}

function warn(line: string): void {
  reportLine(`error: ${oneLine(line)}`);
}

function asksForHelp(args: readonly string[]): boolean {
  return args.some((word) => word === "--help" || word === "-h");
}

type ServeOptions = NonNullable<Parameters<typeof parseArgs>[0]>["options"];

function readWords(args: readonly string[], options: ServeOptions) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const [message = ""] = errorMessage(error).split(/\.(?:\s|$)/, 1);
    throw new UserError(oneLine(message), "see rt cache serve --help");
  }
}

function readNumber(name: string, text: string, most = 1_000_000_000, least = 1): number {
  if (/^\d{1,12}$/.test(text) && Number(text) <= most && Number(text) >= least) return Number(text);
  throw new UserError(`--${name} needs a whole number from ${least} to ${most}, not "${oneLine(text)}"`);
}

function ownDirectory(): string {
  const directory = cacheDirectory();
  if (directory !== undefined) return join(directory, "served");
  throw new UserError("Missing storage directory", "use --store=<directory>");
}

function openShelves(directory: string, limit: number, scopes: readonly string[]): ArtifactStores {
  try {
    return new ArtifactStores(directory, limit, scopes);
  } catch (error) {
    throw new UserError(
      `Cannot open the storage directory: ${oneLine(errorMessage(error))}`,
      "use --store=<directory>",
    );
  }
}

function listen<Server>(
  hostname: string,
  port: number,
  start: (hostname: string, port: number) => Server,
): Server {
  try {
    return start(hostname, port);
  } catch (error) {
    const code = errorCode(error) ?? "unknown";
    const where = `${oneLine(hostname)}:${port}`;
    throw new UserError(
      code === "EADDRINUSE" ? `Address already in use: ${where}` : `Cannot listen at ${where} (${code})`,
      "use another --host or --port; --port=0 selects a free port",
    );
  }
}
