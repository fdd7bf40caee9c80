// `rt run --remote` of one script, on the server of test/support/servers/reapi-server.ts, which executes scripts and
// simulates faults.
import { status as Code } from "@grpc/grpc-js";
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from "node:fs";
import { create, toBinary } from "@bufbuild/protobuf";
import { parseConfig } from "../../src/config/rtfig.ts";
import { readRemoteSettings } from "../../src/config/settings/remote.ts";
import { OPTIONS } from "../../src/options/options.ts";
import { collectOptions, parseCommandLine } from "../../src/options/parse.ts";
import { UserError } from "../../src/user-error.ts";
import { createCertificates } from "../support/servers/certificates.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject, type Files } from "../support/project.ts";
import { type Faults, openReapiServer } from "../support/servers/reapi-server.ts";
import { config, count, openProject, SYSTEM } from "../support/servers/remote-project.ts";
import { type Digest, toMessage } from "../support/servers/reapi-digests.ts";
import {
  DirectorySchema,
  OutputFileSchema,
  TreeSchema,
} from "../support/servers/reapi-messages/remote_execution_pb.ts";
import { cleanEnvironment, type Environment, runRt, startRt } from "../support/rt.ts";
import { trustAll } from "../support/trusted.ts";
import { workspace } from "../support/workspace.ts";

const isLinux = process.platform === "linux";

const BUILD = [
  "mkdir -p dist/deep; cat in.txt > dist/out.txt; cp in.txt dist/deep/tool; chmod +x dist/deep/tool",
  "ln -s deep/tool dist/link; echo made > report.txt; echo built; echo warned >&2",
].join("; ");

const single: Files = { "package.json": { name: "one", scripts: { build: BUILD } }, "in.txt": "in\n" };

/** A server on which the script has started, and ends when the test resolves `over`. */
async function openHeld() {
  const started = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const opened = await openProject(single, {
    started() {
      started.resolve();
      return over.promise;
    },
  });
  return Object.assign(opened, { started, over });
}

