// `rt cache serve`: the protocols of turbo and nx, the isolation of write-own tokens, eviction and shutdown.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { chmod, readdir, rename, rm, stat, truncate, utimes } from "node:fs/promises";
import { createProject } from "../../support/project.ts";
import { resultOf } from "../../support/output.ts";
import { CAN_MOUNT } from "../../support/mounts.ts";
import { waitUntil } from "../../support/processes.ts";
import { REPOSITORY, RT, runRt, startRt } from "../../support/rt.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";
import { countIn, KEY, serveCache, type ServedCache, variablesFor } from "./served-cache.ts";

const TURBO = join(REPOSITORY, "node_modules/@turbo/linux-64/bin/turbo");

/** Prevents network requests of turbo and npm. */
const QUIET = {
  TURBO_TELEMETRY_DISABLED: "1",
  TURBO_NO_UPDATE_NOTIFIER: "1",
  npm_config_update_notifier: "false",
};

const TURBO_PATH = (hash: string) => `/v8/artifacts/${hash}?slug=acme`;
const NX_PATH = (hash: string) => `/v1/cache/${hash}`;

/** Returns the text of a successful response, otherwise the status. */
async function read(served: ServedCache, name: keyof ServedCache["tokens"], path: string) {
  const response = await served.ask(served.tokens[name], path);
  return response.status === 200 ? await response.text() : response.status;
}

async function write(
  served: ServedCache,
  name: keyof ServedCache["tokens"],
  path: string,
  body: BodyInit,
  headers: Record<string, string> = {},
) {
  const init = { method: "PUT", body, headers: { "content-type": "application/octet-stream", ...headers } };
  return (await served.ask(served.tokens[name], path, init)).status;
}

for (const [client, path] of [
  ["turbo", TURBO_PATH],
  ["nx", NX_PATH],
] as const)
  test(`only a write-own token reads the artifacts that it wrote, whichever came first: ${client}`, async () => {
    await using served = await serveCache();
    const names = ["main", "reader", "pr-1", "pr-2"] as const;
    const all = async (hash: string) =>
      Object.fromEntries(
        await Promise.all(names.map(async (name) => [name, await read(served, name, path(hash))])),
      );
    // The write-own token writes before the main scope.
    expect(await write(served, "pr-1", path("first"), "poison")).toBe(200);
    expect(await all("first")).toEqual({ main: 404, reader: 404, "pr-1": "poison", "pr-2": 404 });
    expect(await write(served, "main", path("first"), "good")).toBe(200);
    expect(await all("first")).toEqual({ main: "good", reader: "good", "pr-1": "poison", "pr-2": "good" });
    // The write-own token writes an existing name.
    expect(await write(served, "pr-2", path("first"), "poison")).toBe(200);
    expect(await all("first")).toEqual({ main: "good", reader: "good", "pr-1": "poison", "pr-2": "poison" });
    expect(await write(served, "pr-2", path("second"), "good")).toBe(200);
    expect(await all("second")).toMatchObject({ main: 404, reader: 404, "pr-1": 404 });
    expect(await write(served, "reader", path("third"), "poison")).toBe(403);
    expect(await all("third")).toEqual({ main: 404, reader: 404, "pr-1": 404, "pr-2": 404 });
    // The team name in the request does not change the scope.
    for (const [index, query] of ["teamId=main", "team=acme", "scope=main", "slug=acme"].entries()) {
      const at = `${path(`fourth-${index}`)}${path("").includes("?") ? "&" : "?"}${query}`;
      expect(await write(served, "pr-1", at, "poison")).toBe(200);
      expect(await read(served, "main", at)).toBe(404);
    }
    for (const hash of ["..%2F..%2Ftokens.txt", "a%00b", "%2e%2e", "x".repeat(200)])
      expect([400, 404]).toContain(await write(served, "pr-1", path(hash), "poison"));
    expect(await read(served, "pr-1", path("first"))).toBe("poison");
    // Equal content is stored once per scope.
    const stores = [served.store, ...(await ownStores(served))];
    const counts = await Promise.all(stores.map(async (store) => (await countIn(store)).blobs));
    expect(counts.toSorted()).toEqual([1, 1, 2]);
  });

async function ownStores({ store }: ServedCache): Promise<string[]> {
  return (await readdir(join(store, "own"))).map((name) => join(store, "own", name));
}

