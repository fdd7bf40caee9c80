// The cache must survive SIGKILL at random times, concurrent processes on one store, and a full disk. No script fails because
// of the cache, and no output or blob is wrong or partial. `npm run test:cache` tries 500 kills and 20 rounds; `npm test`
// tries a few.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hashBytes } from "../../../src/cache/store/file-hash-cache.ts";
import { CAN_MOUNT } from "../../support/mounts.ts";
import { waitUntil } from "../../support/processes.ts";
import { createRandom } from "../../support/random.ts";
import { RT, runRt, startRt } from "../../support/rt.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

const KILLS = Number(process.env.RT_TEST_KILLS ?? 6);
const ROUNDS = Number(process.env.RT_TEST_ROUNDS ?? 1);
const AT_ONCE = 8;
const NAMES = ["a", "b", "c"];
/** Large, so that a write can be interrupted. */
const FILL = "0123456789abcdef".repeat(64 << 10);

const BUILD = `mkdir -p dist; for name in ${NAMES.join(" ")}; do cat source fill > dist/$name; done; cat source`;

/** Waits until no process of the project can still write. */
async function waitForOrphans(project: CachedProject): Promise<void> {
  const isThere = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(project.path);
    } catch {
      return false;
    }
  };
  await waitUntil(() => !readdirSync("/proc").some((name) => /^\d+$/.test(name) && isThere(name)));
}

async function expectWhole(project: CachedProject, source: string): Promise<void> {
  for (const name of NAMES) {
    const text = await Bun.file(project.join("dist", name)).text();
    expect([name, text.length, text.slice(0, source.length), text.endsWith(FILL)]).toEqual([
      ...[name, source.length + FILL.length, source, true],
    ]);
  }
}

/** Expects that the content of each blob matches its name. */
function expectWholeStore(cache: string): void {
  const store = join(cache, "rt/scripts-5");
  for (const name of new Bun.Glob("blobs/*/*").scanSync(store))
    expect(hashBytes(readFileSync(join(store, name)))).toBe(name.slice(-64));
}

test.skipIf(!CAN_TRACE)(
  `rt that is killed ${KILLS} times leaves no wrong or partial output`,
  async () => {
    const seed = Number(process.env.RT_TEST_SEED ?? 1);
    const random = createRandom(seed);
    await using project = await cachedProject({ build: BUILD }, { source: "0", fill: FILL });
    let source = "0";
    // The kills are spread over the measured duration of a run.
    const begin = performance.now();
    await project.run("build");
    const longest = Math.ceil((performance.now() - begin) * 1.2);
    const statCache = { hits: 0, runs: 0 };
    for (let kill = 0; kill < KILLS; kill += 1) {
      // A new source is run and cached, a known one is restored.
      source = String(random.below(6));
      await project.write({ source });
      if (random.below(2) === 0) rmSync(project.join("dist"), { recursive: true, force: true });
      const child = startRt({
        args: ["run", "build"],
        cwd: project.path,
        env: { XDG_CACHE_HOME: project.cache },
      });
      const timer = setTimeout(() => child.kill("SIGKILL"), random.below(longest));
      await child.exited;
      clearTimeout(timer);
      await waitForOrphans(project);
      const { stdout, stderr, status } = await project.rt(["run", "build"]);
      expect({ kill, stdout, status }).toEqual({ kill, stdout: source, status: 0 });
      expect(stderr).not.toContain("warn");
      await expectWhole(project, source);
      statCache[stderr.includes("Cached (saved") ? "hits" : "runs"] += 1;
    }
    expectWholeStore(project.cache);
    expect(statCache.hits).toBeGreaterThan(0);
  },
  KILLS * 5000 + 30_000,
);

test.skipIf(!CAN_TRACE)(
  `${ROUNDS} rounds of ${AT_ONCE} concurrent rt processes on one store leave no wrong or partial output`,
  async () => {
    await using project = await cachedProject({});
    const names = Array.from({ length: AT_ONCE }, (_, index) => `p${index}`);
    // The projects have equal content, so all processes read, store and restore the same entries.
    for (const name of names)
      await project.write({
        [`${name}/package.json`]: JSON.stringify({ name: "p", scripts: { build: BUILD } }),
        [`${name}/rtfig.toml`]: "[run.cache]\nbuild = true\n",
        [`${name}/fill`]: FILL,
      });
    for (let round = 0; round < ROUNDS; round += 1) {
      const source = `${round}`;
      for (const name of names) await project.write({ [`${name}/source`]: source });
      const all = await Promise.all(
        names.map(async (name) => {
          const env = { XDG_CACHE_HOME: project.cache };
          return await runRt({ args: ["run", "build"], cwd: project.join(name), env });
        }),
      );
      expect(all.map(({ stdout, status }) => [stdout, status])).toEqual(all.map(() => [source, 0]));
      for (const name of names) {
        const within = { ...project, join: (...parts: string[]) => project.join(name, ...parts) };
        await expectWhole(within, source);
      }
    }
    expectWholeStore(project.cache);
  },
  ROUNDS * 20_000 + 30_000,
);

/** Runs rt twice on a file system of this size in KiB, in a separate namespace; the second time without outputs. */
const IN_SMALL = 'mount -t tmpfs -o size="$1"k,mode=700 none "$2" && shift 2 && "$@" && rm -r dist && "$@"';
/** KiB, from too little to more than enough, so that each write is the first to fail at some size. */
const SIZES = KILLS > 100 ? Array.from({ length: 60 }, (_, index) => 4 + index * 4) : [4, 60, 400];

test.skipIf(!CAN_MOUNT)(
  "a script runs when the disk is full at any write, and no partial entry is used",
  async () => {
    await using project = await cachedProject(
      { build: BUILD.replaceAll(" fill", "") },
      { source: "x".repeat(40_000), fill: "" },
    );
    const stored: string[] = [];
    for (const size of SIZES) {
      rmSync(project.join("dist"), { recursive: true, force: true });
      const words = ["unshare", "-Urm", "bash", "-c", IN_SMALL, "bash", String(size), project.cache, RT];
      const env = { XDG_CACHE_HOME: project.cache };
      const { stdout, stderr, status } = await runRt({
        program: words,
        args: ["run", "build"],
        cwd: project.path,
        env,
      });
      expect({ size, status, length: stdout.length, stderr }).toMatchObject({
        size,
        status: 0,
        length: 80_000,
      });
      for (const name of NAMES)
        expect((await Bun.file(project.join("dist", name)).text()).length).toBe(40_000);
      stored.push(stderr.includes("Cached (saved") ? "hit" : "ran");
    }
    expect(stored.at(-1)).toBe("hit");
    expect(stored[0]).toBe("ran");
  },
  SIZES.length * 5000 + 20_000,
);
