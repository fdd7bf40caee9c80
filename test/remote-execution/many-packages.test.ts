// Tests `rt run --filter '*' --remote build` on the server of test/support/servers/reapi-server.ts: inputs from other remote
// scripts, placement, failures and server faults. bazel-worker-many.ts uses Bazel's worker.
import { status as Code } from "@grpc/grpc-js";
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { CAN_TRACE } from "../cache/cached-project.ts";
import { waitUntil } from "../support/processes.ts";
import type { Files } from "../support/project.ts";
import type { Faults } from "../support/servers/reapi-server.ts";
import { count, openProject, type RemoteProject, SYSTEM } from "../support/servers/remote-project.ts";
import { type RtResult, startRt } from "../support/rt.ts";
import { workspace } from "../support/workspace.ts";

const MANY = ["run", "--filter", "*", "--remote"];
const BUILD = "mkdir -p dist; cat src.txt $PARTS > dist/out.txt; echo built $npm_package_name";

/** Returns a manifest whose script combines its own text with those of its dependencies. */
function part(...needs: string[]) {
  const parts = needs.map((name) => `../${name}/dist/out.txt`).join(" ");
  const dependencies = Object.fromEntries(needs.map((name) => [name, "*"]));
  return { dependencies, scripts: { build: BUILD.replace("$PARTS", parts) } };
}

/** site depends on app, which depends on lib. No package depends on tool. */
const CHAIN: Files = {
  ...workspace({ lib: part(), app: part("lib"), site: part("app"), tool: part() }),
  ".gitignore": "node_modules\ndist\n",
  "packages/lib/src.txt": "lib\n",
  "packages/app/src.txt": "app\n",
  "packages/site/src.txt": "site\n",
  "packages/tool/src.txt": "tool\n",
};

async function open(files: Files = CHAIN, faults: Faults = {}, more = ""): Promise<RemoteProject> {
  const opened = await openProject(files, { worker: "worker-7", ...faults });
  await configure(opened, more);
  return opened;
}

async function configure({ project, server }: RemoteProject, more: string, keys = ""): Promise<void> {
  const text = `[run.remote]\nurl = "${server.url}"\nsystem = "${SYSTEM}"\n${keys}`;
  await project.write({ "rtfig.toml": `${text}[run.remote.scripts.build]\noutputs = ["dist"]\n${more}` });
}

/** A server whose executions last until `over`. `both` is resolved when two have started. */
function holdTwo() {
  const both = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const faults: Faults = {
    started(number) {
      if (number === 2) both.resolve();
      return over.promise;
    },
  };
  return { both, over, faults };
}

const made = async ({ project }: RemoteProject, name: string) => {
  const file = Bun.file(project.join(`packages/${name}/dist/out.txt`));
  return (await file.exists()) ? await file.text() : undefined;
};

const hashOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

const lines = (text: string) => text.trimEnd().split("\n").toSorted();
const errors = ({ stderr }: RtResult) => stderr.split("\n").filter((line) => line.startsWith("error: "));