test("rt cache serve implements turbo's protocol, and rejects invalid requests", async () => {
  await using served = await serveCache(["--largest=1"]);
  const { main, "pr-1": own } = served.tokens;
  const ask = async (path: string, init?: RequestInit, token = main) => {
    const response = await served.ask(token, path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  };
  const tag = "a".repeat(43) + "=";
  const headers = { "x-artifact-duration": "1234", "x-artifact-tag": tag };
  expect(await write(served, "main", TURBO_PATH("0123456789abcdef"), "bytes", headers)).toBe(200);
  const got = await ask(TURBO_PATH("0123456789abcdef"));
  expect(got.text).toBe("bytes");
  expect(Object.fromEntries(got.headers)).toMatchObject({
    ...headers,
    "content-type": "application/octet-stream",
    "x-content-type-options": "nosniff",
  });
  const head = await ask(TURBO_PATH("0123456789abcdef"), { method: "HEAD" });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, "5"]);
  expect((await ask(TURBO_PATH("none"), { method: "HEAD" })).status).toBe(404);
  expect((await ask("/v8/artifacts/0123456789abcdef?slug=other")).status).toBe(404);
  const question = { method: "POST", body: '{"hashes":["0123456789abcdef","none"]}' };
  expect(JSON.parse((await ask("/v8/artifacts?slug=acme", question)).text)).toEqual({
    "0123456789abcdef": { size: 5, taskDurationMs: 1234, tag },
    none: null,
  });
  expect((await ask("/v8/artifacts/events?slug=acme", { method: "POST", body: "[]" })).status).toBe(200);
  const preflight = await fetch(`${served.url}/v8/artifacts/x`, { method: "OPTIONS" });
  expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization");
  // A rejected request stores nothing.
  for (const [status, path, init] of [
    [400, "/v8/artifacts", { method: "POST", body: '{"hashes":"all"}' }],
    [400, "/v8/artifacts", { method: "POST", body: "nonsense" }],
    [413, "/v8/artifacts", { method: "POST", body: JSON.stringify({ hashes: Array(10_001).fill("a") }) }],
    [400, TURBO_PATH("bad"), { method: "PUT", body: "x", headers: { "x-artifact-tag": "<b>" } }],
    [400, TURBO_PATH("bad"), { method: "PUT", body: "x", headers: { "x-artifact-duration": "soon" } }],
    [400, `/v8/artifacts/bad?slug=${"x".repeat(300)}`, { method: "PUT", body: "x" }],
    [413, TURBO_PATH("bad"), { method: "PUT", body: new Uint8Array(1_000_001) }],
    [405, TURBO_PATH("bad"), { method: "DELETE" }],
    [404, "/v9/artifacts/bad", {}],
    [404, "/v8/artifacts/bad/more", {}],
    [404, "/", {}],
  ] as const)
    expect([path, init, (await ask(path, init as RequestInit)).status]).toEqual([path, init, status]);
  expect((await ask(TURBO_PATH("bad"))).status).toBe(404);
  // A damaged blob is a miss, and is deleted.
  const [blob] = await Array.fromAsync(new Bun.Glob("blobs/*/*").scan(served.store));
  await Bun.write(join(served.store, blob!), "bytez");
  expect((await ask(TURBO_PATH("0123456789abcdef"), undefined, own)).status).toBe(404);
  expect(await countIn(served.store)).toEqual({ blobs: 0, names: 0 });
  expect(await served.end()).toEqual({ status: 0, stderr: "" });
});

test("rt cache serve implements nx's protocol, and evicts the least recently used artifacts", async () => {
  await using served = await serveCache(["--size=2"]);
  const content = (letter: string) => letter.repeat(600_000);
  const setTimes = async (year: number) => {
    const names = new Bun.Glob("names/*/*").scan({ cwd: served.store, absolute: true });
    const time = new Date(year, 1);
    for (const name of await Array.fromAsync(names))
      if ((await stat(name)).mtime > new Date(2020, 1)) await utimes(name, time, time);
  };
  for (const [letter, year] of [
    ["a", 2001],
    ["b", 2002],
  ] as const) {
    expect(await write(served, "main", NX_PATH(letter), content(letter))).toBe(200);
    await setTimes(year);
  }
  expect(await write(served, "main", NX_PATH("a"), "other")).toBe(409);
  // nx reports another error unless a refusal has this type.
  const strange = await fetch(`${served.url}${NX_PATH("a")}`);
  expect([strange.status, strange.headers.get("content-type"), await strange.text()]).toEqual([
    401,
    "text/plain",
    "Missing or unknown token",
  ]);
  // Two names share one blob. The blob is kept while one of its names remains.
  expect(await write(served, "main", NX_PATH("a2"), content("a"))).toBe(200);
  await setTimes(2000);
  expect(await read(served, "reader", NX_PATH("a2"))).toBe(content("a"));
  expect(await write(served, "main", NX_PATH("c"), content("c"))).toBe(200);
  expect(await read(served, "main", NX_PATH("b"))).toBe(404);
  expect(await read(served, "main", NX_PATH("a"))).toBe(404);
  expect(await read(served, "main", NX_PATH("a2"))).toBe(content("a"));
  expect(await read(served, "main", NX_PATH("c"))).toBe(content("c"));
});

