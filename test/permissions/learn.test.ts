// rt run --learn proposes the permissions of a task, and rt permissions check compares them with what it uses.
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createProject, type Files } from "../support/project.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { cleanEnvironment, REPOSITORY, RT, runRt, startRt } from "../support/rt.ts";
import { hashIn } from "../support/trusted.ts";

/** A project beside a shared folder, with a home folder. */
async function besideFolders(scripts: Readonly<Record<string, string>>, files: Files = {}) {
  const project = await createProject({
    "shared/data": "shared\n",
    "home/.npmrc": "token\n",
    "home/.tool/cache/x": "cache\n",
    "shop/package.json": { name: "shop", type: "module", scripts },
    ...Object.fromEntries(Object.entries(files).map(([name, content]) => [`shop/${name}`, content])),
  });
  // As version managers do: a link in PATH leads to the tools.
  await project.write({ "tools-1.0/bin/linked": "#!/bin/sh\n:\n" });
  chmodSync(project.join("tools-1.0/bin/linked"), 0o755);
  symlinkSync(project.join("tools-1.0"), project.join("tools"));
  const cwd = project.join("shop");
  const env = { HOME: project.join("home"), PATH: `${project.join("tools/bin")}:${process.env.PATH}` };
  const rt = async (...args: string[]) => {
    const first = await runRt({ args, cwd, env });
    const hash = hashIn(first);
    return hash === undefined ? first : await runRt({ args, cwd, env: { ...env, RT_TRUST: hash } });
  };
  const config = () => readFileSync(project.join("shop/rtfig.toml"), "utf8");
  return { project, cwd, env, rt, config, [Symbol.asyncDispose]: () => project[Symbol.asyncDispose]() };
}

