// `rt --watch run --filter`: a change restarts the affected packages, and the others keep running. Each script prints its
// process ID. A package was not restarted if its process still exists after a later event.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { startLive } from "../options/live.ts";
import { freePort } from "../support/servers/ports.ts";
import { createMark, serverOfSecondThread, waitUntil } from "../support/processes.ts";
import { PYTHON } from "../support/programs/programs.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { workspace } from "../support/workspace.ts";

/** Prints its process ID and keeps running. */
const SERVE = "echo up $$; exec sleep 1000";
/** Starts a process in a separate session, without a parent. */
const START_ORPHAN = "(setsid sh -c 'echo left $$; exec sleep 1000' &)";
const dev = (line: string, ...needed: readonly string[]) => ({
  scripts: { dev: line },
  dependencies: Object.fromEntries(needed.map((name) => [name, "*"])),
});

interface Watched extends AsyncDisposable {
  readonly project: Project;
  readonly output: string;
  /** Resolves with the matching output. */
  waitForOutput(pattern: RegExp | string): Promise<string>;
  /** Returns the next word after this one in each package's output, in any order. */
  next(word: string, ...names: readonly string[]): Promise<string[]>;
  change(name: string): Promise<void>;
  end(): Promise<number | string>;
  /** Sends SIGINT once. */
  interrupt(): void;
  family(): number;
}

