// Two rt processes run one script in one directory at once, or one restores outputs while the other runs. Either may read
// partial outputs, so neither run is cached. A later run is cached again, also after one process was killed.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { watchdogOf, waitUntil } from "../../support/processes.ts";
import { RT, runRt, startRt } from "../../support/rt.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

const OVERLAPPED =
  "build was not cached: another rt process ran or restored this script concurrently; run it again";

/** Creates "at-$GATE", then blocks on the named pipe $GATE. */
const WAIT = 'touch "at-$GATE"; read line < "$GATE"';
const BUILD = `echo half > out; ${WAIT}; echo whole >> out`;

async function gatedProject(script = BUILD): Promise<CachedProject> {
  const config = 'build = { env = ["GATE"], ignore = ["at-*", "gate-*"], outputs = ["out"] }';
  const project = await cachedProject({ build: script }, {}, config);
  expect(Bun.spawnSync(["mkfifo", "gate-a", "gate-b"], { cwd: project.path }).exitCode).toBe(0);
  // A gate that does not block.
  await project.write({ "gate-open": "\n" });
  return project;
}

async function startAt(gate: string, project: CachedProject): Promise<ReturnType<typeof startRt>> {
  rmSync(project.join(`at-${gate}`), { force: true });
  const child = startRt({
    args: ["run", "build"],
    cwd: project.path,
    env: { XDG_CACHE_HOME: project.cache, GATE: gate },
  });
  await waitUntil(() => readdirSync(project.path).includes(`at-${gate}`));
  return child;
}

/** Opens the gate and returns the outcome: "kept", or the warning. */
async function openGate(
  gate: string,
  child: ReturnType<typeof startRt>,
  project: CachedProject,
): Promise<string> {
  // Opening the pipe for writing blocks until the script opens it for reading.
  expect(await Bun.spawn(["sh", "-c", `echo > ${gate}`], { cwd: project.path }).exited).toBe(0);
  const [stderr, status] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  expect(status).toBe(0);
  return (
    stderr
      .split("\n")
      .find((line) => line.startsWith("warning: "))
      ?.slice("warning: ".length) ?? "kept"
  );
}

const run = async (project: CachedProject) => await project.run("build", { GATE: "gate-open" });
const markersOf = (project: CachedProject) => readdirSync(join(project.cache, "rt/scripts-5/presence"));

for (const [first, second] of [
  ["gate-a", "gate-b"],
  ["gate-b", "gate-a"],
] as const)
  test.skipIf(!CAN_TRACE)(
    `two concurrent runs are both not cached, whichever ends first (${first})`,
    async () => {
      await using project = await gatedProject();
      const children = {
        "gate-a": await startAt("gate-a", project),
        "gate-b": await startAt("gate-b", project),
      };
      expect(await openGate(first, children[first], project)).toBe(OVERLAPPED);
      expect(await openGate(second, children[second], project)).toBe(OVERLAPPED);
      expect(markersOf(project)).toEqual([]);
      expect([await run(project), await run(project)]).toEqual(["ran", "hit"]);
    },
  );

test.skipIf(!CAN_TRACE)(
  "a run is not cached when a concurrent run is killed, and the next run is cached",
  async () => {
    await using project = await gatedProject();
    const child = await startAt("gate-a", project);
    const killed = await startAt("gate-b", project);
    await watchdogOf(killed.pid, 1);
    killed.kill("SIGKILL");
    await killed.exited;
    expect(await openGate("gate-a", child, project)).toBe(OVERLAPPED);
    expect(markersOf(project)).toHaveLength(1);
    expect([await run(project), await run(project)]).toEqual(["ran", "hit"]);
    expect(markersOf(project)).toEqual([]);
  },
);

test.skipIf(!CAN_TRACE)("a run is not cached when its marker file was deleted", async () => {
  await using project = await gatedProject();
  const child = await startAt("gate-a", project);
  for (const name of markersOf(project)) rmSync(join(project.cache, "rt/scripts-5/presence", name));
  expect(await openGate("gate-a", child, project)).toBe(OVERLAPPED);
});

