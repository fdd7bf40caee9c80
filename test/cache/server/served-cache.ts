// A running `rt cache serve` with a token of each access.
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createProject } from "../../support/project.ts";
import { type Environment, RT, runRt, startRt } from "../../support/rt.ts";

export interface ServedCache extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  /** The directory of the store, and the token file. */
  readonly store: string;
  readonly file: string;
  /** "main" has write access, "reader" read access, "pr-1" and "pr-2" write-own access. */
  readonly tokens: Readonly<Record<"main" | "reader" | "pr-1" | "pr-2", string>>;
  /** Sends a request with this token. */
  ask(token: string, path: string, init?: RequestInit): Promise<Response>;
  /** Sends a signal without waiting. */
  stop(signal: NodeJS.Signals): void;
  /** Sends SIGTERM and waits for the end. */
  end(): Promise<{ readonly status: number; readonly stderr: string }>;
}

const ACCESSES = { main: "write", reader: "read", "pr-1": "write-own", "pr-2": "write-own" } as const;

/** Mounts a disk of this size in a separate namespace. */
const ON_SMALL = 'mount -t tmpfs -o size="$1",mode=700 none "$2" && shift 2 && exec "$@"';

interface IssuedTokens {
  /** The content of the token file. */
  readonly text: string;
  readonly tokens: Readonly<Record<string, string>>;
}

/** One token file for all servers of a test file. */
let issued: Promise<IssuedTokens> | undefined;

async function issueTokens(): Promise<IssuedTokens> {
  await using folder = await createProject();
  const file = folder.join("tokens.txt");
  const tokens: Record<string, string> = {};
  for (const [name, access] of Object.entries(ACCESSES)) {
    const { stdout, stderr } = await runRt({ args: ["cache", "token", file, name, access] });
    if (stderr !== "") throw new Error(stderr);
    tokens[name] = stdout.trim();
  }
  if (((await stat(file)).mode & 0o777) !== 0o600) throw new Error("Other users may use the token file");
  return { text: await readFile(file, "utf8"), tokens };
}

/** @param room size of the store's disk in bytes; by default the store is on the normal disk */
export async function serveCache(options: readonly string[] = [], room?: number): Promise<ServedCache> {
  const folder = await createProject(room === undefined ? {} : { "store/.keep": "" });
  const file = folder.join("tokens.txt");
  const { text, tokens } = await (issued ??= issueTokens());
  await writeFile(file, text, { mode: 0o600 });
  const store = folder.join("store");
  const args = ["cache", "serve", `--tokens=${file}`, "--port=0", `--store=${store}`, ...options];
  const small = ["unshare", "-Urm", "bash", "-c", ON_SMALL, "bash", String(room), store, RT];
  const server = startRt({ args, ...(room !== undefined && { program: small }) });
  const url = await readUrl(server.stdout);
  return {
    url,
    store,
    file,
    tokens,
    ask: async (token, path, init) =>
      await fetch(`${url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...init?.headers },
      }),
    stop: (signal) => server.kill(signal),
    async end() {
      server.kill("SIGTERM");
      return { status: await server.exited, stderr: await new Response(server.stderr).text() };
    },
    async [Symbol.asyncDispose]() {
      server.kill("SIGKILL");
      await server.exited;
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function readUrl(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of output) {
    text += new TextDecoder().decode(chunk);
    const [, url] = /^Serving at (\S+)\/: .*\n/.exec(text) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`it does not serve: ${text}`);
}

export const KEY = "a-key-that-all-of-the-team-have";

/** The environment variables of a client. */
export function variablesFor(
  { url, tokens }: ServedCache,
  name: keyof ServedCache["tokens"] = "main",
): Environment {
  return {
    TURBO_API: url,
    TURBO_TEAM: "acme",
    TURBO_TOKEN: tokens[name],
    TURBO_REMOTE_CACHE_SIGNATURE_KEY: KEY,
  };
}

/** Counts the files of a store; one blob can have several names. */
export async function countIn(store: string): Promise<{ readonly blobs: number; readonly names: number }> {
  const count = async (name: string) => {
    const found = await readdir(`${store}/${name}`, { recursive: true, withFileTypes: true });
    return found.filter((each) => each.isFile()).length;
  };
  return { blobs: await count("blobs"), names: await count("names") };
}