describe.if(process.platform === "linux")("rt run --filter --remote", () => {
  test("a remote script gets the outputs of its dependencies, and only scripts affected by a change run again", async () => {
    await using opened = await open();
    const { project, server, run } = opened;
    const first = await run([...MANY, "--report=run.json", "--report=run.html", "build"]);
    expect(lines(first.stdout)).toEqual(
      ["app", "lib", "site", "tool"].flatMap((name) => [
        `${name} build: Exited with code 0`,
        `${name} build: built ${name}`,
      ]),
    );
    expect({ status: first.status, executed: count(server, "execute") }).toEqual({ status: 0, executed: 4 });
    expect(await made(opened, "site")).toBe("site\napp\nlib\n");
    expect(await made(opened, "lib")).toBe("lib\n");
    const where = {
      place: "remote",
      why: "selected by --remote",
      server: server.url,
      machine: "worker-7",
    };
    const report = (await Bun.file(project.join("run.json")).json()) as { tasks: object[] };
    expect(report.tasks).toEqual(Array(4).fill(expect.objectContaining({ outcome: "success", where })));
    const page = await Bun.file(project.join("run.html")).text();
    expect(page.split(`on worker-7 of ${server.url}: selected by --remote`)).toHaveLength(5);

    await Bun.$`rm -r packages/lib/dist packages/site/dist`.cwd(project.path);
    const second = await run([...MANY, "build"]);
    expect(second).toMatchObject({ status: 0 });
    expect(second.stdout).toContain("site build: built site\nsite build: Cached (saved 1.50 s)\n");
    expect(count(server, "execute")).toBe(4);
    expect(await made(opened, "site")).toBe("site\napp\nlib\n");

    await project.write({ "packages/app/src.txt": "other\n" });
    expect(await run([...MANY, "build"])).toMatchObject({ status: 0 });
    expect(server.commands.slice(4).map(({ workingDirectory }) => workingDirectory)).toEqual([
      "packages/app",
      "packages/site",
    ]);
    expect(await made(opened, "site")).toBe("site\nother\nlib\n");
    expect(await run([...MANY, "--force", "build"])).toMatchObject({ status: 0 });
    expect(count(server, "execute")).toBe(10);
  });

  test.skipIf(!CAN_TRACE)(
    "outputs of remote scripts invalidate the stat cache of local cached scripts",
    async () => {
      const reader = (needs: string) => ({ dependencies: { [needs]: "*" }, scripts: { build: READ } });
      const READ = "cat ../two/dist/out.txt || exit 0";
      const files = {
        ...workspace({ one: { scripts: { build: READ } }, two: part("one"), three: reader("two") }),
        ".gitignore": "node_modules\ndist\n",
        "packages/two/src.txt": "old\n",
        "packages/one/dist/out.txt": "",
      };
      const local = ["one", "three"].map((name) => `[run.remote.scripts."${name}#build"]\nremote = false\n`);
      const cached = '[run.cache]\n"one#build" = true\n"three#build" = true\n';
      await using opened = await open(files, {}, local.join("") + cached);
      const { project, run } = opened;
      const build = async () => await run([...MANY, "build"]);
      await build();
      await build();
      const third = await build();
      expect(third.stdout).toContain("one build: Cached (saved");
      expect(third.stdout).toContain("three build: Cached (saved");
      await project.write({ "packages/two/src.txt": "new\n" });
      const { stdout, status } = await build();
      expect(stdout).toContain("one build: Cached (saved");
      expect({ shown: stdout.includes("three build: new\n"), status }).toEqual({ shown: true, status: 0 });
    },
  );

  test("the plan shows the placement of each script, and --dry-run and the report print it", async () => {
    const files = {
      ...CHAIN,
      "packages/app/package.json": { name: "app", ...part("lib"), version: "1.0.0" },
    };
    await using opened = await open(files, {}, '[run.remote.scripts."app#build"]\nremote = false\n');
    const { project, server, run } = opened;
    const more =
      '[run.remote.scripts."app#build"]\nremote = false\noutputs = ["dist"]\n' +
      '[run.cache."tool#build"]\ntrace = false\noutputs = ["dist/**"]\n' +
      '[run.secrets]\n"tool#sign" = ["TOKEN"]\n[secrets.TOKEN]\nfrom = "x/token"\n';
    await configure(opened, more);
    expect(await run(["run", "--filter", "tool", "build"])).toMatchObject({ status: 0 });
    const dry = await run([...MANY, "--dry-run", "build"]);
    expect(dry.stdout).toMatch(
      new RegExp(
        [
          '^warning: \\[run\\.secrets\\]: no package has a script "tool#sign"\n',
          "lib build\n  runs on grpc://127.0.0.1:\\d+: selected by --remote\n  \\$ .*\n",
          "    reads 4 files of \\d+ bytes; writes dist\n    gets PATH\n    action [\\da-f]{64}/\\d+\n",
          "app build \\(after lib build\\)\n  runs here: disabled by rtfig.toml\n  \\$ .*\n",
          "site build \\(after app build\\)\n  runs on grpc://.*\n  \\$ .*\n",
          "    reads \\d+ files of \\d+ bytes, and the outputs of lib build; writes dist\n    gets PATH\n",
          "tool build\n  cache hit: .*\n  \\$ .*\n",
          "\n3 of 4 scripts would run \\(1 cached\\)\n$",
        ].join(""),
      ),
    );
    const json = JSON.parse((await run([...MANY, "--dry-run=json", "build"])).stdout) as {
      tasks: { label: string; where: object; sent?: object }[];
    };
    expect(json.tasks.map(({ label, where, sent }) => [label, where, sent !== undefined])).toEqual([
      ["lib build", { place: "remote", server: server.url, why: "selected by --remote" }, true],
      ["app build", { place: "here", why: "disabled by rtfig.toml" }, false],
      ["site build", { place: "remote", server: server.url, why: "selected by --remote" }, true],
      ["tool build", { place: "cache", why: expect.any(String) }, false],
    ]);
    expect(server.calls).toEqual([]);

    const result = await run([...MANY, "--report=run.json", "build"]);
    expect({ status: result.status, errors: errors(result) }).toEqual({ status: 0, errors: [] });
    expect(await made(opened, "site")).toBe("site\napp\nlib\n");
    expect(server.commands.map(({ workingDirectory }) => workingDirectory)).toEqual([
      "packages/lib",
      "packages/site",
    ]);
    const { tasks } = (await Bun.file(project.join("run.json")).json()) as {
      tasks: { package: string; where: { place: string } }[];
    };
    expect(tasks.map((task) => [task.package, task.where.place]).toSorted()).toEqual([
      ["app", "here"],
      ["lib", "remote"],
      ["site", "remote"],
      ["tool", "cache"],
    ]);
  });

  test("remote = true in rtfig.toml makes scripts remote without --remote, and --no-remote makes them local", async () => {
    await using opened = await open();
    const { server, run } = opened;
    const every = ["run", "--filter", "*"];
    expect(await run([...every, "build"])).toMatchObject({ status: 0 });
    expect(server.calls).toEqual([]);
    await configure(opened, "remote = true\n");
    expect(await run([...every, "--no-remote", "build"])).toMatchObject({ status: 0 });
    expect(server.calls).toEqual([]);
    expect(await run([...every, "build"])).toMatchObject({ status: 0 });
    expect(count(server, "execute")).toBe(4);
    expect(await run(["--cwd=packages/lib", "--config=../../rtfig.toml", "run", "build"])).toMatchObject({
      status: 0,
      stdout: "built lib\n",
    });
    expect(count(server, "getCapabilities")).toBe(2);
  });

  test("scripts that receive secrets run locally, and no secret is sent", async () => {
    const show = { scripts: { build: "echo ${TOKEN:-none} in $npm_package_name | tr a-z A-Z" } };
    await using opened = await open({ ...workspace({ a: show, b: show }) });
    await configure(opened, '[run.secrets]\n"a#build" = ["TOKEN"]\n[secrets.TOKEN]\nfrom = "x/token"\n');
    const { server, run } = opened;
    const env = { TOKEN: "s3cret-t0ken" };
    const dry = await run([...MANY, "--dry-run", "build"], env);
    expect(dry.stdout).toContain(
      "a build\n  runs here: it receives secrets, which are never sent to another machine\n",
    );
    const { stdout, status } = await run([...MANY, "build"], env);
    expect(status).toBe(0);
    expect(stdout).toContain("a build: S3CRET-T0KEN IN A\n");
    expect(stdout).toContain("b build: NONE IN B\n");
    expect(server.commands.map(({ workingDirectory }) => workingDirectory)).toEqual(["packages/b"]);
    const sent = [...server.blobs.values()].map((bytes) => new TextDecoder().decode(bytes)).join();
    expect(sent).not.toContain("s3cret-t0ken");
  });

  test("a script that needs a service, also through another one, runs locally", async () => {
    const scripts = { db: "exec sleep 1000", seed: "true", build: "echo $npm_package_name" };
    await using opened = await open({ ...workspace({ a: { scripts } }) });
    await configure(
      opened,
      '[tasks.db]\nservice = true\nready.command = ["true"]\n[tasks.seed]\ndepends-on = ["db"]\n[tasks.build]\ndepends-on = ["seed"]\n',
    );
    const dry = await opened.run([...MANY, "--dry-run", "build"]);
    expect(dry.stdout).toContain("a db\n  runs here: it is a service\n");
    expect(dry.stdout).toContain(
      'a build (after a seed)\n  runs here: it needs the service "a db", which runs on this machine\n',
    );
    expect(await opened.run([...MANY, "build"])).toMatchObject({ status: 0 });
    expect(opened.server.commands).toEqual([]);
  });

  test("the concurrency limit of remote scripts comes from rtfig.toml or --concurrency, not from this machine", async () => {
    const wide = Object.fromEntries(["a", "b", "c"].map((name) => [name, part()]));
    const files = {
      ...workspace(wide),
      "packages/a/src.txt": "",
      "packages/b/src.txt": "",
      "packages/c/src.txt": "",
    };
    let running = 0;
    let most = 0;
    let awaited = 3;
    let all = Promise.withResolvers<void>();
    await using opened = await open(files, {
      async started() {
        most = Math.max(most, ++running);
        if (running === awaited) all.resolve();
        await all.promise;
      },
      result: () => void running--,
    });
    const { server, run } = opened;
    expect(await run([...MANY, "build"], { RT_CONCURRENCY: "1" })).toMatchObject({ status: 0 });
    expect(most).toBe(3);
    for (const [args, keys] of [
      [["--concurrency=1"], ""],
      [[], "concurrency = 1\n"],
      [["--sequential"], ""],
    ] as const) {
      [most, awaited, all] = [0, 1, Promise.withResolvers<void>()];
      await configure(opened, "", keys);
      expect(await run([...MANY, "--force", ...args, "build"])).toMatchObject({ status: 0 });
      expect(most).toBe(1);
    }
    expect(count(server, "execute")).toBe(12);
  });

  test("a remote failure skips its dependents, and the other scripts run", async () => {
    const files = {
      ...CHAIN,
      "packages/app/package.json": {
        name: "app",
        dependencies: { lib: "*" },
        scripts: {
          prebuild: "echo first",
          build: "mkdir dist; echo half > dist/out.txt; echo no >&2; exit 3",
          postbuild: "echo never",
        },
      },
    };
    await using opened = await open(files);
    const { run } = opened;
    const { stdout, stderr, status } = await run([...MANY, "build"]);
    expect(lines(stdout)).toEqual([
      "app build: Exited with code 3",
      "app build: no",
      "app prebuild: Exited with code 0",
      "app prebuild: first",
      "lib build: Exited with code 0",
      "lib build: built lib",
      "site build: Skipped because app build did not succeed",
      "tool build: Exited with code 0",
      "tool build: built tool",
    ]);
    expect(stderr).toContain(": 2 succeeded, 1 failed, 1 skipped\nFailed:  app build (Exited with code 3)\n");
    expect(status).toBe(3);
    expect(await made(opened, "app")).toBe("half\n");
    const all = await run([...MANY, "--no-exit-on-error", "build"]);
    expect(all.stdout).toContain("site build: built site\n");
    expect(all.status).toBe(3);
  });

  test("outputs of scripts that ended before a failure are still fetched", async () => {
    const requested = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const files = { ...workspace({ lib: part() }), "packages/lib/src.txt": "lib\n", hold: "" };
    await using opened = await open(files, {
      hold(_, hashes) {
        if (!hashes.includes(hashOf("lib\n"))) return undefined;
        requested.resolve();
        return over.promise;
      },
    });
    const { project, server } = opened;
    // `bad` fails while the outputs of lib are being fetched. `tool` runs until the failure cancels it.
    const wait = (file: string, test: string) =>
      `while [ ${test} ${project.join(file)} ]; do sleep 0.1; done`;
    await project.write({
      ...workspace({
        bad: { scripts: { build: `${wait("fail", "! -e")}; exit 3` } },
        tool: { scripts: { build: wait("hold", "-e") } },
      }),
    });
    const child = startRt({ args: [...MANY, "--parallel", "build"], cwd: project.path, env: opened.env });
    await requested.promise;
    await waitUntil(() => count(server, "execute") === 3);
    await project.write({ fail: "" });
    await waitUntil(() => server.cancelled.length === 1);
    expect(await made(opened, "lib")).toBeUndefined();
    over.resolve();
    expect(await child.exited).toBe(3);
    expect(await made(opened, "lib")).toBe("lib\n");
    await Bun.$`rm hold`.cwd(project.path);
  });

  test("the run ends only after the outputs of all remote scripts were fetched", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const files = {
      ...workspace(Object.fromEntries(names.map((name) => [name, part()]))),
      ...Object.fromEntries(names.map((name) => [`packages/${name}/src.txt`, `${name}\n`])),
    };
    const over = Promise.withResolvers<void>();
    const contents = new Set(names.map((name) => hashOf(`${name}\n`)));
    await using opened = await open(files, {
      hold: (_, hashes) => (hashes.some((hash) => contents.has(hash)) ? over.promise : undefined),
    });
    const child = startRt({ args: [...MANY, "build"], cwd: opened.project.path, env: opened.env });
    let output = "";
    for await (const chunk of child.stdout) {
      output += new TextDecoder().decode(chunk);
      if (output.split("Exited with code 0").length === names.length + 1) break;
    }
    for (const name of names) expect(await made(opened, name)).toBeUndefined();
    over.resolve();
    expect(await child.exited).toBe(0);
    for (const name of names) expect(await made(opened, name)).toBe(`${name}\n`);
  });

  test("SIGINT cancels all remote executions and leaves no file", async () => {
    const { both, over, faults } = holdTwo();
    await using opened = await open(CHAIN, faults);
    const { project, server } = opened;
    const child = startRt({ args: [...MANY, "build"], cwd: project.path, env: opened.env });
    await both.promise;
    child.kill("SIGINT");
    await child.exited;
    expect(child.signalCode).toBe("SIGINT");
    await waitUntil(() => server.cancelled.length === 2);
    over.resolve();
    expect(server.cancelled.toSorted()).toEqual(["operations/1", "operations/2"]);
    expect(newNames(opened)).toEqual([]);
  });
});

