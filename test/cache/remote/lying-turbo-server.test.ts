// With a faulty or malicious turbo server, a script runs or has exactly its own outputs. No other file is written.
import { expect, test } from "bun:test";
import { readdir, rm } from "node:fs/promises";
import { zstdCompressSync } from "node:zlib";
import { createCertificates } from "../../support/servers/certificates.ts";
import { startRt } from "../../support/rt.ts";
import { trustAll } from "../../support/trusted.ts";
import { CAN_TRACE, cachedProject, type CachedProject, forget } from "../cached-project.ts";
import { editIndex, editTar, type LyingServer, startLyingServer } from "./lying-server.ts";
import { KEY } from "../server/served-cache.ts";
import { expectReadingAfterSlowUpload } from "./slow-upload.ts";

const BUILD = "mkdir dist; cp page dist/page; ln -s page dist/link; chmod 755 dist/page; echo built";

async function projectFor(server: LyingServer, lines = ""): Promise<CachedProject> {
  const config = `build = true\n[cache.remote]\nurl = "${server.url}"\n${lines}`;
  return await cachedProject({ build: BUILD }, { page: "hello" }, config);
}

const VARIABLES = { TURBO_TOKEN: "t", TURBO_REMOTE_CACHE_SIGNATURE_KEY: KEY };

/** Runs without local cache and outputs. Returns whether it was a hit, and the warnings. */
async function runFresh(project: CachedProject, variables: Record<string, string> = VARIABLES) {
  await forget(project);
  await rm(project.join("dist"), { recursive: true, force: true });
  const { stderr, stdout, status } = await project.rt(
    ["--cache=local:rw,remote:r", "run", "build"],
    variables,
  );
  expect({ stdout, status }).toEqual({ stdout: "built\n", status: 0 });
  expect(await Bun.file(project.join("dist/page")).text()).toBe("hello");
  const lines = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("$ "));
  return {
    isHit: lines.at(-1)?.startsWith("Cached (saved ") ?? false,
    warnings: lines.filter((line) => /^warn/.test(line)),
  };
}

const RAN = { isHit: false, warnings: [] };
const INVALID = "warning: Shared cache: invalid signature, ignored";
const MISSING =
  "warning: Shared cache: a result without a signature is ignored; does the server store signatures?";

test.skipIf(!CAN_TRACE)("an artifact without a valid signature is not used, with one warning", async () => {
  await using server = startLyingServer();
  await using project = await projectFor(server);
  await project.rt(["run", "build"], VARIABLES);
  expect(await runFresh(project)).toEqual({ isHit: true, warnings: [] });
  const whole = new Map(
    [...server.kept].map(([id, { bytes, headers }]) => [id, { bytes, headers: { ...headers } }]),
  );
  const [index, contents] = [server.index(), server.contents()];
  for (const { headers } of [index, contents]) expect(headers["x-artifact-duration"]).toMatch(/^\d+$/);
  const lies: [() => void, warning: string][] = [
    [() => (index.bytes = flip(index.bytes)), INVALID],
    [() => (contents.bytes = flip(contents.bytes)), INVALID],
    [() => delete index.headers["x-artifact-tag"], MISSING],
    // The content has a valid signature for another name.
    [() => Object.assign(index, structuredClone(contents)), INVALID],
  ];
  for (const [lie, warning] of lies) {
    lie();
    expect(await runFresh(project)).toEqual({ isHit: false, warnings: [warning] });
    for (const [id, { bytes, headers }] of whole) {
      const kept = server.kept.get(id)!;
      for (const name of Object.keys(kept.headers)) delete kept.headers[name];
      Object.assign(kept.headers, headers);
      kept.bytes = bytes;
    }
  }
  expect(await runFresh(project)).toEqual({ isHit: true, warnings: [] });
});

function flip(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  copy[copy.length - 9]! ^= 1;
  return copy;
}

/** Lists the project without the script's outputs. */
async function namesAround(project: CachedProject): Promise<string[]> {
  const names = await readdir(project.path, { recursive: true });
  return names.filter((name) => !name.startsWith("dist")).sort();
}

