// `rt build`: bundles for rt, and programs with the engine of rt.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { copyFile, readFile } from "node:fs/promises";
import { shortenCutOff } from "../../build/executable/console-depth-patch.ts";
import { renameTools } from "../../build/executable/engine-message-patch.ts";
import { createProject, type Project } from "../support/project.ts";
import { RT, runRt, startRt } from "../support/rt.ts";

test('a bundle imports the module "rt" at run time, for each target', async () => {
  const targets = [[], ["--target=bun"], ["--target", "bun"], ["--target=node"], ["--packages=external"]];
  const outfiles = targets.map((_, index) => `./made-${index}.js`);
  await using app = await createProject({
    "app.ts":
      'import rt, { CSRF } from "rt"; console.log(import.meta.url.match(/[^/]+$/)[0], CSRF === rt.CSRF)',
    "all.ts": `for (const file of ${JSON.stringify(outfiles)}) await import(file);`,
  });
  for (const [index, target] of targets.entries()) {
    const args = ["build", "app.ts", ...target, "--outfile", outfiles[index]!];
    expect(await runRt({ args, cwd: app.path })).toMatchObject({ stderr: "", status: 0 });
  }
  const stdout = targets.map((_, index) => `made-${index}.js true\n`).join("");
  expect(await runRt({ args: ["all.ts"], cwd: app.path })).toEqual({ stdout, stderr: "", status: 0 });
});

