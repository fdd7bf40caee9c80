// Compiles programs with `rt build --compile` and Bun.build({ compile }), for this system and, as far as they can be started
// or inspected, for others. They run without rt.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { enginePath } from "../../build/engine.ts";
import { hostTarget, TARGETS } from "../../build/targets.ts";
import { SCRIPTS_OPTION, SCRIPTS_SEPARATOR } from "../../src/runtime/preload/preload-url.ts";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { createProject, type Project } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { canRunWindows, isWine, openWindows } from "../support/programs/windows.ts";

setDefaultTimeout(PREPARATION_TIMEOUT);

const FILES = {
  "app.ts": `
import { secrets, which } from "rt";
import { Worker as Thread } from "node:worker_threads";
const account = { service: "com.example.made", name: process.argv.at(-1)! };
await secrets.set({ ...account, value: "pässword" });
console.log("import", await secrets.get(account), typeof which);
console.log("global", await globalThis.rt.secrets.delete(account), Object.keys(globalThis).includes("rt"));
const late = await import("rt");
console.log("import()", late.CSRF.verify(late.CSRF.generate("key"), { secret: "key" }), late.default === rt);
console.log("require", require("rt").secrets === secrets);
console.log("argv", process.argv.slice(2), process.execArgv);
await secrets.get("", "x").catch((error) => console.log(error.code, error.stack.split("\\n").length, error.stack.includes("rt:runtime")));
const thread = (worker: object) => new Promise((settle) => { worker.onmessage = ({ data }) => settle(data); worker.on?.("message", settle); });
const url = new URL("./worker.ts", import.meta.url).href;
const web = new Worker(url);
console.log("Worker", await thread(web));
web.terminate();
const node = new Thread(new URL(url));
console.log("worker_threads", await thread(node));
await node.terminate();
`,
  "worker.ts": `
import { CSRF } from "rt";
import { parentPort } from "node:worker_threads";
(parentPort ?? self).postMessage([rt.CSRF.verify(CSRF.generate("key"), { secret: "key" }), process.execArgv].join());
`,
  "plain.ts": "console.log(typeof rt.CSRF.generate(), process.execArgv.join())",
  "ask.ts": `import { secrets } from "rt";
await secrets.set({ service: "made", name: "me", value: "x y" });
console.log(await secrets.get("made", "me"), await secrets.delete("made", "me"), rt.CSRF.verify(rt.CSRF.generate("k"), { secret: "k" }), process.execArgv.length);`,
};

const expectedOutput = (options: string, own: string) => `import pässword function
global true false
import() true true
require true
argv [ "$NAME" ] [${options}]
ERR_INVALID_ARG_VALUE 2 false
Worker true,${own}
worker_threads true,${own}
`;

/** Builds in half the time, because rt does not write its own engine to a file. */
const STOCK_ENGINE = `--compile-executable-path=${process.execPath}`;

/** The build's cache of the engines of other systems. */
const ENGINES = dirname(enginePath(TARGETS.find(({ name }) => name !== hostTarget().name)!));
const FETCHING = /^(?:Downloading|Decompressing|Extracting).*\n/gm;

let project: Project;
beforeAll(async () => {
  project = await createProject(FILES);
});
afterAll(() => project[Symbol.asyncDispose]());

const build = async (...words: string[]) => {
  const result = await runRt({
    args: ["build", "--compile", ...words],
    cwd: project.path,
    env: { TMPDIR: project.path, BUN_INSTALL_CACHE_DIR: ENGINES },
  });
  expect({ ...result, stderr: result.stderr.replaceAll(FETCHING, "") }).toMatchObject({
    stderr: "",
    status: 0,
  });
};

