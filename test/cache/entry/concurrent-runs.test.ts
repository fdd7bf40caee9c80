// Two rt run one script in one place at once, or one puts back what the other is making: what either has seen then may be half
// of it, so nothing of it is kept. Whoever comes afterwards is alone again, also after a kill.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { guardianOf, waitUntil } from "../../support/processes.ts";
import { RT, runRt, startRt } from "../../support/rt.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

const OVERLAPPED =
  "build was not cached: another rt ran it, or put back what it makes, at the same time; run it again";

/** What waits is a pipe named by GATE; "at-<gate>" says that it does. */
const WAIT = 'touch "at-$GATE"; read line < "$GATE"';
const BUILD = `echo half > out; ${WAIT}; echo whole >> out`;

async function gatedProject(script = BUILD): Promise<CachedProject> {
  const config = 'build = { env = ["GATE"], ignore = ["at-*", "gate-*"], outputs = ["out"] }';
  const project = await cachedProject({ build: script }, {}, config);
  expect(Bun.spawnSync(["mkfifo", "gate-a", "gate-b"], { cwd: project.path }).exitCode).toBe(0);
  // One through which everybody gets at once.
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

/** Lets it on and tells what became of it. */
async function letThrough(
  gate: string,
  child: ReturnType<typeof startRt>,
  project: CachedProject,
): Promise<string> {
  // Opening it waits for who reads.
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
const announced = (project: CachedProject) => readdirSync(join(project.cache, "rt/scripts-4/presence"));

for (const [first, second] of [
  ["gate-a", "gate-b"],
  ["gate-b", "gate-a"],
] as const)
  test.skipIf(!CAN_TRACE)(`of two at once neither is kept, whichever ends first (${first})`, async () => {
    await using project = await gatedProject();
    const children = {
      "gate-a": await startAt("gate-a", project),
      "gate-b": await startAt("gate-b", project),
    };
    expect(await letThrough(first, children[first], project)).toBe(OVERLAPPED);
    expect(await letThrough(second, children[second], project)).toBe(OVERLAPPED);
    expect(announced(project)).toEqual([]);
    expect([await run(project), await run(project)]).toEqual(["ran", "hit"]);
  });

test.skipIf(!CAN_TRACE)("one that is killed meanwhile counts as well, and no longer afterwards", async () => {
  await using project = await gatedProject();
  const child = await startAt("gate-a", project);
  const killed = await startAt("gate-b", project);
  await guardianOf(killed.pid, 1);
  killed.kill("SIGKILL");
  await killed.exited;
  expect(await letThrough("gate-a", child, project)).toBe(OVERLAPPED);
  expect(announced(project)).toHaveLength(1);
  expect([await run(project), await run(project)]).toEqual(["ran", "hit"]);
  expect(announced(project)).toEqual([]);
});

test.skipIf(!CAN_TRACE)("one whose file somebody took away cannot know that it was alone", async () => {
  await using project = await gatedProject();
  const child = await startAt("gate-a", project);
  for (const name of announced(project)) rmSync(join(project.cache, "rt/scripts-4/presence", name));
  expect(await letThrough("gate-a", child, project)).toBe(OVERLAPPED);
});

test.skipIf(!CAN_TRACE)("a mark is none of those who are there, and gets none", async () => {
  await using project = await gatedProject();
  const child = await startAt("gate-a", project);
  for (let round = 0; round < 2; round += 1) expect(await run(project)).toBe(OVERLAPPED);
  const [own = ""] = announced(project).toSorted();
  expect(announced(project).toSorted()).toEqual([own, `${own}.met`]);
  expect(await letThrough("gate-a", child, project)).toBe(OVERLAPPED);
});

test.skipIf(!CAN_TRACE)("what is put back while it runs counts, and the hit stays one", async () => {
  await using project = await gatedProject();
  expect(await run(project)).toBe("ran");
  const child = await startAt("gate-a", project);
  expect(await run(project)).toBe("hit");
  expect(announced(project).filter((name) => !name.endsWith(".met"))).toHaveLength(1);
  expect(await letThrough("gate-a", child, project)).toBe(OVERLAPPED);
});

test.skipIf(!CAN_TRACE)("a hit of which all is there already disturbs nobody", async () => {
  await using project = await gatedProject(`${WAIT}; echo whole > out`);
  expect(await run(project)).toBe("ran");
  const child = await startAt("gate-a", project);
  expect(await run(project)).toBe("hit");
  expect(await letThrough("gate-a", child, project)).toBe("kept");
});

test.skipIf(!CAN_TRACE)("scripts of two places do not meet", async () => {
  await using one = await gatedProject();
  await using other = await gatedProject();
  const shared = { ...other, cache: one.cache };
  const children = [await startAt("gate-a", one), await startAt("gate-b", shared)] as const;
  expect(await letThrough("gate-a", children[0], one)).toBe("kept");
  expect(await letThrough("gate-b", children[1], shared)).toBe("kept");
});

test.skipIf(!CAN_TRACE)("a script that is started again by a watched run has not met itself", async () => {
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
  await waitUntil(() => announced(project).length === 0);
  child.kill("SIGINT");
  const stderr = await new Response(child.stderr).text();
  expect(stderr).not.toContain("at the same time");
});

test.skipIf(!CAN_TRACE)("one that cannot tell the others is not kept, nor are they", async () => {
  await using project = await gatedProject();
  const child = await startAt("gate-a", project);
  mkdirSync(join(project.cache, "rt/scripts-4/presence", `${announced(project)[0]}.met`));
  expect(await run(project)).toMatch(/^build was not cached: the cache cannot be written: EISDIR/);
  expect(await letThrough("gate-a", child, project)).toBe(OVERLAPPED);
});

/** What is started sees a file system that nothing can be written to in the place of its first argument. */
const READ_ONLY = ["unshare", "-Urm", "bash", "-c", 'mount -t tmpfs -o ro,mode=700 none "$0" && exec "$@"'];
const canMount =
  CAN_TRACE && Bun.spawnSync([...READ_ONLY, "/mnt", "true"], { stderr: "ignore" }).exitCode === 0;

test.skipIf(!canMount)("where nothing can be announced the script runs, and is not kept", async () => {
  await using project = await gatedProject();
  const request = { cwd: project.path, env: { XDG_CACHE_HOME: project.cache, GATE: "gate-open" } };
  const program = [...READ_ONLY, join(project.cache, "rt/scripts-4/presence"), RT];
  expect(await run(project)).toBe("ran");
  rmSync(project.join("out"));
  // What is kept is put back all the same.
  expect((await runRt({ ...request, program, args: ["run", "build"] })).stderr).toContain("Done before");
  const { stderr, status } = await runRt({ ...request, program, args: ["run", "build", "--", "again"] });
  expect({ stderr, status }).toEqual({
    stderr: expect.stringMatching(/^warning: build was not cached: the cache cannot be written: /m),
    status: 0,
  });
  expect(await Bun.file(project.join("out")).text()).toBe("half\nwhole again\n");
});