test("a HEAD request marks an artifact as used, and returns 404 for a damaged one", async () => {
  await using served = await serveCache(["--size=2"]);
  const content = (letter: string) => letter.repeat(600_000);
  const isThere = async (hash: string) =>
    (await served.ask(served.tokens.main, TURBO_PATH(hash), { method: "HEAD" })).status;
  const stored = async (kind: string) =>
    await Array.fromAsync(new Bun.Glob(`${kind}/*/*`).scan({ cwd: served.store, absolute: true }));
  expect(await write(served, "main", TURBO_PATH("a"), content("a"))).toBe(200);
  const [first] = await stored("names");
  await utimes(first!, new Date(2001, 1), new Date(2001, 1));
  expect(await write(served, "main", TURBO_PATH("b"), content("b"))).toBe(200);
  const other = (await stored("names")).find((path) => path !== first);
  await utimes(other!, new Date(2002, 1), new Date(2002, 1));
  expect(await isThere("a")).toBe(200);
  expect(await write(served, "main", TURBO_PATH("c"), content("c"))).toBe(200);
  expect(await read(served, "main", TURBO_PATH("a"))).toBe(content("a"));
  expect(await isThere("b")).toBe(404);
  // The blobs are truncated or deleted.
  for (const path of await stored("blobs")) await truncate(path, 5);
  expect(await isThere("a")).toBe(404);
  for (const path of await stored("blobs")) await rm(path);
  expect(await isThere("c")).toBe(404);
  expect(await write(served, "main", TURBO_PATH("c"), content("c"))).toBe(200);
  expect(await read(served, "main", TURBO_PATH("c"))).toBe(content("c"));
});

test("rt cache serve rejects a query body over 1 MiB with 413 when it has no Content-Length", async () => {
  await using served = await serveCache(["--largest=8"]);
  const init = { method: "POST", body: chunksOf((1 << 20) + 1) };
  expect((await served.ask(served.tokens.reader, "/v8/artifacts", init)).status).toBe(413);
});

test("names of empty artifacts count toward --size and are evicted", async () => {
  await using served = await serveCache(["--size=8"]); // 1 MB for each of two tokens
  const own = served.tokens["pr-1"];
  for (let index = 0; index < 300; index += 1)
    expect((await served.ask(own, NX_PATH(`e${index}`), { method: "PUT", body: "" })).status).toBe(200);
  const counts = await Promise.all((await ownStores(served)).map(countIn));
  const names = counts.reduce((sum, each) => sum + each.names, 0);
  expect(names).toBeLessThan(1_000_000 / 4096);
  expect(names).toBeGreaterThan(100);
});

/** A body without Content-Length. */
function chunksOf(size: number): ReadableStream<Uint8Array> {
  return new Blob([new Uint8Array(size)]).stream();
}

test("rt cache serve and rt cache token reject invalid arguments and token files", async () => {
  await using folder = await createProject({
    "tokens.txt": `one write ${"0".repeat(64)}\n`,
    "bad.txt": "one all 00\n",
  });
  const fails = async (...args: string[]) => {
    const { stderr, status } = await runRt({ args: ["cache", ...args], cwd: folder.path });
    expect(status).toBe(1);
    return stderr.split("\n")[0];
  };
  expect(await fails("serve")).toBe("error: Missing --tokens");
  expect(await fails("serve", "--tokens=none.txt")).toBe(
    "error: Cannot read the token file none.txt (ENOENT)",
  );
  expect(await fails("serve", "--tokens=bad.txt")).toBe("error: bad.txt:1 is not a valid token line");
  expect(await fails("serve", "--tokens=tokens.txt", "--port=65536")).toStartWith(
    "error: --port needs a whole number",
  );
  expect(await fails("serve", "--tokens=tokens.txt", "more")).toBe('error: Unexpected argument "more"');
  expect(await fails("serve", "--no-such")).toStartWith("error: Unknown option '--no-such'");
  expect(await fails("token", "tokens.txt", "one", "read")).toBe(
    'error: tokens.txt already has a token "one"',
  );
  await Bun.write(folder.join("open.txt"), `one write ${"0".repeat(64)}`);
  const added = await runRt({ args: ["cache", "token", "open.txt", "two", "read"], cwd: folder.path });
  expect(added.status).toBe(0);
  expect((await Bun.file(folder.join("open.txt")).text()).split("\n")).toEqual([
    `one write ${"0".repeat(64)}`,
    expect.stringMatching(/^two read [\da-f]{64}$/),
    "",
  ]);
  await Bun.write(
    folder.join("twice.txt"),
    ["0", "1"].map((digit) => `one write ${digit.repeat(64)}\n`).join(""),
  );
  expect(await fails("serve", "--tokens=twice.txt")).toBe('error: twice.txt:2 repeats the name "one"');
  expect(await fails("token", "tokens.txt", "two", "all")).toBe('error: Invalid access "all"');
  expect(await fails("token", "tokens.txt", "a b", "read")).toBe('error: Invalid token name "a b"');
  const help = await runRt({ args: ["cache", "serve", "--help"] });
  expect([help.status, help.stdout]).toEqual([0, expect.stringContaining("--tokens=<file>")]);
});

