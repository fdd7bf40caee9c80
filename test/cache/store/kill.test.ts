// rt is killed at any moment of a run, of keeping it and of putting it back; many rt share one store; the disk is full at
// each write. Whatever the moment is, no script fails because of the cache, and no output is wrong or half.
//
//   npm run test:cache      (500 kills, 20 rounds of 8 rt; a few of each by default)
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
/** So that a file can be half. */
const FILL = "0123456789abcdef".repeat(64 << 10);

const BUILD = `mkdir -p dist; for name in ${NAMES.join(" ")}; do cat source fill > dist/$name; done; cat source`;

/** Nothing is left that could still write. */
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

/** Each content is what its name says. */
function expectWholeStore(cache: string): void {
  const store = join(cache, "rt/scripts-4");
  for (const name of new Bun.Glob("blobs/*/*").scanSync(store))
    expect(hashBytes(readFileSync(join(store, name)))).toBe(name.slice(-64));
}

test.skipIf(!CAN_TRACE)(
  `killed ${KILLS} times, it leaves nothing wrong`,
  async () => {
    const seed = Number(process.env.RT_TEST_SEED ?? 1);
    const random = createRandom(seed);
    await using project = await cachedProject({ build: BUILD }, { source: "0", fill: FILL });
    let source = "0";
    // The moments are spread over as much time as a run takes here.
    const begin = performance.now();
    await project.run("build");
    const longest = Math.ceil((performance.now() - begin) * 1.2);
    const statCache = { hits: 0, runs: 0 };
    for (let kill = 0; kill < KILLS; kill += 1) {
      // A new content is run and kept, an old one put back.
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
      statCache[stderr.includes("Done before") ? "hits" : "runs"] += 1;
    }
    expectWholeStore(project.cache);
    expect(statCache.hits).toBeGreaterThan(0);
  },
  KILLS * 5000 + 30_000,
);

test.skipIf(!CAN_TRACE)(
  `${ROUNDS} rounds of ${AT_ONCE} rt over one store`,
  async () => {
    await using project = await cachedProject({});
    const names = Array.from({ length: AT_ONCE }, (_, index) => `p${index}`);
    // Each in a project of its own, with the same content: they read, keep, and put back the same things.
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

/** A file system with so many KiB, in a namespace of its own, where rt runs twice; the second time with no output left. */
const IN_SMALL = 'mount -t tmpfs -o size="$1"k,mode=700 none "$2" && shift 2 && "$@" && rm -r dist && "$@"';
/** KiB: from nothing to more than enough, so that each write is the first that fails in some. */
const SIZES = KILLS > 100 ? Array.from({ length: 60 }, (_, index) => 4 + index * 4) : [4, 60, 400];

test.skipIf(!CAN_MOUNT)(
  "on a disk that is full at any moment, scripts run and nothing half is used",
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
      stored.push(stderr.includes("Done before") ? "hit" : "ran");
    }
    expect(stored.at(-1)).toBe("hit");
    expect(stored[0]).toBe("ran");
  },
  SIZES.length * 5000 + 20_000,
);