/** Returns the names in the packages that were not there before. */
function newNames({ project }: RemoteProject): string[] {
  return readdirSync(project.join("packages"))
    .flatMap((name) => readdirSync(project.join(`packages/${name}`)))
    .filter((name) => !["package.json", "src.txt"].includes(name));
}

describe.if(process.platform === "linux")("faulty server with many scripts", () => {
  test.each<[string, Code, string, string]>([
    ["rejected the credentials", Code.UNAUTHENTICATED, "getCapabilities", ""],
    ["denied permission", Code.PERMISSION_DENIED, "execute", ""],
    ["has no capacity", Code.RESOURCE_EXHAUSTED, "execute", ""],
    ["cannot be reached", Code.UNAVAILABLE, "findMissingBlobs", ""],
  ])("a failing server causes one error for all scripts: it %s", async (reason, code, method) => {
    await using opened = await open(CHAIN, { fail: (name) => (name === method ? code : undefined) });
    const result = await opened.run([...MANY, "--no-exit-on-error", "build"]);
    expect(errors(result)).toEqual([`error: The server ${opened.server.url} ${reason}: no ${method} now`]);
    expect(result.stderr).toEndWith("hint: omit --remote to run the script locally\n");
    expect(result.status).toBe(1);
    expect(newNames(opened)).toEqual([]);
  });

  test("a server that stops while two scripts run causes one error, and no partial outputs", async () => {
    const { both, over, faults } = holdTwo();
    await using opened = await open(CHAIN, faults);
    const running = opened.run([...MANY, "build"]);
    await both.promise;
    await opened.server[Symbol.asyncDispose]();
    const result = await running;
    over.resolve();
    expect(errors(result)).toEqual([
      expect.stringMatching(/^error: The server grpc:\S+ cannot be reached: /),
    ]);
    expect(result.status).toBe(1);
    expect(newNames(opened)).toEqual([]);
  });

  test("a server with room for one execution runs the scripts one after the other", async () => {
    let running = 0;
    const files = {
      ...workspace({ a: part(), b: part(), c: part() }),
      ...Object.fromEntries(["a", "b", "c"].map((name) => [`packages/${name}/src.txt`, name])),
    };
    await using opened = await open(files, {
      fail: (name) =>
        name === "execute" && running++ > 0 ? (running--, Code.RESOURCE_EXHAUSTED) : undefined,
      result: () => void running--,
    });
    const result = await opened.run([...MANY, "build"]);
    expect({ status: result.status, errors: errors(result) }).toEqual({ status: 0, errors: [] });
    expect(await made(opened, "c")).toBe("c");
  });

  test("a server that has lost outputs makes the scripts run again", async () => {
    await using opened = await open();
    const { project, server, run } = opened;
    expect(await run([...MANY, "build"])).toMatchObject({ status: 0 });
    await Bun.$`rm -r packages/lib/dist packages/app/dist packages/site/dist`.cwd(project.path);
    await project.write({ "packages/site/src.txt": "new\n" });
    const lost = new Bun.CryptoHasher("sha256").update("lib\n").digest("hex");
    // The source has the same content as the output, so uploading it is sufficient.
    server.blobs.delete(lost);
    const again = new Bun.CryptoHasher("sha256").update("app\nlib\n").digest("hex");
    server.blobs.delete(again);
    const result = await run([...MANY, "build"]);
    expect({ status: result.status, errors: errors(result) }).toEqual({ status: 0, errors: [] });
    expect(await made(opened, "site")).toBe("new\napp\nlib\n");
    expect(await made(opened, "app")).toBe("app\nlib\n");
    expect(await made(opened, "lib")).toBe("lib\n");
    expect(newNames(opened)).toEqual(["dist", "dist", "dist", "dist"]);
  });

  test("a server for another system causes an error before anything is sent", async () => {
    await using opened = await open();
    const { project, server, run } = opened;
    const text = await Bun.file(project.join("rtfig.toml")).text();
    await project.write({ "rtfig.toml": text.replace(SYSTEM, "plan9-mips") });
    const result = await run([...MANY, "build"]);
    expect(errors(result)).toEqual([
      `error: The script cannot run remotely: the server runs plan9-mips, and node_modules is for ${SYSTEM}`,
    ]);
    expect({ status: result.status, calls: server.calls }).toEqual({ status: 1, calls: [] });
    expect(existsSync(project.join("packages/lib/dist"))).toBe(false);
  });
});