test.skipIf(!CAN_TRACE)(
  "a script result that a pull request stored is used only with the same token",
  async () => {
    await using served = await serveCache();
    await using project = await cachedProject({ build: "cat page > out" }, { page: "hello" });
    const run = async (name: keyof ServedCache["tokens"]) => {
      await rm(`${project.cache}/rt`, { recursive: true, force: true });
      await rm(project.join("out"), { force: true });
      const env = variablesFor(served, name);
      return await project.run("build", env);
    };
    expect(await run("pr-1")).toBe("ran");
    expect(await run("pr-1")).toBe("hit");
    expect(await run("pr-2")).toBe("ran");
    expect(await run("reader")).toStartWith("Shared cache: token has no write access");
    expect(await run("main")).toBe("ran");
    expect(await run("reader")).toBe("hit");
  },
);

test.skipIf(!existsSync(TURBO))(
  "turbo as a client gets signed artifacts of its scope, and rejects those with another key",
  async () => {
    await using served = await serveCache();
    const manifest = {
      name: "web",
      version: "1.0.0",
      scripts: { build: "mkdir -p dist && cp in dist/out && echo made" },
    };
    await using project = await createProject({
      "package.json": { name: "root", private: true, packageManager: "npm@10.0.0", workspaces: ["web"] },
      "package-lock.json": JSON.stringify({
        name: "root",
        lockfileVersion: 3,
        packages: {
          "": { name: "root", workspaces: ["web"] },
          web: { version: "1.0.0" },
          "node_modules/web": { resolved: "web", link: true },
        },
      }),
      ".gitignore": ".turbo\ndist\n",
      "turbo.json": { remoteCache: { signature: true }, tasks: { build: { outputs: ["dist/**"] } } },
      "web/package.json": manifest,
      "web/in": "hello",
    });
    const run = async (name: keyof ServedCache["tokens"], key = KEY) => {
      await rm(project.join("web/dist"), { recursive: true, force: true });
      const env = {
        ...variablesFor(served, name),
        TURBO_REMOTE_CACHE_SIGNATURE_KEY: key,
        ...QUIET,
      };
      const args = ["run", "build", "--cache=remote:rw", "--no-color"];
      const { stdout, stderr, status } = await resultOf(
        startRt({ program: [TURBO], args, cwd: project.path, env }),
      );
      expect([stderr, status]).toEqual([expect.any(String), 0]);
      expect(await Bun.file(project.join("web/dist/out")).text()).toBe("hello");
      return /Cached:\s+1 cached/.test(stdout) ? "hit" : "ran";
    };
    expect(await run("pr-1")).toBe("ran");
    expect(await run("pr-1")).toBe("hit");
    expect(await run("main")).toBe("ran");
    expect(await run("main")).toBe("hit");
    expect(await run("reader")).toBe("hit");
    expect(await run("main", "another key")).toBe("ran");
    expect((await served.end()).stderr).toBe("");
  },
);