/** Files in the root of a workspace that every script gets. */
const ROOT_FILES = [
  ...["bun.lock", "bun.lockb", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"],
  ...["pnpm-workspace.yaml", "tsconfig.json", "tsconfig.base.json"],
];

describe.if(isLinux)("rt run --remote", () => {
  test("a remote script's outputs replace the local ones, and an unchanged script is not executed again", async () => {
    await using opened = await openProject(single);
    const { project, server, run } = opened;
    await project.write({ "dist/stale.txt": "stale", "dist/out.txt": "stale" });
    const first = await run(["run", "--remote", "build"]);
    expect(first).toMatchObject({ stdout: "built\n", stderr: `$ ${BUILD}\nwarned\n`, status: 0 });
    const readOutputs = async () => ({
      out: await Bun.file(project.join("dist/out.txt")).text(),
      report: await Bun.file(project.join("report.txt")).text(),
      isExecutable: (statSync(project.join("dist/deep/tool")).mode & 0o111) !== 0,
      link: readlinkSync(project.join("dist/link")),
      names: readdirSync(project.join("dist")).toSorted(),
      all: readdirSync(project.path).toSorted(),
    });
    const all = [".git", "dist", "in.txt", "package.json", "report.txt", "rtfig.toml"];
    const made = { out: "in\n", report: "made\n", isExecutable: true, link: "deep/tool", all };
    expect(await readOutputs()).toEqual({ ...made, names: ["deep", "link", "out.txt"] });
    expect(await run(["run", "--remote", "build"])).toEqual(first);
    expect(count(server, "execute")).toBe(1);
    expect(await readOutputs()).toMatchObject(made);
    await project.write({ "in.txt": "other\n" });
    const known = server.blobs.size;
    expect(await run(["run", "--remote", "build"])).toMatchObject({ status: 0 });
    expect(await readOutputs()).toMatchObject({ ...made, out: "other\n" });
    expect(count(server, "execute")).toBe(2);
    // New blobs: the file, the root directory, the action and the output tree.
    expect(server.blobs.size - known).toBe(4);
  });

  test("rt sends the package, its dependencies and node_modules, but no credentials", async () => {
    const list = "find ../.. -type f -o -type l | sort; tool";
    await using opened = await openProject(
      {
        ...workspace({
          app: { dependencies: { lib: "*" }, scripts: { build: list } },
          lib: { scripts: { build: "exit 1" } },
          other: {},
        }),
        ".gitignore": "node_modules\nignored.txt\n",
        ".npmrc": "//registry/:_authToken=s3cret-t0ken",
        ".yarnrc.yml": "npmAuthToken: s3cret-t0ken",
        ...Object.fromEntries(ROOT_FILES.map((name) => [name, "{}"])),
        "notes.txt": "none of its affair",
        "assets/logo.svg": "<svg/>",
        "node_modules/dep/index.js": "1",
        "node_modules/.cache/x": "1",
        "packages/app/.env": "TOKEN=s3cret-t0ken",
        "packages/app/.env.local": "TOKEN=s3cret-t0ken",
        "packages/app/.npmrc": "//registry/:_authToken=s3cret-t0ken",
        "packages/app/.yarnrc.yml": "npmAuthToken: s3cret-t0ken",
        "packages/app/.netrc": "machine x password s3cret-t0ken",
        "packages/lib/src/.yarnrc.yml": "npmAuthToken: s3cret-t0ken",
        // Only the beginning or the end of these names matches.
        "packages/app/a.env": "1",
        "packages/app/.npmrc.md": "1",
        "packages/app/.yarnrc.yml.md": "1",
        "packages/app/x.netrc": "1",
        "packages/app/ignored.txt": "1",
        "packages/app/src/new.ts": "1",
        "packages/app/node_modules/.bin/tool": "#!/bin/sh\necho found the tool in $npm_lifecycle_event\n",
        "packages/lib/index.js": "1",
        "packages/other/index.js": "1",
      },
      {},
      "packages/app",
    );
    const { project, server, run } = opened;
    chmodSync(project.join("packages/app/node_modules/.bin/tool"), 0o755);
    await project.write({
      "packages/app/rtfig.toml": `${config(server.url)}inputs = ["../../assets/**"]\n`,
    });
    const { stdout, status } = await run(["run", "--remote", "build"]);
    const [last, ...files] = stdout.trimEnd().split("\n").toReversed();
    expect(last).toBe("found the tool in build");
    const shared = ["assets/logo.svg", ...ROOT_FILES, "node_modules/dep/index.js", "package.json"];
    const own = [
      ".npmrc.md",
      ".yarnrc.yml.md",
      "a.env",
      "node_modules/.bin/tool",
      "package.json",
      "rtfig.toml",
    ];
    const app = [...own, "src/new.ts", "x.netrc"].map((name) => `packages/app/${name}`);
    const lib = ["packages/lib/index.js", "packages/lib/package.json"];
    expect(files.toSorted()).toEqual([...shared, ...app, ...lib].map((name) => `../../${name}`).toSorted());
    expect(status).toBe(0);
    const sent = [...server.blobs.values()].map((bytes) => new TextDecoder().decode(bytes)).join();
    expect(sent).not.toContain("s3cret-t0ken");
  });

  test("rt sends files that inputs names, but credentials only if a pattern names them", async () => {
    await using opened = await openProject({
      "package.json": { name: "one", scripts: { build: "find . -type f | sort" } },
      ".gitignore": "*\n!package.json\n!rtfig.toml\n",
      "config/app.json": "{}",
      "config/.env": "TOKEN=s3cret-t0ken",
      "config/.npmrc": "//registry/:_authToken=s3cret-t0ken",
      "config/.yarnrc.yml": "npmAuthToken: s3cret-t0ken",
      "config/.netrc": "machine x password s3cret-t0ken",
    });
    const { project, server, run } = opened;
    // actions/checkout stores credentials there.
    const git = await Bun.file(project.join(".git/config")).text();
    await project.write({ ".git/config": `${git}[http]\n\textraheader = s3cret-t0ken\n` });
    const sent = () => [...server.blobs.values()].map((bytes) => new TextDecoder().decode(bytes)).join();
    const filesFor = async (inputs: readonly string[]) => {
      const lines = `[run.remote.scripts.build]\n`;
      const text = config(server.url).replace(lines, `${lines}inputs = ${JSON.stringify(inputs)}\n`);
      await project.write({ "rtfig.toml": text });
      const { stdout, stderr } = await run(["run", "--remote", "build"]);
      return stdout === "" ? stderr : stdout.trimEnd().split("\n");
    };
    const plain = ["./config/app.json", "./package.json", "./rtfig.toml"];
    for (const inputs of [["**"], ["config/**", "*"], ["config/*", "config/?*", "*/**/*"]]) {
      const files = await filesFor(inputs);
      expect({ inputs, files: plain.filter((each) => files.includes(each)) }).toEqual({
        inputs,
        files: plain,
      });
      expect(sent()).not.toContain("s3cret-t0ken");
    }
    expect(await filesFor(["config/.npm*", "config/*.json"])).toEqual(["./config/.npmrc", ...plain]);
    expect(await filesFor(["**/.env"])).toEqual(["./config/.env", ...plain.slice(1)]);
    expect(await filesFor(["config/.yarnrc.yml"])).toEqual(["./config/.yarnrc.yml", ...plain.slice(1)]);
    expect(await filesFor(["config/.net*"])).toEqual(["./config/.netrc", ...plain.slice(1)]);
    expect(await filesFor([".git/config"])).toEqual(["./.git/config", ...plain.slice(1)]);
  });

  test("a failed remote script runs again, even if the server caches failures", async () => {
    await using machine = await createProject();
    const build = `cat ${machine.join("mended")} && mkdir dist && echo made > dist/out.txt`;
    await using opened = await openProject(
      { "package.json": { name: "one", scripts: { build } } },
      { keepsFailures: true },
    );
    const { server, project, run } = opened;
    expect((await run(["run", "--remote", "build"])).status).toBe(1);
    // No input of the script has changed.
    await machine.write({ mended: "by now\n" });
    for (let time = 0; time < 2; time += 1) {
      const { stdout, status } = await run(["run", "--remote", "build"]);
      expect({ stdout, status }).toEqual({ stdout: "by now\n", status: 0 });
    }
    expect(await Bun.file(project.join("dist/out.txt")).text()).toBe("made\n");
    expect(server.commands.length).toBe(2);
  });

  test("a remote script gets its declared variables, its arguments and its hooks", async () => {
    const show = 'sh -c \'printf "%s|" "$@"; env | sort | grep -v ^_=\' sh';
    await using opened = await openProject({
      "package.json": {
        name: "one",
        version: "1.2.3",
        scripts: { prebuild: "echo before $npm_lifecycle_event", build: show, postbuild: "exit 9" },
      },
    });
    const { project, server, run } = opened;
    await project.write({ "rtfig.toml": `${config(server.url)}env = ["COLOR", "UNSET"]\n` });
    const env = { COLOR: "red", SECRET: "s3cret-t0ken" };
    const { stdout, stderr, status } = await run(["run", "--remote", "build", "a b", "'"], env);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.slice(0, 2)).toEqual(["before prebuild", "a b|'|COLOR=red"]);
    expect(lines.slice(2).map((line) => line.replace(/^((?:OLD)?PWD|PATH)=.*/, "$1"))).toEqual([
      "PATH",
      "PWD",
      ...["npm_lifecycle_event=build", "npm_package_name=one", "npm_package_version=1.2.3"],
    ]);
    expect(stderr).toContain('error: script "postbuild" exited with code 9\n');
    expect(status).toBe(9);
  });

  test("a failed remote script has its exit code, and its outputs are fetched", async () => {
    await using opened = await openProject({
      "package.json": { scripts: { build: "echo half > report.txt; echo no >&2; exit 7" } },
    });
    const { project, server, run } = opened;
    for (const executions of [1, 2]) {
      const { stdout, stderr, status } = await run(["run", "--remote", "--silent", "build"]);
      expect({ stdout, stderr, status }).toEqual({ stdout: "", stderr: "no\n", status: 7 });
      expect(count(server, "execute")).toBe(executions);
    }
    expect(await Bun.file(project.join("report.txt")).text()).toBe("half\n");
  });

  test("inputs and outputs larger than a message are streamed, and compressed if the server supports it", async () => {
    await using opened = await openProject({
      "package.json": { scripts: { build: "cat big.bin big.bin > report.txt" } },
    });
    const { project, server, run } = opened;
    const big = new Uint8Array(5_000_000).map((_, at) => (at * 2_654_435_761) >>> 24);
    await project.write({ "big.bin": big, "words.txt": "words ".repeat(500) });
    expect(await run(["run", "--remote", "build"])).toMatchObject({ status: 0 });
    const made = await Bun.file(project.join("report.txt")).bytes();
    expect(Buffer.compare(made, Buffer.concat([big, big]))).toBe(0);
    expect(count(server, "write")).toBe(1);
    // The same with a server that supports compression.
    server.blobs.clear();
    server.faults = { zstd: true };
    await project.write({ "report.txt": "before" });
    expect(await run(["run", "--remote", "build"])).toMatchObject({ status: 0 });
    const again = await Bun.file(project.join("report.txt")).bytes();
    expect(Buffer.compare(again, made)).toBe(0);
    // Two uploads, one by stream and one in a batch, and one download.
    expect(server.compressed).toBe(3);
  });

  test("--dry-run prints the placement and the inputs, and sends no request", async () => {
    await using opened = await openProject(single);
    const { server, run } = opened;
    const { stdout, status } = await run(["run", "--remote", "--dry-run", "build"]);
    expect(stdout).toStartWith(`build\n  runs on ${server.url}: selected by --remote\n  $ mkdir -p dist`);
    expect(stdout).toContain("    reads 3 files of ");
    expect(stdout).toContain(" bytes; writes dist, report.txt\n    gets PATH\n    action ");
    expect(stdout).toEndWith("\n1 script would run\n");
    expect({ status, calls: server.calls }).toEqual({ status: 0, calls: [] });
  });

  test("SIGINT cancels a remote execution and leaves no file", async () => {
    await using opened = await openHeld();
    const { started, over } = opened;
    const { project, server } = opened;
    const child = startRt({ args: ["run", "--remote", "build"], cwd: project.path, env: opened.env });
    await started.promise;
    child.kill("SIGINT");
    await child.exited;
    expect(child.signalCode).toBe("SIGINT");
    await waitUntil(() => server.cancelled.length === 1);
    expect(server.cancelled).toEqual(["operations/1"]);
    over.resolve();
    expect(readdirSync(project.path).toSorted()).toEqual([".git", "in.txt", "package.json", "rtfig.toml"]);
  });
});

