// A shared cache over turbo's protocol, on `rt cache serve`.
import { expect, test } from "bun:test";
import { chmod, readdir, readlink, rm, stat } from "node:fs/promises";
import { CAN_TRACE, cachedProject, forget } from "../cached-project.ts";
import { countIn, serveCache, variablesFor } from "../server/served-cache.ts";

const BUILD =
  "mkdir -p dist/empty; tr a-z A-Z < page > dist/page; ln -sf page dist/link; chmod 755 dist/page; echo built; echo err >&2";

test.skipIf(!CAN_TRACE)(
  "an entry of another machine is a hit, and several entries of one key are kept",
  async () => {
    await using served = await serveCache();
    await using project = await cachedProject({ build: BUILD }, { page: "hello" });
    const main = variablesFor(served);
    const removeAll = async () => {
      await forget(project);
      await rm(project.join("dist"), { recursive: true, force: true });
    };
    expect(await project.run("build", main)).toBe("ran");
    // An archive and an index.
    expect(await countIn(served.store)).toEqual({ blobs: 2, names: 2 });
    await removeAll();
    const { stdout, stderr, status } = await project.rt(["run", "build"], variablesFor(served, "reader"));
    expect({ stdout, status }).toEqual({ stdout: "built\n", status: 0 });
    expect(stderr).toMatch(/\nerr\nCached \(saved .*\)\n$/);
    expect(await Bun.file(project.join("dist/page")).text()).toBe("HELLO");
    expect((await stat(project.join("dist/page"))).mode & 0o777).toBe(0o755);
    expect(await readlink(project.join("dist/link"))).toBe("page");
    expect(await readdir(project.join("dist/empty"))).toEqual([]);
    // The entry is in the local cache now, so no request is needed.
    await rm(project.join("dist"), { recursive: true });
    expect(await project.run("build")).toBe("hit");

    // Another input adds a second entry under the same key.
    await removeAll();
    await project.write({ page: "other" });
    expect(await project.run("build", main)).toBe("ran");
    await removeAll();
    expect(await project.run("build", main)).toBe("hit");
    expect(await Bun.file(project.join("dist/page")).text()).toBe("OTHER");
    await removeAll();
    await project.write({ page: "hello" });
    expect(await project.run("build", main)).toBe("hit");
    expect(await Bun.file(project.join("dist/page")).text()).toBe("HELLO");
    expect(await countIn(served.store)).toEqual({ blobs: 4, names: 3 });

    // A token without write access causes one warning, and reads continue.
    await removeAll();
    await project.write({ page: "third" });
    const reading = await project.rt(["run", "build"], variablesFor(served, "reader"));
    expect(reading.stderr).toContain("warning: Shared cache: token has no write access (403)");
    expect(reading.status).toBe(0);
    expect(await served.end()).toEqual({ status: 0, stderr: "" });
  },
);

test.skipIf(!CAN_TRACE)(
  "another checkout gets the entries of the first, except for a script that prints its path",
  async () => {
    await using served = await serveCache();
    const scripts = { build: "mkdir dist && tr a-z A-Z < page > dist/page", where: "pwd > where" };
    await using one = await cachedProject(scripts, { page: "hello" });
    await using two = await cachedProject(scripts, { page: "hello" });
    // The cache path is part of the dependencies, so both use the same path in turn.
    const env = { ...variablesFor(served), XDG_CACHE_HOME: one.cache };
    for (const script of ["build", "where"]) expect(await one.run(script, env)).toBe("ran");
    const stored = await Array.fromAsync(new Bun.Glob("blobs/*/*").scan(served.store));
    expect(stored.length).toBe(4);
    await forget(one);
    expect(await two.run("build", env)).toBe("hit");
    expect(await Bun.file(two.join("dist/page")).text()).toBe("HELLO");
    expect(await two.run("where", env)).toBe("ran");
    expect(await Bun.file(two.join("where")).text()).toBe(`${two.path}\n`);
  },
);

test.skipIf(!CAN_TRACE)(
  "a run with --cache=local:r,remote:w stores its entry only in the shared cache",
  async () => {
    await using served = await serveCache();
    await using project = await cachedProject({ build: "cat page" }, { page: "hello" });
    const run = async (mode: string) => {
      const { stdout, stderr } = await project.rt([`--cache=${mode}`, "run", "build"], variablesFor(served));
      expect(stdout).toBe("hello");
      return stderr.includes("Cached (saved ") ? "hit" : "ran";
    };
    expect(await run("local:r,remote:w")).toBe("ran");
    expect(await run("local:r")).toBe("ran");
    expect(await run("remote:r")).toBe("hit");
  },
);