describe.skipIf(process.platform !== "linux")("a compiled program has rt", () => {
  let keyring: Keyring;
  beforeAll(async () => {
    keyring = await startKeyring();
  });
  afterAll(() => keyring[Symbol.asyncDispose]());

  const expectProgram = async (outfile: string, stdout: string) => {
    const program = [project.join(outfile)];
    expect(await runRt({ program, args: [outfile], env: keyring.env })).toEqual({
      stdout: stdout.replace("$NAME", outfile),
      stderr: "",
      status: 0,
    });
    await rm(project.join(outfile));
  };

  for (const [index, words] of [
    [],
    [
      ...[STOCK_ENGINE, "--bytecode", "--format=esm", "--minify", "--sourcemap"],
      ...["--compile-exec-argv", "--no-addons", "--compile-exec-argv", "--smol --title=made"],
    ],
    [STOCK_ENGINE, "--sourcemap=external", "--splitting", "--compile-exec-argv=--smol --title=made"],
  ].entries()) {
    const shown = words.join(" ").replace(process.execPath, "<stock engine>");
    test(`when built with two entry points and ${shown || "no options"}`, async () => {
      const outfile = `app-${index}`;
      await build("app.ts", "worker.ts", ...words, "--outfile", outfile);
      const hasOptions = words.some((word) => word.startsWith("--compile-exec-argv"));
      const output = hasOptions
        ? expectedOutput(' "--smol", "--title=made" ', "--smol,--title=made")
        : expectedOutput("", "");
      await expectProgram(outfile, output);
    });
  }

  // Each place in which code runs has the same Bun.build(): see runner/build.test.ts.
  test("when Bun.build() builds it in a file and in a worker", async () => {
    const code = (
      outfile: string,
    ) => `const { success } = await Bun.build({ entrypoints: ["./app.ts", "./worker.ts"],
      compile: { outfile: "${outfile}", execArgv: ["--smol"] }, bytecode: true, format: "esm" });
      if (!success) throw new Error("not made");`;
    await project.write({ "api-1.ts": code("api-1"), "api-2.ts": code("api-2") });
    for (const [index, args] of [["api-1.ts"], ["-e", "new Worker('./api-2.ts')"]].entries()) {
      const result = await runRt({ args, cwd: project.path, env: { TMPDIR: project.path } });
      expect(result).toEqual({ stdout: "", stderr: "", status: 0 });
      await expectProgram(`api-${index + 1}`, expectedOutput(' "--smol" ', "--smol"));
    }
  });

  test("when it does not import it and starts with options of the engine", async () => {
    await build("plain.ts", STOCK_ENGINE, "--outfile", "plain");
    const program = [project.join("plain")];
    expect((await runRt({ program })).stdout).toBe("string \n");
    expect((await runRt({ program, env: { BUN_OPTIONS: "--smol" } })).stdout).toBe("string --smol\n");
  });

  test("only when compiled: Bun.build() without compile leaves the import in the bundle", async () => {
    await project.write({
      "bundle.ts": `await Bun.build({ entrypoints: ["./ask.ts"], outdir: "out", target: "bun" });
        console.log((await Bun.file("out/ask.js").text()).includes('from "rt"'));`,
    });
    expect(await runRt({ args: ["bundle.ts"], cwd: project.path })).toEqual({
      stdout: "true\n",
      stderr: "",
      status: 0,
    });
  });
});

/** Returns the runtime modules in a program, as it will evaluate them. */
async function partsIn(outfile: string): Promise<string> {
  const bytes = await readFile(project.join(outfile));
  const begin = bytes.indexOf(SCRIPTS_OPTION) + SCRIPTS_OPTION.length;
  const packed = bytes.toString("latin1", begin, bytes.indexOf(SCRIPTS_SEPARATOR, begin));
  return Bun.zstdDecompressSync(Buffer.from(packed, "base64url")).toString();
}

/** A word of each system's credential store that no other system's runtime contains. */
const STORES = { windows: "CredReadW", darwin: "SecItemUpdate", linux: "org.freedesktop.secrets" };

const FOR_WINDOWS = "windows-x64.exe";

for (const target of ["linux-x64-musl", "darwin-arm64", "windows-x64"])
  test(`a program compiled for ${target} contains the runtime for it`, async () => {
    const outfile = target.startsWith("windows") ? `${target}.exe` : target;
    await build("ask.ts", `--target=bun-${target}`, "--outfile", outfile);
    const parts = await partsIn(outfile);
    const found = Object.values(STORES).filter((word) => parts.includes(word));
    expect(found).toEqual([STORES[target.split("-")[0] as keyof typeof STORES]]);
    // Each has a hundred megabytes; keeping all of them could fill the disk.
    if (outfile !== FOR_WINDOWS) await rm(project.join(outfile));
  });

test.skipIf(!canRunWindows || !isWine)(
  "a program compiled for Windows stores credentials in Credential Manager",
  async () => {
    await using windows = await openWindows();
    if (!existsSync(project.join(FOR_WINDOWS)))
      await build("ask.ts", "--target", "bun-windows-x64", "--outfile", FOR_WINDOWS);
    const wine = windows.command().slice(0, -1); // without rt itself
    const options = {
      program: [...wine, project.join(FOR_WINDOWS)],
      cwd: project.path,
      env: windows.environment,
    };
    const { stdout } = await runRt(options);
    expect(stdout).toBe("x y true true 0\n");
  },
);