test("rt cache serve rereads a changed token file, and rejects all tokens while others may write to it", async () => {
  await using served = await serveCache();
  const { main, "pr-1": own } = served.tokens;
  const status = async (token: string, path = TURBO_PATH("none")) => (await served.ask(token, path)).status;
  const tokens = await Bun.file(served.file).text();
  const writeTokens = async (text: string) => {
    await Bun.write(`${served.file}.new`, text);
    await chmod(`${served.file}.new`, 0o600);
    await rename(`${served.file}.new`, served.file);
  };
  expect((await stat(served.file)).mode & 0o777).toBe(0o600);
  for (const token of Object.values(served.tokens)) expect(token).toMatch(/^rtc_[\w-]{43}$/);
  for (const token of Object.values(served.tokens)) expect(tokens).not.toContain(token);
  expect(await status("", "/v8/artifacts/status")).toBe(401);
  expect(await status(main, "/v8/artifacts/status")).toBe(200);

  // Artifacts of a write-own scope stay invisible after its token gets write access.
  expect(await write(served, "pr-1", TURBO_PATH("first"), "poison")).toBe(200);
  await writeTokens(tokens.replace("pr-1 write-own", "pr-1 write"));
  expect(await status(own, TURBO_PATH("first"))).toBe(404);
  const question = { method: "POST", body: '{"hashes":["first"]}' };
  expect(await (await served.ask(own, "/v8/artifacts?slug=acme", question)).json()).toEqual({ first: null });
  await writeTokens(tokens.replace(/^pr-1 .*\n/m, ""));
  expect(await status(own)).toBe(401);
  expect(await status(main)).toBe(404);

  await chmod(served.file, 0o620);
  expect([await status(main), await status(main)]).toEqual([401, 401]);
  await rm(served.file);
  expect([await status(main), await status(main)]).toEqual([401, 401]);
  await writeTokens(tokens);
  expect(await status(main)).toBe(404);
  const { stderr } = await served.end();
  expect(stderr).toBe(
    `error: ${served.file} is writable by other users\n` +
      `error: Cannot read the token file ${served.file} (ENOENT)\n`,
  );
});

const SECOND_HALF = "last";

/** Starts an upload; returns when its first half has arrived, or when it was refused. */
async function beginUpload({ url, store }: ServedCache, token: string, hash: string, begin = "firs") {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let answer = "";
  const ended = new Promise<string>((resolve) => {
    socket.on("data", (bytes) => (answer += bytes));
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
  });
  const lines = [
    `PUT ${TURBO_PATH(hash)} HTTP/1.1`,
    "host: cache",
    `authorization: Bearer ${token}`,
    `content-length: ${begin.length + SECOND_HALF.length}`,
    "connection: close",
  ];
  const drafts = join(store, "drafts");
  const arrived = async () => {
    const names = await readdir(drafts).catch(() => []);
    const sizes = await Promise.all(
      names.map(async (name) => (await stat(join(drafts, name)).catch(() => undefined))?.size),
    );
    return sizes.filter((size) => size === begin.length).length;
  };
  const before = await arrived();
  socket.write(`${lines.join("\r\n")}\r\n\r\n${begin}`);
  await waitUntil(async () => answer !== "" || socket.destroyed || (await arrived()) > before);
  return { socket, ended, isOpen: answer === "" && !socket.destroyed };
}

test("a signal ends the server after a grace period, and a second one at once, without a partial upload", async () => {
  await using servers = new AsyncDisposableStack();
  const begin = async () => {
    const served = servers.use(await serveCache());
    const { ended } = await beginUpload(served, served.tokens.main, "half");
    return { served, ended };
  };
  const [waiting, terminated, interrupted] = await Promise.all([begin(), begin(), begin()]);
  const order: string[] = [];
  const end = async ({ served, ended }: typeof waiting, name: string) => {
    const { status, stderr } = await served.end();
    order.push(name);
    await ended;
    const drafts = await readdir(join(served.store, "drafts"));
    return { status, stderr, drafts, ...(await countIn(served.store)) };
  };
  const endBy = async (begun: typeof waiting, first: NodeJS.Signals) => {
    const { served } = begun;
    served.stop(first);
    await waitUntil(async () => (await served.ask("", "/").catch(() => undefined)) === undefined);
    return await end(begun, "asked twice");
  };
  const all = [end(waiting, "asked once"), endBy(terminated, "SIGTERM"), endBy(interrupted, "SIGINT")];
  const nothing = { status: 0, stderr: "", drafts: [], blobs: 0, names: 0 };
  expect(await Promise.all(all)).toEqual([nothing, nothing, nothing]);
  expect(order).toEqual(["asked twice", "asked twice", "asked once"]);
});

test("an interrupted upload is removed, and the server keeps running", async () => {
  await using served = await serveCache();
  const { socket, ended } = await beginUpload(served, served.tokens.main, "half");
  socket.destroy();
  await ended;
  await waitUntil(async () => (await readdir(join(served.store, "drafts"))).length === 0);
  expect(await read(served, "main", TURBO_PATH("half"))).toBe(404);
  expect(await served.end()).toEqual({ status: 0, stderr: "" });
});