test.skipIf(!CAN_TRACE)("the files that record an overlap are not counted as runs", async () => {
  await using project = await gatedProject();
  const child = await startAt("gate-a", project);
  for (let round = 0; round < 2; round += 1) expect(await run(project)).toBe(OVERLAPPED);
  const [own = ""] = markersOf(project).toSorted();
  expect(markersOf(project).toSorted()).toEqual([own, `${own}.met`]);
  expect(await openGate("gate-a", child, project)).toBe(OVERLAPPED);
});

test.skipIf(!CAN_TRACE)(
  "a run is not cached when a concurrent hit restores its outputs, and the hit remains valid",
  async () => {
    await using project = await gatedProject();
    expect(await run(project)).toBe("ran");
    const child = await startAt("gate-a", project);
    expect(await run(project)).toBe("hit");
    expect(markersOf(project).filter((name) => !name.endsWith(".met"))).toHaveLength(1);
    expect(await openGate("gate-a", child, project)).toBe(OVERLAPPED);
  },
);

test.skipIf(!CAN_TRACE)("a run is cached when a concurrent hit has nothing to restore", async () => {
  await using project = await gatedProject(`${WAIT}; echo whole > out`);
  expect(await run(project)).toBe("ran");
  const child = await startAt("gate-a", project);
  expect(await run(project)).toBe("hit");
  expect(await openGate("gate-a", child, project)).toBe("kept");
});

test.skipIf(!CAN_TRACE)("concurrent runs of one script in two directories are both cached", async () => {
  await using one = await gatedProject();
  await using other = await gatedProject();
  const shared = { ...other, cache: one.cache };
  const children = [await startAt("gate-a", one), await startAt("gate-b", shared)] as const;
  expect(await openGate("gate-a", children[0], one)).toBe("kept");
  expect(await openGate("gate-b", children[1], shared)).toBe("kept");
});

test.skipIf(!CAN_TRACE)(
  "a watched run does not report a restart of its script as a concurrent run",
  async () => {
    await using project = await gatedProject();
    await project.write({
      "package.json": { name: "project", scripts: { build: "cat source > out" } },
      source: "1",
    });
    await using child = startRt({
      args: ["run", "--watch", "--filter", "project", "build"],
      cwd: project.path,
      env: { XDG_CACHE_HOME: project.cache },
    });
    const out = async () => await Bun.file(project.join("out")).text();
    for (const source of ["2", "3"]) {
      await project.write({ source });
      await waitUntil(async () => (await out().catch(() => "")) === source);
    }
    await waitUntil(() => markersOf(project).length === 0);
    child.kill("SIGINT");
    const stderr = await new Response(child.stderr).text();
    expect(stderr).not.toContain("at the same time");
  },
);

test.skipIf(!CAN_TRACE)(
  "a run that cannot record the overlap is not cached, and neither is the concurrent run",
  async () => {
    await using project = await gatedProject();
    const child = await startAt("gate-a", project);
    mkdirSync(join(project.cache, "rt/scripts-5/presence", `${markersOf(project)[0]}.met`));
    expect(await run(project)).toMatch(/^build was not cached: cannot write to the cache: EISDIR/);
    expect(await openGate("gate-a", child, project)).toBe(OVERLAPPED);
  },
);

/** Runs a program that sees an empty, read-only file system at the path of the first argument. */
const READ_ONLY = ["unshare", "-Urm", "bash", "-c", 'mount -t tmpfs -o ro,mode=700 none "$0" && exec "$@"'];
const canMount =
  CAN_TRACE && Bun.spawnSync([...READ_ONLY, "/mnt", "true"], { stderr: "ignore" }).exitCode === 0;

test.skipIf(!canMount)(
  "a script runs uncached when its marker file cannot be created, and hits are still restored",
  async () => {
    await using project = await gatedProject();
    const request = { cwd: project.path, env: { XDG_CACHE_HOME: project.cache, GATE: "gate-open" } };
    const program = [...READ_ONLY, join(project.cache, "rt/scripts-5/presence"), RT];
    expect(await run(project)).toBe("ran");
    rmSync(project.join("out"));
    expect((await runRt({ ...request, program, args: ["run", "build"] })).stderr).toContain("Cached (saved");
    const { stderr, status } = await runRt({ ...request, program, args: ["run", "build", "--", "again"] });
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(/^warning: build was not cached: cannot write to the cache: /m),
      status: 0,
    });
    expect(await Bun.file(project.join("out")).text()).toBe("half\nwhole again\n");
  },
);
