// Tests the cache on Windows, where rt cannot trace scripts and uses declared inputs and outputs.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { hashBytes } from "../../src/cache/store/file-hash-cache.ts";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import { createProject } from "../support/project.ts";
import { canRunWindows, openWindows, type Windows } from "../support/programs/windows.ts";

let windows: Windows;
beforeAll(async () => {
  if (canRunWindows) windows = await openWindows();
}, PREPARATION_TIMEOUT);
afterAll(() => windows?.[Symbol.asyncDispose]());

test.skipIf(!canRunWindows)(
  "a script with declared outputs is restored from the cache when nothing has changed",
  async () => {
    await using project = await createProject({
      "package.json": {
        name: "app",
        scripts: { build: "mkdir -p dist/deep && cat source > dist/deep/out && echo built" },
      },
      "rtfig.toml": '[run]\nshell = "rt"\n[run.cache]\nbuild = { outputs = ["dist/**"] }\nother = true\n',
      source: "one",
    });
    const cache = windows.path(project.join("cache"));
    const run = async (...words: string[]) => {
      const { stdout, stderr, status } = await windows.run({
        args: ["--why", ...words, "run", "build"],
        cwd: project.path,
        env: { XDG_CACHE_HOME: cache },
      });
      const text = stdout + stderr;
      expect({ text, status }).toMatchObject({ text: expect.stringContaining("built"), status: 0 });
      return /build: cache (miss: [^\r\n]*|hit)/.exec(text)?.[1] ?? text;
    };
    const out = project.join("dist/deep/out");
    expect(await run()).toStartWith("miss: no earlier run");
    await rm(project.join("dist"), { recursive: true });
    expect(await run()).toBe("hit");
    expect(await Bun.file(out).text()).toBe("one");
    await project.write({ source: "two" });
    expect(await run()).toStartWith("miss: source changed");
    expect(await Bun.file(out).text()).toBe("two");
    await project.write({ source: "one" });
    expect(await run()).toBe("hit");
    expect(await Bun.file(out).text()).toBe("one");
  },
  PREPARATION_TIMEOUT,
);

const AT_ONCE = 4;
/** Makes files large enough to be written in several steps. */
const FILL = "0123456789abcdef".repeat(64 << 10);

test.skipIf(!canRunWindows)(
  "several rt.exe store and restore the same entries completely in one store at once",
  async () => {
    await using project = await createProject();
    const names = Array.from({ length: AT_ONCE }, (_, index) => `p${index}`);
    for (const name of names)
      await project.write({
        [`${name}/package.json`]: {
          name: "p",
          scripts: {
            build: "mkdir -p dist && cat source fill > dist/a && cat fill source > dist/b && cat source",
          },
        },
        [`${name}/rtfig.toml`]: '[run]\nshell = "rt"\n[run.cache]\nbuild = { outputs = ["dist/**"] }\n',
        [`${name}/fill`]: FILL,
      });
    const cache = project.join("cache");
    const runAll = async () =>
      await Promise.all(
        names.map(async (name) => {
          const { stdout, stderr, status } = await windows.run({
            args: ["--why", "run", "build"],
            cwd: project.join(name),
            env: { XDG_CACHE_HOME: windows.path(cache) },
          });
          expect({ stderr, status }).toEqual({ stderr: expect.not.stringContaining("warn"), status: 0 });
          return `${stdout} ${/build: cache (miss|hit)/.exec(stderr)?.[1] ?? stderr}`;
        }),
      );
    const expectWhole = async (source: string) => {
      for (const name of names) {
        const read = async (file: string) => await Bun.file(project.join(name, "dist", file)).text();
        expect([await read("a"), await read("b")]).toEqual([source + FILL, FILL + source]);
      }
    };
    for (const source of ["one", "two"]) {
      for (const name of names) await project.write({ [`${name}/source`]: source });
      for (const output of await runAll()) expect(output).toStartWith(source);
      await expectWhole(source);
    }
    for (const name of names) await rm(project.join(name, "dist"), { recursive: true });
    expect(await runAll()).toEqual(names.map(() => "two hit"));
    await expectWhole("two");
    const store = join(cache, "rt/scripts-5");
    const blobs = [...new Bun.Glob("blobs/*/*").scanSync(store)];
    for (const blob of blobs)
      expect(hashBytes(await Bun.file(join(store, blob)).bytes())).toBe(blob.slice(-64));
    expect(blobs.length).toBeGreaterThanOrEqual(6); // for each source: two files and the output log
  },
  PREPARATION_TIMEOUT,
);