/** Builds a tree in which each directory contains the next one twice. The last one has a file. */
function keepTree(keep: (bytes: Uint8Array) => Digest, name: string, levels: number) {
  const config = toMessage(keep(Buffer.from("[core]\n\tfsmonitor = touch ran\n")));
  const children = [create(DirectorySchema, { files: [{ name: "config", digest: config }] })];
  for (let level = 0; level < levels; level++) {
    const digest = toMessage(keep(toBinary(DirectorySchema, children[0]!)));
    const directories = [name, `${name}2`].map((each) => ({ name: each, digest }));
    children.unshift(create(DirectorySchema, { directories }));
  }
  const [root, ...rest] = children;
  return toMessage(keep(toBinary(TreeSchema, create(TreeSchema, { root: root!, children: rest }))));
}

describe.if(isLinux)("faulty server", () => {
  const HINT = "hint: omit --remote to run the script locally\n";
  const success = { stdout: "built\n", status: 0 };

  async function runWith(faults: Faults) {
    await using opened = await openProject(single, faults);
    const { project, server, run } = opened;
    await project.write({ "report.txt": "before\n" });
    const { stdout, stderr, status } = await run(["run", "--remote", "--silent", "build"]);
    const report = await Bun.file(project.join("report.txt")).text();
    const names = readdirSync(project.path)
      .filter((name) => !(name in single))
      .toSorted();
    return {
      stdout,
      stderr: stderr.replaceAll(server.url, "URL"),
      status,
      report,
      names,
      calls: server.calls,
    };
  }

  const untouched = {
    stdout: "",
    report: "before\n",
    names: [".git", "report.txt", "rtfig.toml"],
    status: 1,
  };

  // Two methods a run, because a run has a limit of retries.
  test.each([
    ["getCapabilities", "execute"],
    ["getActionResult", "batchUpdateBlobs"],
    ["findMissingBlobs", "batchReadBlobs"],
  ])("calls that fail with a transient error are retried: %s, %s", async (...methods) => {
    const codes = [undefined, Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED];
    const fail = (name: string, count: number) => (methods.includes(name) ? codes[count] : undefined);
    const result = await runWith({ fail });
    expect(result).toMatchObject({ ...success, report: "made\n" });
    for (const method of methods)
      expect(result.calls.filter((each) => each === method).length).toBeGreaterThan(2);
  });

  test.each<[string, Code, string]>([
    ["cannot be reached", Code.UNAVAILABLE, "getCapabilities"],
    ["rejected the credentials", Code.UNAUTHENTICATED, "getCapabilities"],
    ["denied permission", Code.PERMISSION_DENIED, "batchUpdateBlobs"],
    ["has no capacity", Code.RESOURCE_EXHAUSTED, "batchUpdateBlobs"],
    ["failed", Code.INTERNAL, "execute"],
    ["does not support the operation", Code.UNIMPLEMENTED, "execute"],
  ])("a failing server causes one error: it %s", async (reason, code, method) => {
    const result = await runWith({ fail: (name) => (name === method ? code : undefined) });
    expect(result).toMatchObject({
      ...untouched,
      stderr: `error: The server URL ${reason}: no ${method} now\n${HINT}`,
    });
    const isTransient = code === Code.UNAVAILABLE || code === Code.RESOURCE_EXHAUSTED;
    expect(result.calls.filter((each) => each === method).length > 1).toBe(isTransient);
  });

  test("retries within retries stay within the budget of the run", async () => {
    // Outputs cannot be read, so the script runs again, which fails too.
    const failing = ["batchReadBlobs", "execute"];
    const fail = (name: string, count: number) =>
      failing.includes(name) && (name !== "execute" || count > 1) ? Code.UNAVAILABLE : undefined;
    const { stderr, status, calls } = await runWith({ fail });
    expect({ stderr, status }).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^error: The server URL /),
    });
    // One successful execution, one failed call, and 4 + 4 retries. Nested loops alone would make 13 calls.
    expect(calls.filter((each) => failing.includes(each)).length).toBeWithin(3, 11);
  });

  test("a server that has lost inputs gets them again", async () => {
    const lost = { code: Code.FAILED_PRECONDITION, message: "missing blobs" };
    const result = await runWith({ status: (count) => (count === 1 ? lost : undefined) });
    expect(result).toMatchObject({ ...success, report: "made\n" });
    expect(result.calls.filter((each) => each === "findMissingBlobs").length).toBe(2);
    const never = await runWith({ status: () => lost });
    expect(never).toMatchObject({
      ...untouched,
      stderr: `error: The server URL failed: missing blobs\n${HINT}`,
    });
    expect(never.calls.filter((each) => each === "execute").length).toBe(3);
  });

  test("a server that has lost outputs makes the script run again", async () => {
    await using opened = await openProject(single);
    const { project, server, run } = opened;
    await run(["run", "--remote", "build"]);
    server.blobs.clear();
    await project.write({ "report.txt": "before\n" });
    expect(await run(["run", "--remote", "--silent", "build"])).toMatchObject(success);
    expect(await Bun.file(project.join("report.txt")).text()).toBe("made\n");
    expect(count(server, "execute")).toBe(2);
  });

  test("corrupted content is requested once more, and is an error if it stays corrupted", async () => {
    const flip = (bytes: Uint8Array) => bytes.map((byte, at) => (at === 0 ? byte ^ 1 : byte));
    let flipped = 0;
    const once = await runWith({ content: (bytes) => (flipped++ === 0 ? flip(bytes) : bytes) });
    expect(once).toMatchObject({ ...success, report: "made\n" });
    const message = expect.stringMatching(
      /^error: The server URL failed: it sent other content than [\da-f]{64}\nhint: .*\n$/,
    );
    expect(await runWith({ content: flip })).toMatchObject({ ...untouched, stderr: message });
    const longer = (bytes: Uint8Array) => Buffer.concat([bytes, bytes]);
    expect(await runWith({ content: longer })).toMatchObject(untouched);
    const shorter = (bytes: Uint8Array) => bytes.subarray(1);
    expect(await runWith({ content: shorter })).toMatchObject(untouched);
  });

  test.each<[string, Faults["result"]]>([
    [
      "has an undeclared path",
      (result, keep) => {
        const digest = toMessage(keep(Buffer.from("evil")));
        result.outputFiles.push(create(OutputFileSchema, { path: "../evil.txt", digest }));
      },
    ],
    ["has another directory", (result) => void (result.outputDirectories[0]!.path = "src")],
    [
      "has an invalid tree",
      (result, keep) =>
        void (result.outputDirectories[0]!.treeDigest = toMessage(keep(Buffer.from("evil\xff")))),
    ],
    [
      "has a .git directory",
      (result, keep) => void (result.outputDirectories[0]!.treeDigest = keepTree(keep, ".git", 1)),
    ],
    [
      "contains a folder twice in each folder",
      (result, keep) => void (result.outputDirectories[0]!.treeDigest = keepTree(keep, "d", 150)),
    ],
    ["has no digest", (result) => void (result.outputFiles[0]!.digest = undefined)],
  ])("an invalid output of the server is an error, and no file is written: it %s", async (_, result) => {
    const failure = await runWith({ result });
    expect(failure).toMatchObject(untouched);
    expect(failure.stderr).toMatch(/^error: The server URL failed: invalid output: .*\nhint: .*\n$/);
  });

  test("a server that stops during an execution causes an error", async () => {
    const started = Promise.withResolvers<void>();
    await using opened = await openProject(single, {
      started() {
        started.resolve();
        return new Promise(() => {});
      },
    });
    const { project, server } = opened;
    const child = startRt({
      args: ["run", "--remote", "--silent", "build"],
      cwd: project.path,
      env: opened.env,
    });
    await started.promise;
    await server[Symbol.asyncDispose]();
    expect(await child.exited).toBe(1);
    expect(await new Response(child.stderr).text()).toStartWith(
      `error: The server ${server.url} cannot be reached: `,
    );
    expect(readdirSync(project.path).toSorted()).toEqual([".git", "in.txt", "package.json", "rtfig.toml"]);
  });

  test("a stream that ends before the execution is resumed, and the script runs once", async () => {
    await using opened = await openProject(single, { cut: (count) => count <= 2 });
    const { server, run } = opened;
    expect(await run(["run", "--remote", "--silent", "build"])).toMatchObject(success);
    expect(server.calls.filter((each) => /[eE]xecut/.test(each))).toEqual([
      ...["execute", "waitExecution", "waitExecution"],
    ]);
    expect(server.commands.length).toBe(1);
  });

  test("an execution continues over a new connection", async () => {
    await using opened = await openHeld();
    const { started, over } = opened;
    const { project, server } = opened;
    const sockets = new Set<{ end(): void; terminate(): void }>();
    // A proxy whose connections the test can cut.
    using proxy = Bun.listen<{ far?: Bun.Socket }>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open(near) {
          const waiting: Uint8Array[] = [];
          near.data = {};
          sockets.add(near);
          void Bun.connect({
            hostname: "127.0.0.1",
            port: server.port,
            socket: {
              open(far) {
                near.data.far = far;
                for (const bytes of waiting) far.write(bytes);
              },
              data: (_, bytes) => void near.write(bytes),
              close: () => void near.end(),
            },
          });
          Object.assign(near.data, { waiting });
        },
        data(near, bytes) {
          const { far, waiting } = near.data as { far?: Bun.Socket; waiting: Uint8Array[] };
          if (far) far.write(bytes);
          else waiting.push(new Uint8Array(bytes));
        },
        close: (near) => void near.data.far?.end(),
      },
    });
    await project.write({ "rtfig.toml": config(`grpc://127.0.0.1:${proxy.port}`) });
    const child = startRt({
      args: ["run", "--remote", "--silent", "build"],
      cwd: project.path,
      env: opened.env,
    });
    await started.promise;
    for (const socket of sockets) socket.terminate();
    // Depending on the events received before, rt waits for the same execution or starts an identical one.
    const attempts = () => count(server, "waitExecution") + count(server, "execute");
    await waitUntil(() => attempts() === 2);
    over.resolve();
    expect(await child.exited).toBe(0);
    expect(await Bun.file(project.join("report.txt")).text()).toBe("made\n");
    expect(attempts()).toBe(2);
  });

  test("a client certificate and headers are sent only to a server whose certificate is trusted", async () => {
    await using certificates = await createCertificates();
    const { key, cert, authority } = certificates;
    await using server = await openReapiServer({}, { key, cert, ca: await Bun.file(authority).text() });
    await using project = await createProject({ ...single, "client.key": key, "client.pem": cert });
    await Bun.spawn(["git", "init", "--quiet"], { cwd: project.path, env: cleanEnvironment() }).exited;
    const run = async (more: string, env?: Environment) => {
      await project.write({ "rtfig.toml": config(server.url, `timeout = 20\n${more}`) });
      const allowed = { ...(await trustAll(project.path)), ...env };
      return await runRt({ args: ["run", "--remote", "--silent", "build"], cwd: project.path, env: allowed });
    };
    const known = `ca = "${authority}"\n`;
    const client = 'cert = "client.pem"\nkey = "client.key"\n';
    const header = '[run.remote.headers]\nx-api-key = "Bearer $API_KEY"\n';
    const env = { API_KEY: "s3cret-t0ken" };
    expect(await run(`${known}${client}${header}`, env)).toMatchObject({ ...success, stderr: "warned\n" });
    expect(server.headers.get("x-api-key")).toBe("Bearer s3cret-t0ken");
    const calls = server.calls.length;
    for (const wrong of [client, known]) {
      const { stderr, status } = await run(`${wrong}${header}`, env);
      expect(status).toBe(1);
      expect(stderr).toStartWith(`error: The server ${server.url} cannot be reached: `);
      expect(stderr).not.toContain("s3cret");
    }
    expect(server.calls.length).toBe(calls);
  });

  test("TLS verification and proxy settings are not affected by a project's .env", async () => {
    await using certificates = await createCertificates();
    const { key, cert, authority, directory } = certificates;
    await using server = await openReapiServer({}, { key, cert });
    let visits = 0;
    using proxy = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open(socket) {
          visits++;
          socket.end();
        },
        data() {},
      },
    });
    const address = `http://127.0.0.1:${proxy.port}`;
    const proxies = ["grpc_proxy", "https_proxy", "http_proxy", "all_proxy"];
    const lines = [
      "NODE_TLS_REJECT_UNAUTHORIZED=0",
      `NODE_EXTRA_CA_CERTS=${authority}`,
      `SSL_CERT_FILE=${authority}`,
      `SSL_CERT_DIR=${directory}`,
      "NODE_USE_SYSTEM_CA=1",
      ...proxies.flatMap((name) => [`${name}=${address}`, `${name.toUpperCase()}=${address}`]),
    ];
    await using project = await createProject({ ...single, ".env": lines.join("\n") });
    await Bun.spawn(["git", "init", "--quiet"], { cwd: project.path, env: cleanEnvironment() }).exited;
    const header = '[run.remote.headers]\nx-api-key = "$API_KEY"\n';
    const run = async (more: string, script = "build") => {
      await project.write({ "rtfig.toml": config(server.url, `${more}${header}`) });
      const env = { API_KEY: "s3cret-t0ken", ...(await trustAll(project.path)) };
      return await runRt({ args: ["run", "--remote", "--silent", script], cwd: project.path, env });
    };
    const refused = await run("");
    expect(refused.stderr).toStartWith(`error: The server ${server.url} cannot be reached: `);
    expect({ status: refused.status, calls: server.calls, visits }).toEqual({
      status: 1,
      calls: [],
      visits: 0,
    });
    // Only the certificate was wrong.
    expect(await run(`ca = "${authority}"\n`)).toMatchObject(success);
    expect(visits).toBe(0);
  });
});