describe.skipIf(process.platform !== "linux")("permissions", () => {
  test("--learn proposes the shortest table, under which the task runs, and later only what is new", async () => {
    await using place = await besideFolders(
      {
        prebuild: "mkdir -p node_modules/.temp && echo > node_modules/.temp/x",
        build:
          "cat ../shared/data ~/.npmrc ~/.tool/cache/x; mkdir -p dist/a; echo > dist/a/x; echo > dist/y; echo > $TMPDIR/z; mkdir -p .cache/da39a3ee5e6b4b0d && echo > .cache/da39a3ee5e6b4b0d/x; linked",
      },
      { "rtfig.toml": '# comment\n[tasks.build]\npermissions = true\ntimeout = "1h" # long' },
    );
    const table =
      '[tasks.build.permissions]\nread = ["~/.npmrc", "~/.tool/cache/**", "../shared/**"]\nwrite = [".cache/**", "dist/**", "node_modules/.temp/**"]\n';
    const shown = await place.rt("run", "--silent", "--learn=write", "build");
    const difference = `rtfig.toml\n- permissions = true\n${table.replace(/^/gm, "+ ").slice(0, -2)}`;
    expect([shown.stdout, shown.stderr, shown.status]).toEqual([
      `shared\ntoken\ncache\n${difference}`,
      'Wrote the permissions of "build" to rtfig.toml\n',
      0,
    ]);
    expect(place.config()).toBe(`# comment\n[tasks.build]\ntimeout = "1h" # long\n\n${table}`);
    const checked = await place.rt("permissions", "check");
    expect([checked.status, checked.stderr]).toEqual([
      0,
      expect.stringContaining("No task used more") as string,
    ]);

    // A changed dependency reads more, and hides the error.
    await place.project.write({
      "home/.ssh/id": "key\n",
      "shop/package.json": { name: "shop", scripts: { build: "cat ~/.ssh/id || true" } },
    });
    const stolen = await place.rt("permissions", "check", "build");
    expect([stolen.status, stolen.stdout]).toEqual([1, expect.not.stringContaining("key") as string]);
    expect(stolen.stdout).toBe(
      'rtfig.toml\n- read = ["~/.npmrc", "~/.tool/cache/**", "../shared/**"]\n+ read = ["~/.npmrc", "~/.tool/cache/**", "../shared/**", "~/.ssh/**"]\n',
    );
    expect(stolen.stderr).toContain('error: The permissions of "build" do not allow what was used\n');
    const learned = await place.rt("run", "--silent", "--learn", "build");
    expect(learned.stdout).toBe(`key\n${stolen.stdout}`);
    const run = "learned run of \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC";
    const hint = "hint: to write it, use --learn=write\n";
    expect(learned.stderr).toMatch(
      new RegExp(`^read ~/\\.ssh/\\*\\* was not needed by the ${run}\n${hint}$`),
    );
    // It was not written, so it is proposed again.
    const again = await place.rt("run", "--silent", "--learn", "build");
    expect(again.stderr).toMatch(
      new RegExp(`^read ~/\\.ssh/\\*\\* is needed since the ${run}; that of .* did not need it\n${hint}$`),
    );
  });

  test("--learn writes a table after a yes on a terminal, and proposes none when the task fails", async () => {
    await using place = await besideFolders({ build: "echo > out", fail: "cat ../shared/data; exit 3" });
    const env = cleanEnvironment(place.env);
    await using terminal = startOnTerminal([RT, "run", "--learn", "build"], env, { cwd: place.cwd });
    await terminal.awaitOutput("[y/N]");
    terminal.type("y\r");
    expect(await terminal.awaitExit()).toBe(0);
    expect(place.config()).toBe("[tasks.build.permissions]\n");
    const failed = await place.rt("run", "--silent", "--learn=write", "fail");
    expect([failed.status, failed.stderr]).toEqual([
      3,
      "warning: no permissions are proposed, because the run failed\n",
    ]);
    expect(place.config()).not.toContain("fail");
  });

  test("--learn proposes what a server needed until Ctrl-C", async () => {
    await using place = await besideFolders({ serve: "cat ../shared/data && exec sleep 600" });
    const args = ["run", "--silent", "--learn=write", "serve"];
    const server = startRt({ args, cwd: place.cwd, env: place.env });
    const output = server.stdout.getReader();
    await output.read();
    server.kill("SIGINT");
    await server.exited;
    const expected = '[tasks.serve.permissions]\nread = ["../shared/**"]\nwrite = []\n';
    expect([server.signalCode, place.config()]).toEqual(["SIGINT", expected]);
  });

  test("--learn proposes no host for Chromium's test of IPv6, which sends nothing", async () => {
    const code = `const socket = require("node:dgram").createSocket("udp6"); socket.on("error", () => socket.close()); socket.connect(443, "2001:4860:4860::8888", () => socket.close());`;
    await using place = await besideFolders({ probe: "rt ./probe.js" }, { "probe.js": code });
    await place.rt("run", "--silent", "--learn=write", "probe");
    expect(place.config()).toStartWith("[tasks.probe.permissions]\n");
    expect(place.config()).not.toContain("hosts");
  });

  test("--learn writes nothing if rtfig.toml has changed during the run", async () => {
    await using place = await besideFolders({ build: "echo '# mine' > rtfig.toml" });
    const { stderr, status } = await place.rt("run", "--silent", "--learn=write", "build");
    expect([status, stderr]).toEqual([
      1,
      "error: rtfig.toml has changed during the run\nhint: run it again\n",
    ]);
    expect(place.config()).toBe("# mine\n");
  });

  test("check recalls a cached task whose run kept to the same permissions, and no other run", async () => {
    await using place = await besideFolders(
      { build: "sh ./build.sh", declared: "cat ~/.npmrc || true" },
      {
        "build.sh": "date +%N\n",
        "rtfig.toml":
          '[tasks.build]\ncache = true\n[tasks.build.permissions]\nwrite = ["dist/**"]\n[tasks.declared]\ncache = true\ntrace = false\noutputs = []\n',
      },
    );
    const check = async (...names: string[]) => await place.rt("permissions", "check", ...names);
    const time = ({ stdout }: { readonly stdout: string }) => /\d{9}$/m.exec(stdout)![0];
    // A plain run does not count.
    const run = await place.rt("run", "build");
    const [first, second] = [await check(), await check()];
    expect([first.status, second.status, second.stderr]).toEqual([
      0,
      0,
      expect.stringContaining("No task used more") as string,
    ]);
    expect([time(first) === time(run), time(second) === time(first)]).toEqual([false, true]);
    // A changed dependency hides its error, so the run succeeds and is cached.
    await place.project.write({ "shop/build.sh": "cat ~/.npmrc || true\n" });
    expect((await place.rt("run", "build")).status).toBe(0);
    for (const round of ["first", "again"]) {
      const { status, stdout } = await check();
      expect([round, status, stdout]).toEqual([
        round,
        1,
        expect.stringContaining('+ read = ["~/.npmrc"]') as string,
      ]);
    }
    // Without the tracer, the cache has no record of what a task reads.
    for (const round of ["first", "again"])
      expect([round, (await check("declared")).status]).toEqual([round, 1]);
    await place.project.write({ "shop/build.sh": "date +%N\n" });
    expect(time(await check())).toBe(time(first));
    const folders = { PATH: `${place.project.join("shared")}:${place.env.PATH}` };
    const elsewhere = await runRt({
      args: ["permissions", "check"],
      cwd: place.cwd,
      env: { ...place.env, ...folders },
    });
    expect([elsewhere.status, time(elsewhere) === time(first)]).toEqual([0, false]);
  });

  test("check runs the tasks of all packages and of the root in the root of a workspace", async () => {
    await using place = await besideFolders(
      { lint: "echo of the root" },
      {
        "package.json": { name: "root", workspaces: ["packages/*"], scripts: { lint: "echo of the root" } },
        "packages/a/package.json": { name: "a", scripts: { test: "echo of a" } },
        "packages/b/package.json": { name: "b", scripts: { test: "cat ../../../shared/data" } },
        "rtfig.toml": "[tasks.test]\npermissions = true\n[tasks.lint]\npermissions = true\n",
      },
    );
    const { stdout, status } = await place.rt("permissions", "check");
    expect(status).toBe(1);
    expect(stdout).toMatch(/of a\n/);
    expect(stdout).toMatch(/of the root\n/);
    expect(stdout).toContain("+ read = [");
  });

  test("check refuses a row of rtfig.toml whose name is an option", async () => {
    await using place = await besideFolders(
      { build: "echo" },
      {
        "rtfig.toml":
          '[tasks."--report=../stolen.json"]\npermissions = true\n[tasks.build]\npermissions = true\n',
      },
    );
    const { stderr, status } = await place.rt("permissions", "check");
    expect([status, stderr]).toEqual([
      1,
      'error: rt permissions check has no option "--report=../stolen.json"\nhint: for options of a run: rt run --explain=check build\n',
    ]);
    expect(existsSync(place.project.join("stolen.json"))).toBe(false);
  });

  test("--learn proposes few lines for tsc, and tsc runs under them", async () => {
    await using place = await besideFolders(
      { tsc: "tsc -p ." },
      {
        "src/add.ts": "export const add = (value: number): number => value + 1;\n",
        "tsconfig.json": {
          compilerOptions: { lib: ["es5"], outDir: "out", rootDir: "src", skipLibCheck: true, types: [] },
          include: ["src"],
        },
      },
    );
    mkdirSync(join(place.cwd, "node_modules/.bin"), { recursive: true });
    for (const name of ["typescript", ".bin/tsc"])
      symlinkSync(join(REPOSITORY, "node_modules", name), join(place.cwd, "node_modules", name));
    await place.rt("run", "--silent", "--learn=write", "tsc");
    const lines = place.config().trim().split("\n");
    expect([lines.length < 6, lines.at(-1)]).toEqual([true, 'write = ["out/**"]']);
    const limited = await place.rt("run", "--silent", "tsc");
    expect([limited.status, limited.stderr]).toEqual([0, ""]);
    expect(existsSync(join(place.cwd, "out/add.js"))).toBe(true);
  });
});