async function watch(files: Files, ...options: readonly string[]): Promise<Watched> {
  const project = await createProject(files);
  const live = startLive({
    args: ["--watch", "run", ...options, "dev"],
    cwd: project.path,
    env: { NO_COLOR: "1", RT_CONCURRENCY: "8" },
  });
  const counts = new Map<string, number>();
  let changes = 0;
  return {
    project,
    get output() {
      return live.output;
    },
    waitForOutput: async (pattern) => (await live.see(pattern))[0],
    async next(word, ...names) {
      const find = async (name: string) => {
        const line = `^${name}(?::dev +\\|| dev:) ${word} (\\S+)$`;
        const count = counts.get(line) ?? 0;
        counts.set(line, count + 1);
        const all = () => [...live.output.matchAll(new RegExp(line, "gm"))];
        await waitUntil(() => all().length > count);
        return all()[count]![1]!;
      };
      return await Promise.all(names.map(find));
    },
    change: async (name) => await project.write({ [name]: `// ${++changes}` }),
    async end() {
      live.kill("SIGINT");
      return await live.ended;
    },
    interrupt: () => live.kill("SIGINT"),
    family: () => live.family(),
    async [Symbol.asyncDispose]() {
      await live[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

/** A zombie counts as ended. */
function isAlive(pid: string): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

test("a change restarts the affected packages with all their processes, and the others keep running", async () => {
  const packages = {
    api: dev(`${START_ORPHAN}; ${SERVE}`),
    app: dev(SERVE, "api"),
    other: dev(`${START_ORPHAN}; ${SERVE}`),
    unnamed: {},
  };
  await using live = await watch(workspace(packages), "--parallel", "--filter=*");
  const [api, app, other] = await live.next("up", "api", "app", "other");
  const [apiLeft, otherLeft] = await live.next("left", "api", "other");
  await live.change("packages/api/src/a.ts");
  const [api2, app2] = await live.next("up", "api", "app");
  const [api2Left] = await live.next("left", "api");
  expect([api, app, apiLeft].filter((pid) => isAlive(pid!))).toEqual([]);
  await live.change("packages/app/a.ts");
  const [app3] = await live.next("up", "app");
  expect(isAlive(app2!)).toBe(false);
  await live.change("packages/unnamed/a.ts");
  await live.waitForOutput("packages/unnamed/a.ts changed; no selected package depends on it");
  const alive = [api2, api2Left, app3, other, otherLeft];
  expect(alive.filter((pid) => isAlive(pid!))).toEqual(alive);
  expect(live.output.match(/^rt: .*changed$/gm)).toEqual([
    "rt: packages/api/src/a.ts changed",
    "rt: packages/app/a.ts changed",
  ]);
  expect(await live.end()).toBe("SIGINT");
  expect(live.family()).toBe(0);
});

test("a server whose first thread has ended is stopped with the package that started it", async () => {
  const [mine, others, traceless] = [freePort(), freePort(), freePort()];
  const serve = `(setsid ${PYTHON} server.py &) ; ${SERVE}`;
  const leave = `(setsid env -i PATH="$PATH" ${PYTHON} traceless.py &)`;
  const files = workspace({ api: dev(serve), other: dev(`${leave}; ${serve}`) });
  const servers = {
    "packages/api/server.py": serverOfSecondThread(mine),
    "packages/other/server.py": serverOfSecondThread(others),
    "packages/other/traceless.py": serverOfSecondThread(traceless),
  };
  await using live = await watch({ ...files, ...servers }, "--parallel", "--filter=*");
  await waitUntil(() => [others, traceless].every((port) => live.output.includes(`serving ${port}`)));
  for (let round = 0; round < 2; round += 1) {
    if (round > 0) await live.change("packages/api/a.ts");
    const line = new RegExp(`serving ${mine}|already in use`, "g");
    await waitUntil(() => (live.output.match(line)?.length ?? 0) > round);
  }
  expect(live.output).not.toContain("already in use");
  const isServed = async (port: number) =>
    await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).then(
      (socket) => (socket.end(), true),
      () => false,
    );
  const served = async () => await Promise.all([mine, others, traceless].map(isServed));
  expect(await served()).toEqual([true, true, true]);
  expect(await live.end()).toBe("SIGINT");
  // A process that was killed closes its files some time later.
  await waitUntil(async () => !(await served()).includes(true));
});

/** A process without the marker of its script. */
const TRACELESS = "env -i /bin/sh -c 'echo traceless $$; echo > printed; exec sleep 1000'";
/** Waits for its line, because output of a background process is lost when its script has ended. */
const PRINTED = "until test -e printed; do sleep 0.01; done";

test("a process that ignores SIGTERM is killed before the restart, and an untraceable one when rt ends", async () => {
  const stubborn = "sh -c 'trap \"\" TERM; echo stubborn $$; while :; do sleep 0.05; done' &";
  const traceless = `(setsid ${TRACELESS} &); ${PRINTED}`;
  const packages = {
    api: dev(`${stubborn} ${SERVE}`),
    ended: dev(`${stubborn} echo up $$`),
    other: dev(`${traceless}; echo done yes`),
  };
  await using live = await watch(workspace(packages), "--parallel", "--filter=*");
  const first = await live.next("stubborn", "api", "ended");
  const [stray] = await live.next("traceless", "other");
  await live.next("up", "api", "ended");
  await live.waitForOutput(/^ended:dev \| Done /m);
  await live.project.write({ "packages/api/a.ts": "1", "packages/ended/a.ts": "1" });
  // All processes are killed before any script restarts.
  await live.next("up", "ended");
  expect(first.filter(isAlive)).toEqual([]);
  const [up] = await live.next("up", "api");
  expect([up, stray].filter((pid) => isAlive(pid!))).toEqual([up, stray]);
  const second = await live.next("stubborn", "api", "ended");
  live.interrupt();
  await live.waitForOutput(/^api:dev +\| Killed by SIGINT$/m);
  // The second signal kills.
  expect(await live.end()).toBe("SIGINT");
  expect([...second, up, stray].filter((pid) => isAlive(pid!))).toEqual([]);
  expect(live.family()).toBe(0);
});

test("a process that a hook left without its marker is found by the hook's session and killed", async () => {
  const traceless = `rm -f printed; ${TRACELESS} & ${PRINTED}`;
  const packages = { api: { scripts: { predev: traceless, dev: SERVE } } };
  await using live = await watch(workspace(packages), "--filter=*");
  const [up] = await live.next("up", "api");
  const stray = (await live.waitForOutput(/traceless \d+/)).slice("traceless ".length);
  await live.change("packages/api/a.ts");
  await live.next("up", "api");
  expect([up!, stray].filter(isAlive)).toEqual([]);
  expect(await live.end()).toBe("SIGINT");
});

test("a script that ends or fails stops no other script, and restarts after a change that affects it", async () => {
  const packages = {
    api: dev('test -e a.ts || exit 3; echo found "$(cat a.ts)"'),
    app: dev("echo tried yes; sh a.sh", "api"),
    other: dev(SERVE),
  };
  await using live = await watch(workspace(packages), "--filter=*");
  const [other] = await live.next("up", "other");
  await live.waitForOutput("api dev: Exited with code 3");
  // app could not run after the failure, so both run again.
  await live.change("packages/app/a.ts");
  await live.waitForOutput("api dev: Exited with code 3\napp dev: Skipped because api dev did not succeed\n");
  await live.project.write({ "packages/api/a.ts": "1" });
  await live.next("found", "api");
  await live.next("tried", "app");
  await live.waitForOutput(/^app dev: Exited with code \d+$/m);
  await live.project.write({ "packages/app/a.sh": SERVE, "packages/app/a.ts": "// now it counts" });
  const [app] = await live.next("up", "app");
  expect(live.output.split("api dev: found").length).toBe(2);
  expect([other, app].map((pid) => isAlive(pid!))).toEqual([true, true]);
});

test("a dependent restarts only after the script that it depends on has ended", async () => {
  const packages = {
    lib: dev('until test -e go; do sleep 0.05; done; rm go; echo built "$(cat a.ts)"'),
    app: dev(SERVE, "lib"),
  };
  await using live = await watch(
    workspace(packages, { "packages/lib/a.ts": "" }),
    "--filter=*",
    "--watch-ignore=go",
  );
  const build = async (text: string) => {
    await live.project.write({ "packages/lib/go": "" });
    expect(await live.next("built", "lib")).toEqual([text]);
  };
  await live.project.write({ "packages/lib/a.ts": "1" });
  await build("1");
  const [app] = await live.next("up", "app");
  await live.project.write({ "packages/lib/a.ts": "2" });
  await waitUntil(() => !isAlive(app!));
  await live.waitForOutput("packages/lib/a.ts changed");
  const before = live.output.length;
  await build("2");
  const [app2] = await live.next("up", "app");
  expect(live.output.slice(before)).toMatch(
    /^lib dev: built 2\nlib dev: Exited with code 0\napp dev: up \d+\n$/m,
  );
  expect(isAlive(app2!)).toBe(true);
});

test("a change of the list of packages plans the run again, and an error in a package.json waits for a change", async () => {
  const packages = { api: dev(SERVE), app: dev(SERVE) };
  await using live = await watch(workspace(packages), "--parallel", "--filter=*");
  const first = await live.next("up", "api", "app");
  await live.project.write({ "packages/new/package.json": { name: "new", scripts: { dev: SERVE } } });
  const second = await live.next("up", "api", "app", "new");
  expect(first.filter(isAlive)).toEqual([]);
  await live.project.write({ "packages/new/package.json": '{ "name": "new", ' });
  await live.waitForOutput(
    /^error: Cannot read .*\/new\/package\.json:1:\d+: .*\n(?:hint: .*\n)?rt: "dev" exited with code 1; waiting for a change$/m,
  );
  expect(second.filter(isAlive)).toEqual([]);
  await live.project.write({ "packages/new/package.json": { name: "new", scripts: {} } });
  const third = await live.next("up", "api", "app");
  await live.project.write({
    "packages/api/package.json": { name: "api", scripts: { dev: `echo changed yes; ${SERVE}` } },
  });
  await live.next("changed", "api");
  await live.next("up", "api", "app");
  expect(third.filter(isAlive)).toEqual([]);
  expect(await live.end()).toBe("SIGINT");
  expect(live.family()).toBe(0);
});

test("Ctrl-C ends a background process that ignores SIGINT with SIGTERM, before the grace period is over", async () => {
  const background =
    "(trap 'echo TERM > heard; exit' TERM; echo up $$; exec >/dev/null 2>&1; while :; do sleep 0.05; done) & sleep 1000";
  await using live = await watch(workspace({ api: dev(background) }), "--filter=*");
  await live.next("up", "api");
  expect(await live.end()).toBe("SIGINT");
  expect(await Bun.file(live.project.join("packages/api/heard")).text()).toBe("TERM\n");
  expect(live.family()).toBe(0);
});

test("SIGINT ends a watched run whose plan has an error", async () => {
  await using live = await watch(workspace({ api: dev(SERVE) }), "--filter=*");
  await live.next("up", "api");
  await live.project.write({ "packages/api/package.json": "{" });
  await live.waitForOutput("waiting for a change");
  expect(await live.end()).toBe("SIGINT");
  expect(live.output).toEndWith("waiting for a change\n");
  expect(live.family()).toBe(0);
});

test("a script that writes its own inputs is detected while the others keep running", async () => {
  const packages = {
    api: dev("date +%N > stamp.ts; echo wrote it; exec sleep 1000"),
    app: dev("date +%N > stamp.ts; echo wrote it; exec sleep 1000", "api"),
    other: dev(SERVE),
  };
  await using live = await watch(
    workspace(packages, { "packages/api/stamp.ts": "", "packages/app/stamp.ts": "" }),
    "--parallel",
    "--filter=*",
  );
  const [other] = await live.next("up", "other");
  const named = (name: string) =>
    waitUntil(() => live.output.includes(`the script writes packages/${name}/stamp.ts, which it watches`));
  await named("api");
  await named("app");
  expect(isAlive(other!)).toBe(true);
});

test("a watched run with --sequential continues with the scripts that have not started", async () => {
  const packages = { a: dev("sh a.sh"), b: dev("echo ran b"), c: dev("echo ran c") };
  await using live = await watch(workspace(packages), "--sequential", "--filter=*");
  await live.waitForOutput(/^c:dev \| Not started$/m);
  await live.waitForOutput("waiting for a change");
  await live.project.write({ "packages/a/a.sh": "echo ran a", "packages/a/a.ts": "" });
  await live.waitForOutput(/^a:dev \| ran a\n.*\nb:dev \| ran b\n.*\nc:dev \| ran c\n.*\n/m);
  await live.waitForOutput('rt: "dev" exited with code 0; waiting for a change');
  await live.change("packages/b/a.ts");
  await live.waitForOutput("rt: packages/b/a.ts changed\nb:dev | ran b\n");
  await live.waitForOutput('rt: "dev" exited with code 0; waiting for a change');
});

test("a watched run on a terminal updates its view, and Ctrl-C leaves no process", async () => {
  await using project = await createProject(
    workspace({ api: dev(`${START_ORPHAN}; ${SERVE} `), other: dev(SERVE) }),
  );
  const mark = createMark();
  const line = `cd '${project.path}' && exec '${RT}' --watch run --filter '*' dev`;
  const env = { ...cleanEnvironment(), ...mark.env, RT_CONCURRENCY: "8" } as Record<string, string>;
  await using terminal = startOnTerminal(["script", "-qec", line, "/dev/null"], env);
  await terminal.awaitOutput("Running...", 2);
  await terminal.awaitOutput("left ");
  const found = () => mark.find().filter(({ command }) => command === "sleep 1000");
  await waitUntil(() => found().length === 3);
  const before = found().map(({ pid }) => pid);
  await project.write({ "packages/api/a.ts": "1" });
  await terminal.awaitOutput("rt: packages/api/a.ts changed");
  await terminal.awaitOutput("Interrupted");
  // Two of the three processes were restarted.
  await waitUntil(() => {
    const pids = found().map(({ pid }) => pid);
    return pids.length === 3 && pids.filter((pid) => before.includes(pid)).length === 1;
  });
  terminal.type("\x03");
  expect(await terminal.awaitExit()).toBe(128 + 2);
  await waitUntil(() => mark.find().length === 0);
});