test("an upload fails when its token loses access before the end", async () => {
  await using served = await serveCache();
  const tokens = await Bun.file(served.file).text();
  const finish = async (hash: string, changed: string) => {
    const { socket, ended } = await beginUpload(served, served.tokens.main, hash);
    await Bun.write(`${served.file}.new`, changed);
    await chmod(`${served.file}.new`, 0o600);
    await rename(`${served.file}.new`, served.file);
    socket.write(SECOND_HALF);
    const [line] = (await ended).split("\r\n");
    return [line, await read(served, "reader", TURBO_PATH(hash))];
  };
  const refused = ["HTTP/1.1 401 Unauthorized", 404];
  expect(await finish("ended", tokens.replace(/^main .*\n/m, ""))).toEqual(refused);
  await Bun.write(served.file, tokens);
  expect(await finish("reads", tokens.replace("main write ", "main read "))).toEqual(refused);
  await Bun.write(served.file, tokens);
  expect(await finish("own", tokens.replace("main write ", "main write-own "))).toEqual(refused);
  await Bun.write(served.file, tokens);
  expect(await finish("same", `# as before\n${tokens}`)).toEqual(["HTTP/1.1 200 OK", "firslast"]);
  expect(await readdir(join(served.store, "drafts"))).toEqual([]);
});

test("a starting server removes old drafts of a killed one, and fails when the address is in use or the store is open to others", async () => {
  await using served = await serveCache();
  const drafts = join(served.store, "drafts");
  for (const name of ["old", "new"]) await Bun.write(join(drafts, name), "half");
  await utimes(join(drafts, "old"), new Date(2000, 1), new Date(2000, 1));
  const { hostname, port } = new URL(served.url);
  const { stderr, status } = await runRt({
    args: ["cache", "serve", `--tokens=${served.file}`, `--port=${port}`, `--store=${served.store}`],
  });
  expect({ stderr, status }).toEqual({
    stderr:
      `error: Address already in use: ${hostname}:${port}\n` +
      "hint: use another --host or --port; --port=0 selects a free port\n",
    status: 1,
  });
  expect(hostname).toBe("127.0.0.1");
  expect(await readdir(drafts)).toEqual(["new"]);
  await chmod(served.store, 0o777);
  const open = await runRt({
    args: ["cache", "serve", `--tokens=${served.file}`, "--port=0", `--store=${served.store}`],
  });
  expect(open.stderr).toStartWith("error: Cannot open the storage directory: ");
  expect(open.status).toBe(1);
});

test.skipIf(process.platform === "win32")(
  "rt cache token leaves the file unchanged when the disk is full",
  async () => {
    await using folder = await createProject();
    const line = `one write ${"0".repeat(64)}\n`;
    const add = async (file: string, blocks: number) =>
      await runRt({
        program: ["bash", "-c", `ulimit -f ${blocks}; exec "$0" "$@"`, RT],
        args: ["cache", "token", file, "two", "read"],
        cwd: folder.path,
      });
    const before = `${line}#${"x".repeat(1000 - line.length)}\n`;
    await folder.write({ "tokens.txt": before });
    const failure = { stdout: "", stderr: "error: Cannot write tokens.txt (EFBIG)\n", status: 1 };
    expect(await add("tokens.txt", 1)).toEqual(failure);
    expect(await Bun.file(folder.join("tokens.txt")).text()).toBe(before);
    expect((await add("new.txt", 0)).status).toBe(1);
    expect(await Bun.file(folder.join("new.txt")).exists()).toBe(false);
    expect((await add("tokens.txt", 8)).status).toBe(0);
  },
);

test.skipIf(!CAN_MOUNT)(
  "a full disk evicts the least recently used artifact, even below --size",
  async () => {
    await using server = await serveCache([], 1 << 20);
    const put = async (id: string) => {
      const body = Buffer.alloc(300_000, id);
      const { status } = await server.ask(server.tokens.main, `/v8/artifacts/${id}`, { method: "PUT", body });
      return status;
    };
    const get = async (id: string) => (await server.ask(server.tokens.main, `/v8/artifacts/${id}`)).status;
    expect([await put("aa"), await put("bb"), await put("cc")]).toEqual([200, 200, 200]);
    expect([await put("dd"), await put("dd"), await get("dd")]).toEqual([500, 200, 200]);
    // The timestamps can be equal on a coarse clock, so any one can be evicted.
    expect([await get("aa"), await get("bb"), await get("cc")].sort()).toEqual([200, 200, 404]);
    expect((await server.end()).stderr).toBe(
      "error: An artifact was not stored (ENOSPC): the disk is full, so the least recently used artifacts were evicted; " +
        "set a smaller --size\n",
    );
  },
);

