// Keys of [cache.remote] for a server of the Remote Execution API. test/cache/remote/reapi.test.ts tests the rest.
import { expect, test } from "bun:test";
import { cachedProject, CAN_TRACE } from "../cache/cached-project.ts";
import { createCertificates } from "../support/servers/certificates.ts";
import type { Files } from "../support/project.ts";
import { openReapiServer, type ReapiServer } from "../support/servers/reapi-server.ts";
import { effect } from "./effects.ts";

/** Runs a script with these lines of [cache.remote] and returns the exit code and the first messages. */
async function runWith(
  server: Pick<ReapiServer, "url">,
  lines: string,
  { files = {}, env = {} }: { files?: Files; env?: Record<string, string> } = {},
) {
  const table = `[cache.remote]\nurl = "${server.url}"\nsignature = false\ntimeout = 20\n${lines}\n`;
  await using project = await cachedProject({ build: "echo" }, files, `build = true\n${table}`);
  const { stderr, status } = await project.rt(["run", "build"], env);
  return { stderr: stderr.replace("$ echo\n", ""), status };
}

const FINE = { stderr: "", status: 0 };

effect("cache.remote.instance", "is sent with each call", async () => {
  if (!CAN_TRACE) return;
  await using server = await openReapiServer();
  expect(await runWith(server, 'instance = "main/two"')).toEqual(FINE);
  expect([server.instances, server.results.size]).toEqual([new Set(["main/two"]), 1]);
});

effect("cache.remote.headers.*", "is sent, with variables and secrets expanded", async () => {
  if (!CAN_TRACE) return;
  await using server = await openReapiServer();
  const table = '[cache.remote.headers]\nx-key = "Bearer ${KEY}, $KEY"\nx-plain = "acme"';
  // Variables for the address and the team of turbo's cache do not apply to this backend.
  const env = { KEY: "k1", TURBO_API: "http://127.0.0.1:1", TURBO_TOKEN: "t" };
  expect(await runWith(server, table, { env })).toEqual(FINE);
  const { headers } = server;
  expect([headers.get("x-key"), headers.get("x-plain"), headers.get("authorization")]).toEqual([
    "Bearer k1, k1",
    "acme",
    undefined,
  ]);
  const calls = server.calls.length;
  expect(await runWith(server, table)).toEqual({
    stderr:
      "warning: shared cache disabled: KEY is not set\n" +
      'hint: set it, or add to [secrets.KEY] of rtfig.toml: from = "service/KEY"\n',
    status: 0,
  });
  const bell = await runWith(server, table, { env: { KEY: "s3cret\u0007" } });
  expect(bell).toEqual({
    stderr:
      "warning: shared cache disabled: cache.remote.headers.x-key has characters that are invalid in a header\n",
    status: 0,
  });
  expect(server.calls.length).toBe(calls);
});

async function runBehindTls(names: readonly string[]) {
  await using certificates = await createCertificates();
  const { key, cert, authority } = certificates;
  const ca = await Bun.file(authority).text();
  await using server = await openReapiServer({}, { key, cert, ca });
  const files = { "ca.pem": ca, "cert.pem": cert, "key.pem": key };
  const result = await runWith(server, names.map((name) => `${name} = "${name}.pem"`).join("\n"), { files });
  return { ...result, results: server.results.size };
}

const UNREACHABLE = {
  stderr: "warning: Shared cache: cannot connect (UNAVAILABLE); continuing without it\n",
  status: 0,
  results: 0,
};

effect("cache.remote.ca", "verifies the server's certificate", async () => {
  if (!CAN_TRACE) return;
  expect(await runBehindTls(["ca", "cert", "key"])).toEqual({ ...FINE, results: 1 });
  expect(await runBehindTls(["cert", "key"])).toEqual(UNREACHABLE);
});

effect("cache.remote.cert", "identifies rt, together with the key", async () => {
  if (!CAN_TRACE) return;
  expect(await runBehindTls(["ca"])).toEqual(UNREACHABLE);
});

effect("cache.remote.key", "needs a certificate", async () => {
  if (!CAN_TRACE) return;
  const nowhere = { url: "grpcs://localhost:1" };
  for (const only of ["cert", "key"])
    expect(await runWith(nowhere, `${only} = "x.pem"`)).toEqual({
      stderr: "error: cache.remote.cert and cache.remote.key belong together\nhint: give both, or neither\n",
      status: 1,
    });
  const files = { "x.pem": "no certificate" };
  const { stderr, status } = await runWith(nowhere, 'ca = "x.pem"\ncert = "x.pem"\nkey = "x.pem"', { files });
  expect(stderr).toMatch(/^warning: Shared cache: can.*; continuing without it\n$/);
  expect(status).toBe(0);
});

test.skipIf(!CAN_TRACE)("invalid values of [cache.remote] fail before a script runs", async () => {
  const PORT = "grpc://example.com:1";
  const cases: [url: string, lines: string, message: string][] = [
    ["grpc://x/y", "", 'cache.remote.url is not a server address: "grpc://x/y"'],
    ["grpc://a:s3cret@x", "", "cache.remote.url has a password in it"],
    ["grpcs://10.0.0.1:9", "", "cache.remote.url needs a host name with grpcs://, not an IP address"],
    [PORT, '[cache.remote.headers]\nx-key = "k"', "[cache.remote.headers] would be sent unencrypted"],
    [
      "grpcs://example.com",
      '[cache.remote.headers]\nX-Key = "k"',
      "cache.remote.headers.X-Key is not a valid header name",
    ],
    [
      PORT,
      'token = "$T"',
      "rtfig.toml: cache.remote.token is for addresses that begin with https:// and http://",
    ],
    [
      "https://example.com",
      'instance = "x"',
      "rtfig.toml: cache.remote.instance is for addresses that begin with grpcs:// and grpc://",
    ],
    [
      "ftp://x",
      "",
      "The shared cache needs an address that begins with https:// or http://, or with grpcs:// or grpc:// in rtfig.toml",
    ],
  ];
  for (const [url, lines, message] of cases) {
    const { stderr, status } = await runWith({ url }, lines);
    expect([stderr.split("\n")[0], status]).toEqual([`error: ${message}`, 1]);
    expect(stderr).not.toContain("s3cret");
  }
});
