// Keys of rtfig.toml for a shared cache.
import { expect } from "bun:test";
import { cachedProject, CAN_TRACE } from "../cache/cached-project.ts";
import { KEY } from "../cache/server/served-cache.ts";
import { effect } from "./effects.ts";

interface Recorded {
  readonly path: string;
  readonly headers: Headers;
}

/** Runs a script with these lines of [cache.remote] and returns its requests to an empty server. */
async function requestsWith(lines: string, env: Record<string, string | undefined> = {}) {
  const requests: Recorded[] = [];
  await using server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      requests.push({
        path: `${request.method} ${pathname.replace(/[\da-f]{64}/, "ID")}${search}`,
        headers: request.headers,
      });
      await request.bytes();
      return new Response("", { status: request.method === "PUT" ? 200 : 404 });
    },
  });
  const table = `[cache.remote]\nurl = "${server.url.origin}/below/"\n${lines}\n`;
  await using project = await cachedProject({ build: "echo" }, {}, `build = true\n${table}`);
  const variables = { TURBO_TOKEN: "t", TURBO_REMOTE_CACHE_SIGNATURE_KEY: KEY, ...env };
  const { stderr, status } = await project.rt(["run", "build"], variables);
  return { requests, stderr, status, paths: requests.map(({ path }) => path) };
}

const CALLS = ["GET ID", "HEAD ID", "PUT ID", "GET ID", "PUT ID", "POST events"];
const callsWith = (query: string) =>
  CALLS.map((each) => `${each.replace(" ", " /below/v8/artifacts/")}${query}`);

effect("cache.remote.url", "is the address of the server, with a path", async () => {
  if (!CAN_TRACE) return;
  const { paths, status } = await requestsWith("");
  expect({ paths, status }).toEqual({ paths: callsWith(""), status: 0 });
});

effect("cache.remote.enabled", "enables the shared cache", async () => {
  if (!CAN_TRACE) return;
  expect((await requestsWith("enabled = false")).paths).toEqual([]);
});

effect("cache.remote.team", "sets the team; a variable wins", async () => {
  if (!CAN_TRACE) return;
  expect((await requestsWith('team = "acme & co"')).paths).toEqual(callsWith("?slug=acme+%26+co"));
  expect((await requestsWith('team = "acme"', { TURBO_TEAM: "other" })).paths).toEqual(
    callsWith("?slug=other"),
  );
});

effect("cache.remote.team-id", "sets the team by its id", async () => {
  if (!CAN_TRACE) return;
  const { paths } = await requestsWith('team = "acme"\nteam-id = "team_1"');
  expect(paths).toEqual(callsWith("?teamId=team_1&slug=acme"));
});

effect("cache.remote.token", "names the variable of the token; TURBO_TOKEN wins", async () => {
  if (!CAN_TRACE) return;
  const { requests } = await requestsWith('token = "$MINE"', { MINE: "m", TURBO_TOKEN: undefined });
  const sent = (all: typeof requests) => new Set(all.map(({ headers }) => headers.get("authorization")));
  expect(sent(requests)).toEqual(new Set(["Bearer m"]));
  const both = await requestsWith('token = "$MINE"', { MINE: "m", TURBO_TOKEN: "turbo" });
  expect(sent(both.requests)).toEqual(new Set(["Bearer turbo"]));
  const { stderr, status, paths } = await requestsWith('token = "hunter2"');
  expect({ stderr, status, paths }).toEqual({
    stderr:
      "error: rtfig.toml: cache.remote.token is the name of a variable, not its value\n" +
      'hint: set TURBO_TOKEN to the value, and add to [cache.remote] of rtfig.toml: token = "$TURBO_TOKEN"\n',
    status: 1,
    paths: [],
  });
});

effect("cache.remote.signature-key", "names the variable of the key", async () => {
  if (!CAN_TRACE) return;
  const lines = 'signature-key = "$MINE"';
  expect((await requestsWith(lines, { TURBO_REMOTE_CACHE_SIGNATURE_KEY: undefined })).stderr).toContain(
    "warning: shared cache disabled: MINE is not set\n",
  );
  const { requests } = await requestsWith(lines, { MINE: "m", TURBO_REMOTE_CACHE_SIGNATURE_KEY: undefined });
  expect(requests[2]!.headers.get("x-artifact-tag")).toMatch(/^[\w+/]{43}=$/);
});

effect("cache.remote.signature", "enables signatures of artifacts", async () => {
  if (!CAN_TRACE) return;
  const { requests } = await requestsWith("signature = false");
  expect(requests[2]!.headers.has("x-artifact-tag")).toBe(false);
});

effect("cache.remote.timeout", "limits the time of one response", async () => {
  if (!CAN_TRACE) return;
  await using silent = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
  const env = { TURBO_API: silent.url.origin };
  const line = "warning: Shared cache: no response within 1 s; continuing without it\n";
  const { stderr, status } = await requestsWith("timeout = 1", env);
  expect({ stderr, status }).toEqual({ stderr: `${line}$ echo\n`, status: 0 });
  expect((await requestsWith("", { ...env, TURBO_REMOTE_CACHE_TIMEOUT: "1" })).stderr).toContain(line);
});

effect("cache.remote.upload-timeout", "limits the wait for uploads at the end of a run", async () => {
  if (!CAN_TRACE) return;
  await using slow = Bun.serve({
    port: 0,
    fetch: ({ method }) =>
      method === "PUT" ? new Promise<Response>(() => {}) : new Response("", { status: 404 }),
  });
  const { stderr, status } = await requestsWith("upload-timeout = 1", { TURBO_API: slow.url.origin });
  expect({ stderr, status }).toEqual({ stderr: expect.stringContaining(" within 1 s"), status: 0 });
});