test.skipIf(!CAN_TRACE)(
  "a trusted server cannot write outside the package, nor content that does not match its digest",
  async () => {
    await using server = startLyingServer();
    await using outside = await cachedProject({});
    await using project = await projectFor(server, "signature = false");
    await project.rt(["run", "build"], VARIABLES);
    expect(await runFresh(project)).toEqual({ isHit: true, warnings: [] });
    const names = await namesAround(project);
    const before = await readdir(outside.path);
    const whole = new Map([...server.kept].map(([id, { bytes }]) => [id, bytes]));
    const file = (path: unknown) => (entries: any[]) => {
      const { outputs } = entries[0];
      outputs.push({ ...outputs.find((each: any) => each.kind === "file"), path });
    };
    const indexes: ((entries: any[]) => void)[] = [
      ...["../evil", ".git/hooks/pre-commit"].map(file),
      (entries) => entries[0].outputs.push({ kind: "link", path: "dist/evil", target: "../../evil" }),
    ];
    for (const edit of indexes) {
      editIndex(server.index(), edit);
      expect(await runFresh(project)).toEqual(RAN);
      expect(await namesAround(project)).toEqual(names);
      for (const [id, bytes] of whole) server.kept.get(id)!.bytes = bytes;
    }
    const tars: ((tar: Buffer) => Uint8Array)[] = [
      (tar) => ((tar[512]! ^= 1), tar), // other content
    ];
    for (const edit of tars) {
      editTar(server.contents(), edit);
      expect(await runFresh(project)).toEqual(RAN);
      for (const [id, bytes] of whole) server.kept.get(id)!.bytes = bytes;
    }
    // 4 GiB of zeros, compressed to 100 kB.
    const bomb = zstdCompressSync(new Uint8Array(64 << 20));
    server.index().bytes = Buffer.concat(Array.from({ length: 64 }, () => bomb));
    expect(await runFresh(project)).toEqual(RAN);
    expect(await readdir(outside.path)).toEqual(before);
  },
);

test.skipIf(!CAN_TRACE)(
  "a run handles redirects, endless bodies, retries and errors of the server",
  async () => {
    let lie: Parameters<typeof startLyingServer>[0] = () => undefined;
    await using server = startLyingServer((request, id, self) => lie!(request, id, self));
    const tokens: (string | null)[] = [];
    await using other = Bun.serve({
      port: 0,
      fetch(request) {
        tokens.push(request.headers.get("authorization"));
        const { bytes, headers } = server.kept.get(new URL(request.url).pathname.slice(1))!;
        return new Response(bytes as BodyInit, { headers });
      },
    });
    await using project = await projectFor(server);
    await project.rt(["run", "build"], VARIABLES);

    // Hosted servers redirect to a file store, which must not receive the token.
    lie = (_, id) => (id === "events" ? undefined : Response.redirect(`${other.url.origin}/${id}`, 302));
    expect(await runFresh(project)).toEqual({ isHit: true, warnings: [] });
    expect(tokens).toEqual([null, null]);
    lie = () => new Response("", { status: 302, headers: { location: "file:///etc/passwd" } });
    expect(await runFresh(project)).toEqual(RAN);
    lie = ({ url }) => Response.redirect(url, 307);
    server.calls.length = 0;
    expect(await runFresh(project)).toEqual(RAN);
    expect(server.calls.length).toBe(6);

    // A body without Content-Length that exceeds the size limit.
    lie = () => {
      const chunks = Array<Uint8Array>(17).fill(new Uint8Array(1 << 20));
      const body = new ReadableStream({
        pull(to) {
          const chunk = chunks.pop();
          if (chunk) to.enqueue(chunk);
          else to.close();
        },
      });
      return new Response(body);
    };
    expect(await runFresh(project)).toEqual(RAN);

    // A 429 response is retried once.
    const answers: Record<number, [count: number, warnings: string[]]> = {
      404: [1, []],
      429: [2, ["warning: Shared cache: unexpected response (429)"]],
    };
    for (const [status, [count, warnings]] of Object.entries(answers)) {
      lie = () => new Response("", { status: Number(status), headers: { "retry-after": "0" } });
      server.calls.length = 0;
      expect(await runFresh(project)).toEqual({ isHit: false, warnings });
      expect([status, server.calls.length]).toEqual([status, count]);
    }
    // A successful retry causes no warning.
    lie = () =>
      server.calls.length === 1
        ? new Response("", { status: 429, headers: { "retry-after": "0" } })
        : undefined;
    server.calls.length = 0;
    expect((await runFresh(project)).warnings).toEqual([]);
    lie = () => Response.json({ error: { code: "forbidden", message: "no" } }, { status: 403 });
    const forbidden = "warning: Shared cache: access denied (403); continuing without it";
    expect(await runFresh(project)).toEqual({ isHit: false, warnings: [forbidden] });

    // A refused upload causes one warning, and no further upload.
    const uploads = async () => {
      server.calls.length = 0;
      await project.write({ page: "hello" });
      const { stderr, status } = await project.rt(["--force", "run", "build", "--if-present"], VARIABLES);
      expect(status).toBe(0);
      return {
        warnings: stderr.split("\n").filter((line) => line.startsWith("warn")),
        calls: server.calls.length,
      };
    };
    const taken: Record<string, [status: number, body: string]> = {
      "Shared cache: paused for this team; results are not uploaded": [
        403,
        '{"error":{"code":"remote_caching_paused"}}',
      ],
      "Shared cache: upload failed (500)": [500, ""],
      "Shared cache: upload failed (307)": [307, ""],
    };
    server.kept.clear();
    for (const [line, [status, body]] of Object.entries(taken)) {
      const headers = { location: `${other.url.origin}/x` };
      lie = ({ method }) => (method === "PUT" ? new Response(body, { status, headers }) : undefined);
      await rm(project.join("dist"), { recursive: true, force: true });
      expect(await uploads()).toEqual({ warnings: [`warning: ${line}`], calls: 2 });
    }
  },
);

