// Starts the binaries of other targets on Linux x64: musl with Debian's musl, arm64 with qemu-user. Windows is in
// test/windows. The emulator takes seconds for each start, so one start checks what it can.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BuildTarget, TARGETS } from "../../../build/targets.ts";
import { compileFor, PREPARATION_TIMEOUT } from "../../support/programs/compiled.ts";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Project } from "../../support/project.ts";
import { type Environment, type RtOptions, runRt } from "../../support/rt.ts";
import manifest from "../../../package.json";

interface Runner {
  /** Arguments before the binary. */
  readonly prefix: readonly string[];
  readonly env: Environment;
}

/** musl finds its libraries next to a replacement of glibc: see musl-shim.c. */
async function prepareMusl(directory: string): Promise<Runner> {
  const libraries = "/usr/lib/x86_64-linux-gnu";
  for (const name of ["libstdc++.so.6", "libgcc_s.so.1"])
    await copyFile(join(libraries, name), join(directory, name));
  const shim = join(directory, "ld-linux-x86-64.so.2");
  const source = join(import.meta.dir, "musl-shim.c");
  await Bun.$`cc -shared -fPIC -nostdlib -O1 -o ${shim} ${source}`.quiet();
  return { prefix: [], env: { LD_LIBRARY_PATH: directory } };
}

/**
 * Registers the emulator for arm64 programs in a separate namespace, so that rt can start itself, as for -e. The
 * flags are Debian's: the kernel opens the program, so programs from a memfd run too.
 */
const REGISTER = `mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
printf '%s' ':arm64:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:/usr/bin/qemu-aarch64:OC' > /proc/sys/fs/binfmt_misc/register &&
exec "$0" "$@"`;

function prepareEmulator(): Runner {
  const isRoot = process.getuid!() === 0;
  const namespace = isRoot
    ? ["unshare", "-Ur", "-m"]
    : ["unshare", "-U", "-m", "--map-current-user", "--keep-caps"];
  return { prefix: [...namespace, "sh", "-c", REGISTER], env: { QEMU_LD_PREFIX: "/usr/aarch64-linux-gnu" } };
}

const PREPARE: Partial<Record<BuildTarget["proof"], (directory: string) => Runner | Promise<Runner>>> = {
  musl: prepareMusl,
  emulated: prepareEmulator,
};

const FILES = {
  "package.json": { name: "smoke", scripts: { prehello: '"$npm_execpath" --version', hello: "echo hello" } },
  "cached/package.json": { name: "cached", scripts: { build: "cat source > out" } },
  "cached/rtfig.toml": "[run.cache]\nbuild = true\n",
  "cached/source": "source",
  "file.tsx": `import { readFileSync } from "node:fs";
const words: string[] = [process.platform, process.arch, String(readFileSync("package.json").length > 0)];
console.log(words.join(" "), process.argv.slice(2).join("|"));`,
  "credentials.tsx": `import "./file.tsx";
const token = rt.CSRF.generate("secret", { sessionId: "one" });
console.log(rt.CSRF.verify(token, { secret: "secret", sessionId: "one" }), rt.CSRF.verify(token, { secret: "secret", sessionId: "two" }));
import { secrets } from "rt";
const account = { service: "com.example.smoke", name: "me" };
await secrets.set({ ...account, value: "pässword" });
console.log(await secrets.get(account), await secrets.delete(account), await secrets.get(account));`,
};

for (const target of TARGETS) {
  const prepare = PREPARE[target.proof];
  if (!prepare) continue;

  describe.skipIf(process.platform !== "linux" || process.arch !== "x64")(`${target.name} runs`, () => {
    let directory: string;
    let project: Project;
    let keyring: Keyring;
    let runner: Runner;
    let binary: string;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "rt-smoke-"));
      [project, keyring, runner, binary] = await Promise.all([
        createProject(FILES),
        startKeyring(),
        prepare(directory),
        compileFor(target),
      ]);
    }, PREPARATION_TIMEOUT);

    afterAll(async () => {
      await keyring[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    });

    const expectOutput = async (options: RtOptions, stdout: string, stderr = "") => {
      const program = [...runner.prefix, binary];
      const env = { ...options.env, ...runner.env };
      const result = await runRt({ cwd: project.path, ...options, env, program });
      expect(result).toEqual({ stdout, stderr, status: 0 });
    };

    test("a TypeScript file that makes tokens and stores credentials in the keyring", async () => {
      const stdout = `linux ${target.arch} true a b|c\ntrue false\npässword true null\n`;
      await expectOutput({ args: ["credentials.tsx", "a b", "c"], env: keyring.env }, stdout);
    });

    test("a script with its hook, and prints its version", async () => {
      await expectOutput(
        { args: ["run", "hello", "you"] },
        `${manifest.version}\nhello you\n`,
        '$ "$npm_execpath" --version\n$ echo hello you\n',
      );
    });

    test("code from standard input in the engine after an option, like -e, and a file that it imports", async () => {
      const stdin =
        'const found: string = process.arch; console.log(found, typeof rt.secrets.get); await import("./file.tsx")';
      const stdout = `${target.arch} function\nlinux ${target.arch} true a b|c\n`;
      await expectOutput({ args: ["run", "--smol", "-", "a b", "c"], stdin }, stdout);
    });

    test("tools of the engine", async () => {
      const stdout = { args: ["pm", "hash-string"], cwd: project.path };
      const program = [...runner.prefix, binary];
      const { status, stderr } = await runRt({ ...stdout, env: runner.env, program });
      expect(status).toBe(1);
      expect(stderr).toContain("lockfile");
    });

    test("a traced script, or names the reason for the missing trace", async () => {
      const program = [...runner.prefix, binary];
      const env = { ...runner.env, XDG_CACHE_HOME: join(project.path, "cache") };
      const build = () => runRt({ args: ["run", "build"], cwd: join(project.path, "cached"), env, program });
      const first = await build();
      expect(await Bun.file(join(project.path, "cached/out")).text()).toBe("source");
      expect(first.status).toBe(0);
      if (target.proof === "musl") {
        expect(first.stderr).not.toContain("warn");
        expect(await build()).toMatchObject({ stderr: expect.stringContaining("Cached (saved"), status: 0 });
      } else
        expect(first.stderr).toMatch(/warning: build was not cached: seccomp tracing is not permitted here/);
    });
  });
}