describe.skipIf(process.platform !== "linux")("rt build --compile", () => {
  let project: Project;
  let expected: Buffer;
  const make = async (program: string, outfile: string, options: readonly string[] = []) =>
    await runRt({
      program: [program],
      args: ["build", "--compile", "app.ts", ...options, "--outfile", outfile],
      cwd: project.path,
      env: { TMPDIR: project.path },
    });

  beforeAll(async () => {
    project = await createProject({ "app.ts": "console.log('made', process.argv.slice(2))" });
    await make(RT, "app", ["--compile-executable-path", process.execPath]);
    expected = await readFile(project.join("app"));
    // In rt's engine the tools are named after rt, and shortened text is marked as specified.
    renameTools(expected, await readFile(process.execPath));
    shortenCutOff(expected);
  });
  afterAll(() => project[Symbol.asyncDispose]());

  // runtime/program.test.ts builds without a target.
  test("puts the program into the engine's own file for a target that is this system", async () => {
    // The program contains its own file name.
    const options = ["--target", `bun-linux-${process.arch}`];
    expect(await make(RT, "app", options)).toMatchObject({ stderr: "", status: 0 });
    expect(expected.equals(await readFile(project.join("app")))).toBe(true);
    const { stdout } = await runRt({ program: [project.join("app")], args: ["a"] });
    expect(stdout).toBe('made [ "a" ]\n');
    const files = readdirSync(project.path, { recursive: true, encoding: "utf8" });
    expect(files.filter((name) => /engine|\.elf/.test(name))).toEqual([]);
  });

  const other = process.arch === "x64" ? "arm64" : "x64";
  test.each(["bun-darwin-arm64", `bun-linux-${process.arch}-musl`, `bun-linux-${other}`])(
    "does not use its own engine for another system: %s",
    async (target) => {
      await using own = await createProject({ "app.ts": "", "home/x": "" });
      // The engine downloads the other one, here from a closed port.
      const proxy = { HTTPS_PROXY: "http://127.0.0.1:9", HTTP_PROXY: "http://127.0.0.1:9" };
      const env = { ...proxy, HOME: own.join("home"), TMPDIR: own.path };
      const args = ["build", "--compile", "app.ts", "--target", target, "--outfile", "app"];
      const { status, stderr } = await runRt({ args, cwd: own.path, env });
      expect([status, existsSync(own.join("app"))]).toEqual([1, false]);
      expect(stderr).toContain("download");
    },
  );

  // The programs are run by runtime/program.test.ts.
  for (const [where, args] of Object.entries({
    "in a file": ["api.ts"],
    "in the engine's own process": ["--no-macros", "api.ts"],
    "in a worker": ["-e", "new Worker('./api.ts')"],
  }))
    test(`makes Bun.build() the function rt.build() ${where}`, async () => {
      await using own = await createProject({ "api.ts": "console.log(Bun.build === rt.build)" });
      const { stdout, stderr } = await runRt({ args, cwd: own.path });
      expect({ stdout, stderr }).toEqual({ stdout: "true\n", stderr: "" });
    });

  test("accepts the engine file of Bun.build(), and bundles without changes", async () => {
    const code = `const build = async (config) => {
          try { return (await Bun.build({ entrypoints: ["./app.ts"], ...config })).success } catch (error) { return String(error) }
        };
        console.log(await build({ compile: { outfile: "x", executablePath: "./missing" } }), await build({ outdir: "out" }), await build(), await build({ entrypoints: 1 }))`;
    await using own = await createProject({ "app.ts": "console.log('made')", "api.ts": code });
    const [expectedResult, actual] = await Promise.all(
      [process.execPath, RT].map((program) => runRt({ program: [program], args: ["api.ts"], cwd: own.path })),
    );
    expect(actual!.stdout).toContain("true true");
    expect(actual).toEqual(expectedResult);
  });

  test("closes every file of Bun.build() after success and failure, also when rt's own file was deleted", async () => {
    const code = `const { readdirSync, readlinkSync, unlinkSync } = require("node:fs");
        const open = () => readdirSync("/proc/self/fd").filter((fd) => {
          try { return readlinkSync("/proc/self/fd/" + fd).includes("/engine-") } catch { return false }
        }).length;
        unlinkSync("rt");
        for (const entry of ["./app.ts", "./missing.ts"]) {
          const { success } = await Bun.build({ entrypoints: [entry], throw: false, compile: { outfile: "app" } });
          console.log(success, open());
        }`;
    await using own = await createProject({ "app.ts": "console.log('made')", "api.ts": code });
    await copyFile(RT, own.join("rt"));
    const { stdout, stderr } = await runRt({
      program: [own.join("rt")],
      args: ["api.ts"],
      cwd: own.path,
      env: { TMPDIR: own.path },
    });
    expect({ stdout, stderr }).toEqual({ stdout: "true 0\nfalse 0\n", stderr: "" });
  });

  test("accepts the engine file of --compile-executable-path", async () => {
    const options = ["--compile-executable-path", "missing"];
    const { stderr, status } = await make(RT, "other", options);
    expect({ isMade: existsSync(project.join("other")), status }).toEqual({ isMade: false, status: 1 });
    expect(stderr).toContain("missing");
  });

  test("leaves no file behind when the disk is full", async () => {
    await using own = await createProject({ "app.ts": "", "files/.keep": "" });
    const script = 'trap "" XFSZ; ulimit -f 100; "$0" build --compile app.ts --outfile app';
    const { stderr, status } = await runRt({
      program: ["sh", "-c", script, RT],
      cwd: own.path,
      env: { TMPDIR: own.join("files"), XDG_RUNTIME_DIR: "" },
    });
    expect(stderr).toStartWith("error: Cannot create a private directory: ");
    expect(status).toBe(1);
    expect(readdirSync(own.join("files"), { recursive: true }).toSorted()).toEqual([
      ".keep",
      "rt-files-" + (process.getuid?.() ?? 0),
    ]);
  });

  test("builds again after each change with --watch", async () => {
    await using own = await createProject({ "app.ts": "console.log(1)" });
    const child = startRt({
      args: ["build", "--compile", "--watch", "--no-clear-screen", "app.ts", "--outfile", "app"],
      cwd: own.path,
      env: { TMPDIR: own.path, XDG_RUNTIME_DIR: own.path },
    });
    try {
      let output = "";
      const decoder = new TextDecoder();
      let times = 0;
      for await (const chunk of child.stdout) {
        output += decoder.decode(chunk, { stream: true });
        if (output.split("compile").length - 1 <= times) continue;
        times += 1;
        const { stdout } = await runRt({ program: [own.join("app")] });
        expect(stdout).toBe(`${times}\n`);
        if (times === 2) break;
        await own.write({ "app.ts": "console.log(2)" });
      }
      expect(times).toBe(2);
    } finally {
      child.kill();
      await child.exited;
    }
  });
});