test.skipIf(!CAN_TRACE)("SIGINT ends a run that waits for an upload or a response", async () => {
  for (const method of ["PUT", "GET"]) {
    const requested = Promise.withResolvers<void>();
    await using server = startLyingServer((request) => {
      if (request.method !== method) return undefined;
      requested.resolve();
      return new Promise<Response>(() => {});
    });
    await using project = await projectFor(server);
    const allowed = await trustAll(project.path, VARIABLES);
    const env = { XDG_CACHE_HOME: project.cache, ...VARIABLES, ...allowed };
    const child = startRt({ args: ["run", "build"], cwd: project.path, env });
    await requested.promise;
    child.kill("SIGINT");
    await child.exited;
    expect([method, child.signalCode]).toEqual([method, "SIGINT"]);
  }
});

test.skipIf(!CAN_TRACE)("a body shorter than its Content-Length is a miss", async () => {
  for (const promised of [1000, 10 ** 12]) {
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          socket.write(
            `HTTP/1.1 200 OK\r\nContent-Length: ${promised}\r\nConnection: close\r\n\r\ntoo short`,
          );
          socket.end();
        },
      },
    });
    const config = `build = true\n[cache.remote]\nurl = "http://127.0.0.1:${server.port}"\n`;
    await using project = await cachedProject({ build: BUILD }, { page: "hello" }, config);
    const { isHit, warnings } = await runFresh(project);
    expect(isHit).toBe(false);
    expect(warnings.length).toBeLessThan(2);
  }
});

test.skipIf(!CAN_TRACE)(
  "a server with an untrusted certificate receives no request, even with NODE_TLS_REJECT_UNAUTHORIZED=0",
  async () => {
    await using certificates = await createCertificates();
    await using server = startLyingServer(undefined, certificates);
    await using project = await projectFor(server);
    const { isHit, warnings } = await runFresh(project, { ...VARIABLES, NODE_TLS_REJECT_UNAUTHORIZED: "0" });
    expect({ isHit, calls: server.calls }).toEqual({ isHit: false, calls: [] });
    expect(warnings).toEqual([expect.stringMatching(/^warning: Shared cache: cannot connect \([\w-]+\)/)]);
  },
);

test.skipIf(!CAN_TRACE)(
  "a redirect is followed from http to https, and never from https to http",
  async () => {
    await using certificates = await createCertificates();
    await using plain = startLyingServer((request, id) => redirected(plain, request, id));
    await using safe = startLyingServer((request, id) => redirected(safe, request, id), certificates);
    let other = safe;
    let isRedirecting = false;
    function redirected(server: LyingServer, { method }: Request, id: string): Response | undefined {
      const isSent = isRedirecting && server !== other && method === "GET";
      return isSent ? Response.redirect(`${other.url}/${id}`, 307) : undefined;
    }
    const variables = { ...VARIABLES, NODE_EXTRA_CA_CERTS: certificates.authority };
    for (const [from, to, isHit] of [
      [plain, safe, true],
      [safe, plain, false],
    ] as const) {
      other = to;
      isRedirecting = false;
      await using project = await projectFor(from);
      await project.rt(["run", "build"], variables);
      for (const [id, kept] of from.kept) to.kept.set(id, kept);
      isRedirecting = true;
      to.calls.length = 0;
      expect(await runFresh(project, variables)).toEqual({ isHit, warnings: [] });
      expect(to.calls.length > 0).toBe(isHit);
    }
  },
);

test.skipIf(!CAN_TRACE)("a server that closes three connections gets no further request", async () => {
  let connections = 0;
  using server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open() {
        connections += 1;
      },
      data: (socket) => socket.terminate(),
    },
  });
  const names = ["a", "b", "c", "d", "e", "f"];
  const scripts = Object.fromEntries(names.map((name) => [name, "true"]));
  const lines = names.map((name) => `${name} = true\n`).join("");
  const config = `${lines}[cache.remote]\nurl = "http://127.0.0.1:${server.port}"\n`;
  await using project = await cachedProject(scripts, {}, config);
  const args = ["--cache=local:rw,remote:r", "--sequential", "run", ...names];
  const { stderr, status } = await project.rt(args, VARIABLES);
  expect([status, connections]).toEqual([0, 3]);
  expect(stderr.match(/Shared cache: cannot connect/g)).toHaveLength(1);
});

test.skipIf(!CAN_TRACE)("a slow upload disables further uploads, but not reads", async () => {
  let isSlow = false;
  await using server = startLyingServer(({ method }) =>
    isSlow && method === "PUT" ? new Promise<Response>(() => {}) : undefined,
  );
  await expectReadingAfterSlowUpload(server.url, VARIABLES, () => (isSlow = true));
});