describe("invalid use of --remote", () => {
  test.each<[string[], string, string | undefined]>([
    [["--watch"], "--remote cannot be used with --watch", undefined],
    [["--verify-inputs"], "--remote cannot be used with --verify-inputs", undefined],
    [
      ["--secret=TOKEN=service/name"],
      "The script receives secrets, which are never sent to another machine",
      "omit --remote to run it locally",
    ],
  ])(
    "invalid arguments with --remote are an error before anything is sent: %j",
    async (words, message, hint) => {
      await using project = await createProject({ ...single, "rtfig.toml": config("grpc://127.0.0.1:1") });
      const { stderr, status } = await runRt({
        args: ["run", "--remote", ...words, "build"],
        cwd: project.path,
      });
      expect(stderr).toBe(`error: ${message}\n${hint === undefined ? "" : `hint: ${hint}\n`}`);
      expect(status).toBe(1);
    },
  );

  const url = (value: string) => `[run.remote]\nurl = "${value}"\nsystem = "${SYSTEM}"\n`;
  const outputs = (value: string) =>
    `${url("grpc://localhost:1")}[run.remote.scripts.build]\noutputs = ["${value}"]\n`;
  const noOutput = (value: string) =>
    `run.remote.scripts.build.outputs: "${value}" is not a file or directory of the package`;
  const outputPaths = [
    "/dist",
    "dist/*",
    "",
    ".",
    "a/../b",
    "node_modules",
    "dist/.git",
    "a/.GIT/x",
    ".git/hooks",
  ];
  test("the reader of [run.remote] rejects invalid addresses, headers and outputs", () => {
    const given = collectOptions(parseCommandLine(["run", "--remote", "build"], OPTIONS).options);
    const cases: [string, string][] = [
      [url("grpc://x/y"), 'run.remote.url is not a server address: "grpc://x/y"'],
      [url("https://x"), 'run.remote.url is not a server address: "https://x"'],
      [url("grpcs://10.0.0.1:9"), "run.remote.url needs a host name with grpcs://, not an IP address"],
      [
        `${url("grpc://example.com")}[run.remote.headers]\nx-key = "k"`,
        "[run.remote.headers] would be sent unencrypted",
      ],
      [
        `${url("grpcs://example.com")}[run.remote.headers]\nX-Key = "k"`,
        "run.remote.headers.X-Key is not a valid header name",
      ],
      ...outputPaths.map((value): [string, string] => [outputs(value), noOutput(value)]),
    ];
    for (const [text, message] of cases) {
      const read = () => readRemoteSettings(parseConfig(text, "rtfig.toml"), given, "/", undefined);
      expect(read, text).toThrow(new UserError(message));
    }
  });

  test.each<[string, string]>([
    ["", "--remote needs the URL of a server"],
    [url("grpc://a:s3cret@x"), "run.remote.url has a password in it"],
    [
      `${url("grpcs://example.com")}[run.remote.headers]\nx-key = "$NOT_SET"`,
      "NOT_SET is not set, which run.remote.headers.x-key needs",
    ],
    [`${url("grpcs://example.com")}ca = "none.pem"`, "Cannot read run.remote.ca, $PROJECT/none.pem: ENOENT"],
    [outputs("../dist"), noOutput("../dist")],
    [
      `[run.remote]\nurl = "grpc://localhost:1"\nsystem = "plan9-mips"`,
      `The script cannot run remotely: the server runs plan9-mips, and node_modules is for ${SYSTEM}`,
    ],
  ])("invalid configuration of --remote is an error before anything is sent: %j", async (text, message) => {
    await using project = await createProject({ ...single, "rtfig.toml": text });
    const { stderr, status } = await runRt({ args: ["run", "--remote", "build"], cwd: project.path });
    expect(stderr.split("\n")[0]).toBe(`error: ${message.replace("$PROJECT", project.path)}`);
    expect(status).toBe(1);
    expect(stderr).not.toContain("s3cret");
  });

  test("--remote rejects files, symlinks out of the workspace, and folders without git", async () => {
    await using project = await createProject({
      ...single,
      "x.ts": "1",
      "rtfig.toml": `[run.remote]\nurl = "grpc://127.0.0.1:1"\nsystem = "${SYSTEM}"\n`,
    });
    const run = async (name: string) =>
      (await runRt({ args: ["run", "--remote", name], cwd: project.path })).stderr.split("\n")[0];
    expect(await run("x.ts")).toBe("error: --remote works with package.json scripts only");
    expect(await run("build")).toBe(`error: git cannot list the files of ${project.path}`);
    await Bun.spawn(["git", "init", "--quiet"], { cwd: project.path, env: cleanEnvironment() }).exited;
    symlinkSync("/etc/passwd", project.join("users"));
    expect(await run("build")).toBe("error: users leads out of the workspace, to /etc/passwd");
    // An absolute target is another path on another machine, even if it is in the workspace.
    const linked = async (target: string) => {
      rmSync(project.join("users"));
      symlinkSync(target, project.join("users"));
      return await run("build");
    };
    for (const target of [project.join("in.txt"), project.path, "/", "..", "../x", "a/../../x"])
      expect(await linked(target)).toBe(`error: users leads out of the workspace, to ${target}`);
    for (const target of ["in.txt", ".", "..x", "a/../in.txt"])
      expect(await linked(target)).not.toContain("leads out of the workspace");
    // The file is in git's index, but its state is unknown because of a symlink loop.
    const round = "rm users && mkdir a && touch a/x && git add a/x && rm -r a && ln -s a a";
    await Bun.spawn(["sh", "-ec", round], { cwd: project.path, env: cleanEnvironment() }).exited;
    expect(await run("build")).toBe(`error: Cannot read ${project.join("a/x")}: ELOOP`);
    expect(existsSync(project.join("dist"))).toBe(false);
  });
});