/** The bytes of blobs and drafts of a scope. */
async function bytesIn(store: string): Promise<number> {
  const paths = await Array.fromAsync(
    new Bun.Glob("{blobs,drafts}/**").scan({ cwd: store, absolute: true, onlyFiles: true }),
  );
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => undefined))?.size));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

test("unfinished uploads count toward --size, evict older artifacts, and are refused when they alone exceed it", async () => {
  await using served = await serveCache(["--size=4"]); // of which 3 MB are the main scope's
  const { main } = served.tokens;
  const MB = 1_000_000;
  expect(await write(served, "main", TURBO_PATH("old"), "x".repeat(MB))).toBe(200);
  const uploads = [];
  for (const index of Array(6).keys())
    uploads.push(await beginUpload(served, main, `part-${index}`, "x".repeat(0.9 * MB)));
  expect(uploads.map(({ isOpen }) => isOpen)).toEqual([true, true, true, false, false, false]);
  expect(await bytesIn(served.store)).toBeLessThanOrEqual(3 * MB);
  for (const { ended } of uploads.slice(3)) expect(await ended).toStartWith("HTTP/1.1 503 ");
  expect(await read(served, "main", TURBO_PATH("old"))).toBe(404);
  const [first, second, third] = uploads;
  first!.socket.write(SECOND_HALF);
  expect(await first!.ended).toStartWith("HTTP/1.1 200 ");
  expect(await read(served, "main", TURBO_PATH("part-0"))).toHaveLength(0.9 * MB + SECOND_HALF.length);
  // An interrupted upload no longer counts.
  for (const { socket, ended } of [second!, third!]) {
    socket.destroy();
    await ended;
  }
  await waitUntil(async () => (await readdir(join(served.store, "drafts"))).length === 0);
  expect(await write(served, "main", TURBO_PATH("new"), "y".repeat(1.8 * MB))).toBe(200);
  expect(await read(served, "main", TURBO_PATH("part-0"))).toHaveLength(0.9 * MB + SECOND_HALF.length);
  expect(await write(served, "main", TURBO_PATH("large"), "x".repeat(3 * MB))).toBe(413);
  expect(await served.end()).toEqual({ status: 0, stderr: "" });
});

test("drafts of a killed server count toward --size until they are removed", async () => {
  await using served = await serveCache(["--size=4"]);
  const draft = join(served.store, "drafts", "left");
  await Bun.write(draft, "x".repeat(2_000_000));
  const line = await serveBriefly(served, ["--size=4"]);
  expect(line).toContain(", 2.0 MB in ");
  expect(await Bun.file(draft).exists()).toBe(true);
  await utimes(draft, new Date(2000, 1), new Date(2000, 1));
  expect(await serveBriefly(served, ["--size=4"])).toContain(", 0.0 MB in ");
  expect(await Bun.file(draft).exists()).toBe(false);
});

/** Returns the first output of another server with the same store. */
async function serveBriefly({ file, store }: ServedCache, options: readonly string[]): Promise<string> {
  const args = ["cache", "serve", `--tokens=${file}`, "--port=0", `--store=${store}`, ...options];
  const other = startRt({ args });
  const reader = other.stdout.getReader();
  const { value } = await reader.read();
  other.kill("SIGTERM");
  await other.exited;
  return new TextDecoder().decode(value);
}

