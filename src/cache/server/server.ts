// Serves a cache over HTTP: turbo's protocol under /v8/artifacts, nx's under /v1/cache.
//
// Invariants:
// - The token's access (tokens.ts) is checked before the request is processed.
// - Names never cross a namespace: an artifact of a `write-own` token is invisible to the main scope (cache
//   poisoning).
// - The server does not interpret artifacts. It only verifies their digest.
import { errorCode } from "../../../platform/caught-error.ts";
import { type StoredArtifact, NoRoomError, type ArtifactNamespace } from "./artifact-store.ts";
import { MAIN, type ArtifactStores } from "./artifact-stores.ts";
import type { Token, Tokens } from "./tokens.ts";

export interface ServerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly tokens: Tokens;
  readonly stores: ArtifactStores;
  /** Bytes of one artifact. */
  readonly maxSize: number;
  /** Reports errors that a client cannot fix. */
  warn(line: string): void;
}

interface ArtifactRequest {
  readonly request: Request;
  readonly url: URL;
  readonly token: Token;
  readonly options: ServerOptions;
}

const ID = /^[\w.=-]{1,128}$/;
const DAY = 86_400_000;
/** Bytes of a query, and number of its hashes. */
const MAX_QUERY_SIZE = 1 << 20;
const MAX_HASHES = 10_000;
const MAX_TEAM_LENGTH = 200;
const IDLE = 120; // seconds

export function startServer(options: ServerOptions) {
  const { hostname, port, maxSize } = options;
  return Bun.serve({
    hostname,
    port,
    // Otherwise the kernel would distribute connections among several servers on this port.
    reusePort: false,
    idleTimeout: IDLE,
    development: false,
    maxRequestBodySize: Math.max(maxSize, MAX_QUERY_SIZE),
    fetch: async (request) => await answer(request, options),
    error: () => problem(500, "internal_error", "Internal error"),
  });
}

async function answer(request: Request, options: ServerOptions): Promise<Response> {
  const url = readUrl(request);
  const { method } = request;
  const [, version, kind, id, ...rest] = url.pathname.split("/");
  const isTurbo = version === "v8" && kind === "artifacts";
  const isNx = version === "v1" && kind === "cache" && id !== undefined;
  if ((!isTurbo && !isNx) || rest.length > 0) return problem(404, "not_found", "Not found");
  if (method === "OPTIONS") return preflight();
  const token = findToken(request, options);
  if (isNx) return await asNxReads(token ? answerNx({ request, url, token, options }, id) : unknown());
  if (!token) return unknown();
  const call = { request, url, token, options };
  if (id === undefined || id === "") return method === "POST" ? await answerQuery(call) : notAllowed();
  if (id === "status") return Response.json({ status: "enabled" });
  if (id === "events") return Response.json({});
  if (!ID.test(id)) return problem(400, "bad_request", "Invalid hash");
  if (method === "GET" || method === "HEAD") return await send(call, id, "turbo");
  return method === "PUT" ? await receive(call, id, "turbo") : notAllowed();
}

/** Without a usable Host header (HTTP/1.0) the engine returns a path or an invalid URL. */
function readUrl({ url }: Request): URL {
  return new URL(`http://localhost${url.replace(/^https?:\/\/[^/]*/, "")}`);
}

async function answerNx(call: ArtifactRequest, id: string): Promise<Response> {
  if (!ID.test(id)) return problem(400, "bad_request", "Invalid hash");
  if (call.request.method === "GET") return await send(call, id, "nx");
  return call.request.method === "PUT" ? await receive(call, id, "nx") : notAllowed();
}

/** Converts errors to plain text. nx takes any other response for a server fault and aborts its run. */
async function asNxReads(answered: Response | Promise<Response>): Promise<Response> {
  const response = await answered;
  if (response.ok) return response;
  const { error } = (await response.json()) as { error: { message: string } };
  return new Response(error.message, { status: response.status, headers: { "content-type": "text/plain" } });
}

function findToken({ headers }: Request, { tokens, stores }: ServerOptions): Token | undefined {
  const token = tokens.find(headers.get("authorization"));
  // A missing token may be caused by an unreadable file, which must not delete scopes.
  if (token) stores.setScopes(tokens.scopes);
  return token;
}

/** Returns the namespaces that a token can read, in lookup order. */
function readable({ token }: ArtifactRequest, kind: string, team: string): ArtifactNamespace[] {
  const scopes = token.access === "write-own" ? [token.name, MAIN] : [MAIN];
  return scopes.map((scope) => ({ scope, team, kind }));
}

/** Returns undefined if the token has no write access. */
function writable({ token }: ArtifactRequest, kind: string, team: string): ArtifactNamespace | undefined {
  if (token.access === "read") return undefined;
  return { scope: token.access === "write-own" ? token.name : MAIN, team, kind };
}

function teamOf({ url }: ArtifactRequest): string | undefined {
  const { searchParams } = url;
  const team = searchParams.get("teamId") ?? searchParams.get("slug") ?? searchParams.get("team") ?? "";
  return team.length <= MAX_TEAM_LENGTH ? team : undefined;
}

function find(
  call: ArtifactRequest,
  id: string,
  kind: string,
): { namespace: ArtifactNamespace; artifact: StoredArtifact } | undefined {
  const team = teamOf(call);
  if (team === undefined) return undefined;
  for (const namespace of readable(call, kind, team)) {
    const artifact = call.options.stores.of(namespace.scope).find(namespace, id);
    if (artifact) return { namespace, artifact };
  }
  return undefined;
}

