// Options for the process: memory, warnings, rejections, profiles.
import { describe, expect } from "bun:test";
import { readdirSync } from "node:fs";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { outputOf, prove, runIn } from "./prove.ts";

const warns = {
  "a.js": 'process.emitWarning("plain"); process.emitWarning("old", "DeprecationWarning", "DEP1");',
};

/** Returns the standard error of a program that warns. */
async function warningsOf(...options: string[]): Promise<string> {
  return (await runIn(warns, [...options, "a.js"])).stderr;
}

describe("runtime and process control", () => {
  prove("rt", "runs rt for the command node", async () => {
    const files = { "package.json": { scripts: { s: "node -p 'typeof rt'" } } };
    expect(await outputOf(files, ["run", "s"])).toBe("undefined");
    expect(await outputOf(files, ["--rt", "run", "s"])).toBe("object");
    expect(await outputOf(files, ["run", "-b", "s"])).toBe("object");
  });

  prove("rt", "runs rt for the command node in a file, a test or standard input", async () => {
    const code = "console.log(`${Bun.spawnSync(['node', '-p', 'typeof rt']).stdout}`.trim());";
    const files = { "a.js": code, "a.test.js": code };
    expect(await outputOf(files, ["a.js"])).toBe("undefined");
    expect(await outputOf(files, ["--rt", "a.js"])).toBe("object");
    expect(await outputOf({ ...files, "rtfig.toml": "run.rt = true" }, ["a.js"])).toBe("object");
    expect(await outputOf(files, ["--rt", "test"])).toEndWith("object");
    expect((await runIn(files, ["run", "-b", "-"], { stdin: code })).stdout).toBe("object\n");
  });

  prove("bun", "runs rt for the command node too", async () => {
    const files = { "package.json": { scripts: { s: "node -p 'typeof rt'" } } };
    expect(await outputOf(files, ["--bun", "run", "s"])).toBe("object");
  });

  prove("shell", "chooses between the system's shell and the built-in one", async () => {
    const files = { "package.json": { scripts: { s: "echo ${BASH_VERSION:+bash}." } } };
    expect(await outputOf(files, ["--shell=system", "run", "s"])).toBe("bash.");
    const { stdout } = await runIn(files, ["--shell", "rt", "run", "s"]);
    expect(stdout).not.toContain("bash.");
    expect((await runIn(files, ["--shell=bun", "run", "s"])).stdout).toBe(stdout);
  });
  prove("shell", "=rt loads no .env files into the shell's child processes", async () => {
    const files = {
      "package.json": { scripts: { s: "NODE_ENV=production rt run i.ts", echo: "echo [$ONLY]" } },
      "i.ts": "console.log(process.env.X, process.env.ONLY)",
      ".env": "ONLY=file",
      ".env.development": "X=dev",
      ".env.production": "X=prod",
    };
    for (const shell of ["system", "rt"]) {
      expect(await outputOf(files, [`--shell=${shell}`, "run", "s"])).toBe("prod file");
      expect(await outputOf(files, [`--shell=${shell}`, "run", "echo"])).toBe("[]");
    }
  });

  prove("smol", "collects garbage more often", async () => {
    const files = {
      "a.js":
        "let k; for (let i = 0; i < 30; i++) { k = []; for (let j = 0; j < 20000; j++) k.push({ a: [j] }); }",
    };
    // A concurrent collector would run as often as it gets a processor.
    const env = { BUN_JSC_logGC: "1", BUN_JSC_useConcurrentGC: "0" };
    const collections = async (...args: string[]) => {
      const { stdout, stderr } = await runIn(files, args, { env });
      return (stdout + stderr).match(/\[GC/g)?.length ?? 0;
    };
    const usual = await collections("--no-addons", "a.js");
    expect(usual).toBeGreaterThan(0);
    expect(await collections("--smol", "a.js")).toBeGreaterThan(usual * 1.2);
  });

  prove("expose-gc", "adds gc() to the global object", async () => {
    expect(await outputOf({}, ["-p", "typeof gc"])).toBe("undefined");
    expect(await outputOf({}, ["--expose-gc", "-p", "gc(), typeof gc"])).toBe("function");
  });

  prove("no-deprecation", "hides deprecation warnings", async () => {
    expect(await warningsOf()).toContain("DEP1");
    expect(await warningsOf("--no-deprecation")).not.toContain("DEP1");
  });

  prove("throw-deprecation", "turns a deprecation into an error", async () => {
    expect((await runIn(warns, ["a.js"])).status).toBe(0);
    expect((await runIn(warns, ["--throw-deprecation", "a.js"])).status).toBe(1);
  });

  prove("no-warnings", "silences every warning", async () => {
    expect(await warningsOf("--no-warnings")).toBe("");
  });

  prove("trace-warnings", "shows where a warning was emitted", async () => {
    expect(await warningsOf()).not.toContain("a.js:1");
    expect((await warningsOf("--trace-warnings")).match(/a\.js:1/g)?.length).toBe(2);
  });

  prove("trace-deprecation", "shows where a deprecation was emitted", async () => {
    expect((await warningsOf("--trace-deprecation")).match(/a\.js:1/g)?.length).toBe(1);
  });

  prove("pending-deprecation", "reports pending deprecations", async () => {
    const files = { "a.js": 'process.binding("util")' };
    expect((await runIn(files, ["a.js"])).stderr).toBe("");
    expect((await runIn(files, ["--pending-deprecation", "a.js"])).stderr).toContain("DEP0111");
  });

  prove("redirect-warnings", "writes warnings to a file", async () => {
    await using project = await createProject(warns);
    const { stderr } = await runRt({ args: ["--redirect-warnings=w.log", "a.js"], cwd: project.path });
    expect(stderr).toBe("");
    expect(await Bun.file(project.join("w.log")).text()).toContain("DEP1");
  });

  prove("disable-warning", "silences one code or type", async () => {
    const stderr = await warningsOf("--disable-warning=DEP1");
    expect([stderr.includes("plain"), stderr.includes("DEP1")]).toEqual([true, false]);
    expect(await warningsOf("--disable-warning=DEP1", "--disable-warning=Warning")).toBe("");
  });

  prove("title", "sets the title of the process", async () => {
    expect(await outputOf({}, ["--title=my title", "-p", "process.title"])).toBe("my title");
  });

  prove("zero-fill-buffers", "clears the memory of Buffer.allocUnsafe()", async () => {
    const files = {
      "a.js":
        "let sum = 0; for (let i = 0; i < 500; i++) { const b = Buffer.allocUnsafe(1024); for (const x of b) sum += x; b.fill(1); } console.log(sum > 0);",
    };
    expect(await outputOf(files, ["a.js"])).toBe("true");
    expect(await outputOf(files, ["--zero-fill-buffers", "a.js"])).toBe("false");
  });

  prove("no-addons", "forbids process.dlopen and the condition node-addons", async () => {
    const files = {
      "a.js":
        'try { process.dlopen({ exports: {} }, "/none.node") } catch (e) { console.log(e.code, require("p")) }',
      "node_modules/p/package.json": {
        name: "p",
        exports: { "node-addons": "./addon.js", default: "./plain.js" },
      },
      "node_modules/p/addon.js": "module.exports = 'addon'",
      "node_modules/p/plain.js": "module.exports = 'plain'",
    };
    expect(await outputOf(files, ["a.js"])).toEndWith("addon");
    expect(await outputOf(files, ["--no-addons", "a.js"])).toBe("ERR_DLOPEN_DISABLED plain");
  });

  prove("no-ffi-cc", "forbids cc() of bun:ffi", async () => {
    const files = {
      "a.ts":
        'import { cc } from "bun:ffi"; try { console.log(cc({ source: "./f.c", symbols: { f: { returns: "int" } } }).symbols.f()) } catch (e) { console.log(e.code) }',
      "f.c": "int f() { return 42; }",
    };
    expect(await outputOf(files, ["--no-ffi-cc", "a.ts"])).toBe("ERR_FFI_CC_DISABLED");
  });

  const rejects = { "a.js": 'Promise.reject(new Error("no")); setTimeout(() => console.log("alive"), 1)' };
  const listening = {
    "a.js":
      'for (const e of ["uncaughtException", "unhandledRejection"]) process.on(e, () => console.log(e)); Promise.reject(new Error("no"))',
  };
  const outcome = async (mode: string) => {
    const { status, stdout, stderr } = await runIn(rejects, [`--unhandled-rejections=${mode}`, "a.js"]);
    return {
      status,
      alive: stdout.includes("alive"),
      warned: stderr.includes("UnhandledPromiseRejectionWarning"),
    };
  };

  prove("unhandled-rejections", "=strict ends the program through uncaughtException", async () => {
    expect(await outcome("strict")).toEqual({ status: 1, alive: false, warned: true });
    const withListener = await outputOf(listening, ["--unhandled-rejections=strict", "a.js"]);
    expect(withListener).toContain("uncaughtException");
  });

  prove(
    "unhandled-rejections",
    "=throw ends the program unless unhandledRejection has a listener",
    async () => {
      expect(await outcome("throw")).toEqual({ status: 1, alive: false, warned: false });
      expect(await outputOf(listening, ["--unhandled-rejections=throw", "a.js"])).toBe("unhandledRejection");
    },
  );

  prove("unhandled-rejections", "=warn warns and continues", async () => {
    expect(await outcome("warn")).toEqual({ status: 0, alive: true, warned: true });
  });

  prove("unhandled-rejections", "=none continues silently", async () => {
    expect(await outcome("none")).toEqual({ status: 0, alive: true, warned: false });
  });

  prove("unhandled-rejections", "=warn-with-error-code warns, continues and fails at the end", async () => {
    expect(await outcome("warn-with-error-code")).toEqual({ status: 1, alive: true, warned: true });
  });

  prove("console-depth", "sets the depth of console.log", async () => {
    const files = { "a.js": "console.log({ a: { b: { c: { d: { e: 1 } } } } })" };
    expect(await outputOf(files, ["a.js"])).toContain("c: [Object],");
    expect(await outputOf(files, ["--console-depth=6", "a.js"])).toContain("e: 1");
    expect(await outputOf(files, ["--console-depth=1", "a.js"])).not.toContain("c:");
  });
  prove("console-depth", "prints deeper values as [Object], or by their class", async () => {
    const files = {
      "a.js":
        'class A { b = {} } console.log([[[[1]]]], { a: { b: { c: new A(), d: new Map([[1, { e: 1 }]]), s: "[Object ...]" } } })',
    };
    const shown = async (...options: string[]) =>
      (await outputOf(files, [...options, "a.js"])).replaceAll(/\s+/g, " ");
    expect(await shown()).toBe(
      '[ [ [ [Array] ] ] ] { a: { b: { c: [Object], d: [Map], s: "[Object ...]", }, }, }',
    );
    expect(await shown("--console-depth=1")).toBe("[ [ [Array] ] ] { a: { b: [Object], }, }");
  });
});

/** Returns the files beside the program after a run. */
async function filesAfter(
  args: readonly string[],
  source = "1",
): Promise<{ names: string[]; read(name: string): string }> {
  const project = await createProject({ "a.js": source, "out/.keep": "" });
  try {
    await runRt({ args: [...args, "a.js"], cwd: project.path });
    const names = readdirSync(project.path, { recursive: true }).map(String);
    const texts = new Map<string, string>();
    for (const name of names) {
      if (/prof|\.md$/.test(name)) texts.set(name, await Bun.file(project.join(name)).text());
    }
    return { names, read: (name) => texts.get(name) ?? "" };
  } finally {
    await project[Symbol.asyncDispose]();
  }
}

/** Uses this much processor time, so that the sampling thread gets some too on a busy machine. */
const busy =
  "const start = process.cpuUsage(); for (let u = start; (u = process.cpuUsage(start)).user + u.system < 400_000;);";

describe("profiling", () => {
  prove("cpu-prof", "writes a profile", async () => {
    const { names, read } = await filesAfter(["--cpu-prof"], busy);
    const name = names.find((each) => each.endsWith(".cpuprofile"))!;
    expect(JSON.parse(read(name)).samples.length).toBeGreaterThan(0);
  });

  prove("cpu-prof-name", "sets the name of the profile", async () => {
    expect((await filesAfter(["--cpu-prof", "--cpu-prof-name=x.cpuprofile"])).names).toContain(
      "x.cpuprofile",
    );
  });

  prove("cpu-prof-dir", "sets the directory of the profile", async () => {
    const { names } = await filesAfter(["--cpu-prof", "--cpu-prof-dir=out"]);
    expect(names.some((name) => /^out.*\.cpuprofile$/.test(name))).toBe(true);
  });

  prove("cpu-prof-md", "writes the profile as Markdown", async () => {
    const { names, read } = await filesAfter(["--cpu-prof-md", "--cpu-prof-name=x.md"], busy);
    expect(names).toContain("x.md");
    expect(read("x.md")).toContain("#");
  });

  prove("cpu-prof-interval", "sets the time between samples", async () => {
    // Half of the deltas are longer: a late sample makes the next delta short.
    const median = async (interval: number) => {
      const args = ["--cpu-prof", "--cpu-prof-name=x.cpuprofile", `--cpu-prof-interval=${interval}`];
      const { timeDeltas } = JSON.parse((await filesAfter(args, busy)).read("x.cpuprofile"));
      const deltas = timeDeltas.slice(1).toSorted((a: number, b: number) => a - b); // the first counts from the start
      return deltas[deltas.length >> 1];
    };
    expect(await median(200)).toBeWithin(100, 10_000);
    expect(await median(20_000)).toBeGreaterThan(10_000);
  });

  prove("heap-prof", "writes a profile", async () => {
    const { names, read } = await filesAfter(["--heap-prof"]);
    expect(JSON.parse(read(names.find((each) => each.endsWith(".heapprofile"))!))).toBeObject();
  });

  prove("heap-prof-name", "sets the name of the profile", async () => {
    expect((await filesAfter(["--heap-prof", "--heap-prof-name=x.heapprofile"])).names).toContain(
      "x.heapprofile",
    );
  });

  prove("heap-prof-dir", "sets the directory of the profile", async () => {
    const { names } = await filesAfter(["--heap-prof", "--heap-prof-dir=out"]);
    expect(names.some((name) => /^out.*\.heapprofile$/.test(name))).toBe(true);
  });

  prove("heap-prof-md", "writes the profile as Markdown", async () => {
    expect((await filesAfter(["--heap-prof-md", "--heap-prof-name=x.md"])).read("x.md")).toContain("#");
  });

  prove(
    "heap-prof-interval",
    "is accepted; the engine's profile is a snapshot and has no samples",
    async () => {
      const args = ["--heap-prof", "--heap-prof-name=x.heapprofile", "--heap-prof-interval=1000"];
      expect((await filesAfter(args)).names).toContain("x.heapprofile");
      expect((await runRt({ args: ["--heap-prof-interval=many", "a.js"] })).status).toBe(1);
    },
  );
});
