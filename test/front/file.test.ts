// Tests the file of rt for Linux: it works after strip and objcopy, and contains the published engine.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";
import { enginePath } from "../../build/engine.ts";
import { shortenCutOff } from "../../build/executable/console-depth-patch.ts";
import { renameTools } from "../../build/executable/engine-message-patch.ts";
import { hostTarget } from "../../build/targets.ts";
import { restoreEngine } from "../../platform/processes/engine-file.ts";
import manifest from "../../package.json";

const SHOWN =
  'require("node:fs").readFileSync("/proc/self/cmdline", "latin1").split("\\0").slice(1, -1).length + typeof rt.secrets.get';

let project: Project;

beforeAll(async () => {
  project = await createProject({ "a.ts": 'console.log("file", typeof rt.CSRF)' });
});

afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

function makeCopy(name: string): string {
  mkdirSync(project.join(name), { recursive: true });
  const copy = project.join(name, "rt");
  copyFileSync(RT, copy);
  chmodSync(copy, 0o755);
  return copy;
}

/** With the front, the engine's process has the two words of the user. */
async function expectWorking(program: readonly string[]): Promise<void> {
  const run = async (...args: string[]) => await runRt({ program, args, cwd: project.path });
  expect(await run("--version")).toEqual({ stdout: `${manifest.version}\n`, stderr: "", status: 0 });
  expect(await run("a.ts")).toEqual({ stdout: "file object\n", stderr: "", status: 0 });
  expect(await run("-p", SHOWN)).toEqual({ stdout: "2function\n", stderr: "", status: 0 });
}

describe.skipIf(process.platform !== "linux")("rt's file", () => {
  test("contains the published engine, with rt's names in its messages", async () => {
    const engine = readFileSync(enginePath(hostTarget()));
    const expected = Buffer.from(engine);
    renameTools(expected, engine);
    shortenCutOff(expected);
    const restored = restoreEngine(readFileSync(RT));
    expect(restored.length).toBe(expected.length);
    expect(Buffer.compare(restored, expected)).toBe(0);
  });

  test.each([
    ["strip", ["strip"]],
    ["strip as a packager calls it", ["strip", "--remove-section=.comment", "--remove-section=.note"]],
    ["objcopy", ["objcopy"]],
  ])("starts code once and prints its version after %s", async (name, words) => {
    const copy = makeCopy(name);
    const { exitCode, stderr } = Bun.spawnSync([...words, copy]);
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
    await expectWorking([copy]);
  });

  test("starts code once after patchelf has set a loader with a longer path, as Nix does", async () => {
    const copy = makeCopy("loader");
    const read = (...words: string[]) =>
      Bun.spawnSync(["patchelf", ...words])
        .stdout.toString()
        .trim();
    const link = project.join("a-store-of-packages-with-a-hash-in-each-name/glibc/lib/loader.so");
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(read("--print-interpreter", copy), link);
    read("--set-interpreter", link, copy);
    expect(read("--print-interpreter", copy)).toBe(link);
    await expectWorking([copy]);
  });

  test("starts code once below a tracer, with a preloaded library, and from a program that has no stack to spare", async () => {
    await expectWorking(["strace", "-f", "-o", "/dev/null", RT]);
    await expectWorking(["sh", "-c", 'ulimit -s 512; exec "$0" "$@"', RT]);
    await project.write({ "empty.c": "" });
    await Bun.$`cc -shared -o empty.so empty.c`.cwd(project.path);
    await expectWorking(["env", `LD_PRELOAD=${project.join("empty.so")}`, RT]);
  });

  test("names the same libraries to ldd as the engine", () => {
    const librariesOf = (file: string) => {
      const { stdout } = Bun.spawnSync(["ldd", file], { env: cleanEnvironment() });
      return stdout.toString().replaceAll(/0x[0-9a-f]+/g, "");
    };
    expect(librariesOf(RT)).toBe(librariesOf(enginePath(hostTarget())));
  });
});
