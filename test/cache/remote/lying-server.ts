// A shared cache that stores artifacts, and whose responses a test can change.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";

export interface Kept {
  bytes: Uint8Array;
  readonly headers: Record<string, string>;
}

export interface LyingServer extends AsyncDisposable {
  readonly url: string;
  readonly kept: Map<string, Kept>;
  /** "METHOD ID" of each request, in order. */
  readonly calls: string[];
  /** The latest stored index and archive. */
  index(): Kept;
  contents(): Kept;
}

/** @param lie replaces the response; undefined leaves it unchanged @param tls the certificate for https */
export function startLyingServer(
  lie: (
    request: Request,
    id: string,
    server: LyingServer,
  ) => Response | undefined | Promise<Response | undefined> = () => undefined,
  tls?: { readonly key: string; readonly cert: string },
): LyingServer {
  const kept = new Map<string, Kept>();
  const calls: string[] = [];
  const last = (isIndex: boolean) =>
    [...kept.values()].findLast(({ bytes }) => isIndexOf(bytes) === isIndex)!;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    ...(tls && { tls }),
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const id = pathname.slice(pathname.lastIndexOf("/") + 1);
      if (id !== "events") calls.push(`${request.method} ${id}`);
      const answer = await lie(request, id, lying);
      if (answer) return answer;
      if (request.method === "PUT") {
        const headers = Object.fromEntries(
          ["x-artifact-tag", "x-artifact-duration"].flatMap((name) => {
            const value = request.headers.get(name);
            return value === null ? [] : [[name, value]];
          }),
        );
        kept.set(id, { bytes: await request.bytes(), headers });
        return Response.json({});
      }
      const found = kept.get(id);
      return found
        ? new Response(found.bytes as BodyInit, { headers: found.headers })
        : new Response("", { status: 404 });
    },
  });
  const lying: LyingServer = {
    url: server.url.origin,
    kept,
    calls,
    index: () => last(true),
    contents: () => last(false),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
  return lying;
}

function isIndexOf(bytes: Uint8Array): boolean {
  return zstdDecompressSync(bytes)[0] === 0x7b; // "{"
}

/** Changes the entries of an index. */
export function editIndex(index: Kept, edit: (entries: any[]) => void): void {
  const value = JSON.parse(zstdDecompressSync(index.bytes).toString()) as { entries: any[] };
  edit(value.entries);
  index.bytes = zstdCompressSync(JSON.stringify(value));
}

/** Changes the archive of an entry. */
export function editTar(contents: Kept, edit: (tar: Buffer) => Uint8Array): void {
  contents.bytes = zstdCompressSync(edit(zstdDecompressSync(contents.bytes)));
}