test.skipIf(!CAN_TRACE)(
  "scripts run without a shared cache when it is unreachable or misconfigured",
  async () => {
    await using served = await serveCache();
    await using project = await cachedProject(
      { build: "cat page", fail: "cat page; exit 3" },
      { page: "hello" },
    );
    const main = variablesFor(served);
    const run = async (env: Record<string, string | undefined>, script = "build") => {
      const { stdout, stderr, status } = await project.rt(["--cache=remote:rw", "run", script], {
        ...main,
        ...env,
      });
      const [line] = /^(?:warn|warning): .*$/m.exec(stderr) ?? [];
      return { line, stdout, status };
    };
    const ran = { stdout: "hello", status: 0 };
    expect(await run({ TURBO_TOKEN: "rtc_unknown" })).toEqual({
      ...ran,
      line: "warning: Shared cache: token rejected (401); continuing without it",
    });
    const unreachable = "warning: Shared cache: cannot connect (ECONNREFUSED); continuing without it";
    expect(await run({ TURBO_API: "http://127.0.0.1:1" })).toEqual({ ...ran, line: unreachable });
    expect(await run({ TURBO_API: "http://127.0.0.1:1" }, "fail")).toMatchObject({ status: 3 });
    // Without [cache.remote] the variables alone must not cause a warning.
    expect(await run({ TURBO_TOKEN: undefined })).toEqual({ ...ran, line: undefined });
    await project.write({ "rtfig.toml": "[run.cache]\nbuild = true\n[cache.remote]\n" });
    expect((await run({ TURBO_TOKEN: undefined })).line).toStartWith(
      "warning: shared cache disabled: TURBO_TOKEN is not set",
    );
    expect((await run({ TURBO_REMOTE_CACHE_SIGNATURE_KEY: undefined })).line).toStartWith(
      "warning: shared cache disabled: TURBO_REMOTE_CACHE_SIGNATURE_KEY is not set",
    );
    expect((await run({ TURBO_TOKEN: "a b" })).line).toEndWith(
      "TURBO_TOKEN contains characters that are invalid in a token",
    );
    expect(await countIn(served.store)).toEqual({ blobs: 0, names: 0 });
  },
);

test.skipIf(!CAN_TRACE)(
  "a script that wrote outside its package is cached only locally, unless outputs names the file",
  async () => {
    await using served = await serveCache();
    await using project = await cachedProject(
      {},
      {
        "package.json": { name: "root", workspaces: ["app"] },
        "app/package.json": {
          name: "app",
          scripts: { out: "echo 1 > ../out", declared: "echo 1 > ../declared" },
        },
      },
      'out = true\ndeclared = { outputs = ["../declared"] }',
    );
    const run = async (script: string) =>
      await project.rt(["--filter", "app", "run", script], variablesFor(served));
    expect((await run("out")).stderr).toContain(
      `app out was cached only locally: it wrote ${project.join("out")}, which is outside its package or links outside`,
    );
    expect(await countIn(served.store)).toEqual({ blobs: 0, names: 0 });
    expect((await run("declared")).stderr).toBe("");
    expect(await countIn(served.store)).toEqual({ blobs: 2, names: 2 });
  },
);

test("rt cache serve refuses unknown tokens, and rereads the token file after a change", async () => {
  await using served = await serveCache();
  const { url, tokens } = served;
  expect((await fetch(`${url}/v8/artifacts/status`)).status).toBe(401);
  expect((await served.ask(`${tokens.main}x`, "/v8/artifacts/status")).status).toBe(401);
  expect(await (await served.ask(tokens.reader, "/v8/artifacts/status")).json()).toEqual({
    status: "enabled",
  });
  const file = await Bun.file(served.file).text();
  for (const token of Object.values(tokens)) {
    expect(token).toMatch(/^rtc_[\w-]{43}$/);
    expect(file).not.toContain(token);
  }
  // A deleted token is rejected without a restart.
  await Bun.write(served.file, file.replace(/^main .*\n/m, ""));
  expect((await served.ask(tokens.main, "/v8/artifacts/status")).status).toBe(401);
  expect((await served.ask(tokens.reader, "/v8/artifacts/status")).status).toBe(200);
  await Bun.write(served.file, `${file}nonsense\n`);
  expect((await served.ask(tokens.reader, "/v8/artifacts/status")).status).toBe(401);
  await Bun.write(served.file, file);
  await chmod(served.file, 0o666);
  expect((await served.ask(tokens.reader, "/v8/artifacts/status")).status).toBe(401);
  await chmod(served.file, 0o600);
  expect((await served.ask(tokens.reader, "/v8/artifacts/status")).status).toBe(200);
  const { stderr } = await served.end();
  expect(stderr).toBe(
    `error: ${served.file}:5 is not a valid token line\nerror: ${served.file} is writable by other users\n`,
  );
});