async function send(call: ArtifactRequest, id: string, kind: string): Promise<Response> {
  const found = find(call, id, kind);
  if (!found) return absent();
  const { namespace, artifact } = found;
  const headers = {
    "content-type": "application/octet-stream",
    "x-content-type-options": "nosniff",
    ...(artifact.duration !== "" && { "x-artifact-duration": artifact.duration }),
    ...(artifact.tag !== "" && { "x-artifact-tag": artifact.tag }),
  };
  const store = call.options.stores.of(namespace.scope);
  if (call.request.method === "HEAD") {
    if (!store.isThere(namespace, id, artifact)) return absent();
    return new Response(null, { headers: { ...headers, "content-length": String(artifact.size) } });
  }
  const path = await store.open(namespace, id, artifact);
  if (path === undefined) return absent();
  return new Response(Bun.file(path), { headers });
}

/** The disk or the user's quota is full. */
const FULL = ["ENOSPC", "EDQUOT"];
const WITHOUT_ROOM =
  ": the disk is full, so the least recently used artifacts were evicted; set a smaller --size";
const ONLY_FULL = ": the disk is full, and nothing can be evicted for this token";

async function receive(call: ArtifactRequest, id: string, kind: string): Promise<Response> {
  const { request, options } = call;
  const { stores, maxSize } = options;
  const team = teamOf(call);
  if (team === undefined) return problem(400, "bad_request", "Invalid team");
  const namespace = writable(call, kind, team);
  if (!namespace) return problem(403, "forbidden", "Token is read-only");
  const store = stores.of(namespace.scope);
  if (kind === "nx" && store.find(namespace, id)) return problem(409, "conflict", "Artifact already exists");
  const duration = request.headers.get("x-artifact-duration") ?? "";
  const tag = request.headers.get("x-artifact-tag") ?? "";
  if (!/^\d{0,12}$/.test(duration) || !/^[\w+/=-]{0,600}$/.test(tag) || Number(duration) > 365 * DAY)
    return problem(400, "bad_request", "Invalid headers");
  const promised = request.headers.get("content-length");
  try {
    const draft = await store.receive(request.body, maxSize);
    if (!draft) return tooLarge();
    if (promised !== null && Number(promised) !== draft.size) {
      store.drop(draft);
      return problem(400, "bad_request", "Upload aborted");
    }
    // The token may have been removed or changed during the upload (TOCTOU).
    const now = findToken(request, options);
    if (!now || writable({ ...call, token: now }, kind, team)?.scope !== namespace.scope) {
      store.drop(draft);
      return problem(401, "unauthorized", "Token no longer has write access");
    }
    store.put(namespace, id, draft, { duration, tag });
  } catch (error) {
    if (request.signal.aborted) return problem(400, "bad_request", "Upload aborted");
    if (error instanceof NoRoomError)
      return problem(503, "no_room", "Unfinished uploads use all space of this token");
    const code = errorCode(error) ?? "unknown";
    const reason = !FULL.includes(code) ? "" : stores.makeRoom(namespace.scope) ? WITHOUT_ROOM : ONLY_FULL;
    options.warn(`An artifact was not stored (${code})${reason}`);
    return problem(500, "not_kept", "Storage failed");
  }
  return kind === "nx" ? new Response("Successfully uploaded") : Response.json({ urls: [call.url.pathname] });
}

async function answerQuery(call: ArtifactRequest): Promise<Response> {
  const text = await readQuery(call.request);
  if (text === undefined) return tooLarge();
  let hashes: unknown;
  try {
    ({ hashes } = JSON.parse(text) as { hashes?: unknown });
  } catch {}
  if (Array.isArray(hashes) && hashes.length > MAX_HASHES) return tooLarge();
  if (!Array.isArray(hashes) || !hashes.every((each) => typeof each === "string" && ID.test(each)))
    return problem(400, "bad_request", 'Expected {"hashes": [...]}');
  const answers = hashes.map((hash: string) => {
    const artifact = find(call, hash, "turbo")?.artifact;
    return [
      hash,
      artifact
        ? {
            size: artifact.size,
            taskDurationMs: Number(artifact.duration),
            ...(artifact.tag !== "" && { tag: artifact.tag }),
          }
        : null,
    ];
  });
  return Response.json(Object.fromEntries(answers));
}

/** Returns undefined if the body is too large, regardless of Content-Length. */
async function readQuery({ body }: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_QUERY_SIZE) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Answers the CORS request of `turbo --preflight`. */
function preflight(): Response {
  const headers = {
    "access-control-allow-methods": "GET, HEAD, PUT, POST",
    "access-control-allow-headers":
      "authorization, content-type, user-agent, x-artifact-client-ci, x-artifact-duration, x-artifact-tag",
  };
  return new Response(null, { status: 204, headers });
}

function unknown(): Response {
  return problem(401, "unauthorized", "Missing or unknown token");
}

function absent(): Response {
  return problem(404, "not_found", "Artifact not found");
}

function notAllowed(): Response {
  return problem(405, "method_not_allowed", "Method not allowed");
}

function tooLarge(): Response {
  return problem(413, "too_large", "Too large for this server");
}

function problem(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}