test("a write-own token evicts its own artifacts only, however much it uploads", async () => {
  await using served = await serveCache(["--size=8"]); // 6 MB for the main scope, 1 for each of two others
  const MB = 1_000_000;
  const content = (letter: string, size: number) => letter.repeat(size);
  for (const letter of ["a", "b", "c", "d", "e"])
    expect(await write(served, "main", TURBO_PATH(letter), content(letter, MB))).toBe(200);
  expect(await write(served, "pr-2", TURBO_PATH("other"), content("o", 0.8 * MB))).toBe(200);
  for (const index of Array(30).keys())
    expect(await write(served, "pr-1", TURBO_PATH(`own-${index}`), content("x", 0.4 * MB + index))).toBe(200);
  for (const letter of ["a", "b", "c", "d", "e"])
    expect(await read(served, "main", TURBO_PATH(letter))).toBe(content(letter, MB));
  expect(await read(served, "pr-2", TURBO_PATH("other"))).toBe(content("o", 0.8 * MB));
  expect(await read(served, "pr-1", TURBO_PATH("own-0"))).toBe(404);
  expect(await read(served, "pr-1", TURBO_PATH("own-29"))).toHaveLength(0.4 * MB + 29);
  expect(await write(served, "pr-1", TURBO_PATH("large"), content("x", 1.1 * MB))).toBe(413);
  // Unfinished uploads of the token evict nothing else either.
  const [own] = (
    await Promise.all((await ownStores(served)).map(async (path) => [path, await bytesIn(path)] as const))
  )
    .filter(([, bytes]) => bytes !== 0.8 * MB)
    .map(([path]) => path);
  const uploads = [];
  for (const index of Array(3).keys())
    uploads.push(
      await beginUpload(
        { ...served, store: own! },
        served.tokens["pr-1"],
        `half-${index}`,
        "x".repeat(0.4 * MB),
      ),
    );
  expect(uploads.map(({ isOpen }) => isOpen)).toEqual([true, true, false]);
  for (const { socket } of uploads) socket.destroy();
  expect(await read(served, "main", TURBO_PATH("a"))).toBe(content("a", MB));
  expect(await read(served, "pr-2", TURBO_PATH("other"))).toBe(content("o", 0.8 * MB));
  // Uploads to the main scope evict nothing else either. A scope is removed with its token.
  for (const letter of ["f", "g", "h", "i", "j", "k"])
    expect(await write(served, "main", TURBO_PATH(letter), content(letter, MB))).toBe(200);
  expect(await read(served, "pr-2", TURBO_PATH("other"))).toBe(content("o", 0.8 * MB));
  const tokens = await Bun.file(served.file).text();
  await Bun.write(`${served.file}.new`, tokens.replace(/^pr-1 .*\n/m, ""));
  await chmod(`${served.file}.new`, 0o600);
  await rename(`${served.file}.new`, served.file);
  expect(await write(served, "pr-2", TURBO_PATH("more"), content("m", 1.1 * MB))).toBe(200);
  expect(await read(served, "pr-2", TURBO_PATH("other"))).toBe(content("o", 0.8 * MB));
  expect(await ownStores(served)).toHaveLength(1);
});

test("a request without a usable Host header is answered", async () => {
  await using served = await serveCache();
  expect(await write(served, "main", TURBO_PATH("first"), "content")).toBe(200);
  const ask = async (version: string, ...headers: string[]) => {
    const socket = connect(Number(new URL(served.url).port), "127.0.0.1");
    const lines = [`GET ${TURBO_PATH("first")} ${version}`, ...headers, "connection: close", "", ""];
    socket.write(lines.join("\r\n"));
    const answer = (await Array.fromAsync(socket)).join("");
    return [answer.split("\r\n")[0], answer.split("\r\n\r\n")[1]];
  };
  const authorization = `authorization: Bearer ${served.tokens.main}`;
  const found = ["HTTP/1.1 200 OK", "content"];
  expect(await ask("HTTP/1.0", authorization)).toEqual(found);
  for (const host of ["", "[", "a b", "x:99999", "[::1"])
    expect(await ask("HTTP/1.1", `host: ${host}`, authorization)).toEqual(found);
  expect((await ask("HTTP/1.0"))[0]).toBe("HTTP/1.1 401 Unauthorized");
});

test.skipIf(!CAN_MOUNT)(
  "a full disk has artifacts of write-own tokens evicted before those of the main scope",
  async () => {
    await using served = await serveCache([], 1 << 20);
    const put = async (name: "main" | "pr-1", id: string) =>
      await write(served, name, TURBO_PATH(id), id.repeat(150_000));
    const get = async (name: "main" | "pr-1", id: string) => {
      const content = await read(served, name, TURBO_PATH(id));
      return content === id.repeat(150_000) ? "there" : content;
    };
    expect([await put("main", "aa"), await put("pr-1", "bb"), await put("pr-1", "cc")]).toEqual([
      200, 200, 200,
    ]);
    expect([await put("main", "dd"), await put("main", "dd"), await put("main", "ee")]).toEqual([
      500, 200, 200,
    ]);
    expect([await get("pr-1", "bb"), await get("pr-1", "cc")]).toEqual([404, 404]);
    expect([await put("pr-1", "ff"), await put("pr-1", "ff")]).toEqual([500, 500]);
    expect([await get("main", "aa"), await get("main", "dd"), await get("main", "ee")]).toEqual([
      "there",
      "there",
      "there",
    ]);
    const { stderr } = await served.end();
    expect(stderr.split("\n").at(-2)).toBe(
      "error: An artifact was not stored (ENOSPC): the disk is full, and nothing can be evicted for this token",
    );
  },
);
