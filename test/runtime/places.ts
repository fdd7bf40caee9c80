// Every place in which a user's code can run, as files and a command line.
import type { Files } from "../support/project.ts";

export interface Place {
  readonly name: string;
  readonly files: Files;
  readonly args: readonly string[];
  readonly stdin?: string;
}

const THREAD = "new URL('./code.ts', import.meta.url)";
const WEB_WORKER = `const w = new Worker(${THREAD}.href); w.addEventListener("close", () => {});`;
const NODE_WORKER = `import { Worker as Thread } from "node:worker_threads"; new Thread(${THREAD});`;

/** @param code a module that prints to standard output and may use import declarations and top-level await */
export function placesOf(code: string): Place[] {
  const at = (name: string, files: Files, ...args: string[]): Place => ({
    name,
    files: { "code.ts": code, ...files },
    args,
  });
  const main = (name: string, source: string): Place => at(name, { "main.ts": source }, "main.ts");
  return [
    at("the main module", {}, "code.ts"),
    at("the main module, with run", {}, "run", "code.ts"),
    at("the main module, as the engine", {}, "--smol", "code.ts"),
    at("the main module, with a debugger's option", {}, "--no-addons", "run", "code.ts"),
    at("a .mjs file", { "main.mjs": 'import "./code.ts"' }, "main.mjs"),
    at("a module that CommonJS imports", { "main.cjs": 'import("./code.ts")' }, "main.cjs"),
    main("an imported module", 'import "./code.ts";'),
    main("a module that is imported later", 'await Bun.sleep(1); await import("./code.ts");'),
    at("a preloaded module", { "main.ts": "" }, "--preload", "./code.ts", "main.ts"),
    at("a preloaded module, as the engine", { "main.ts": "" }, "--smol", "-r", "./code.ts", "main.ts"),
    at("a preloaded module with -e", {}, "--import", "./code.ts", "-e", "1"),
    at("-e", {}, "-e", code),
    { ...at("standard input", {}, "run", "-"), stdin: code },
    { ...at("standard input, without run", {}, "-"), stdin: code },
    { ...at("standard input, with an option", {}, "run", "--smol", "-"), stdin: code },
    main("a Worker", WEB_WORKER),
    at("a Worker, as the engine", { "main.ts": WEB_WORKER }, "--smol", "main.ts"),
    at("a Worker started by -e", {}, "-e", 'new Worker("./code.ts")'),
    main("a Worker with a preload of its own", `new Worker(${THREAD}.href, { preload: ["./pre.ts"] });`),
    main("a preload of a Worker", `new Worker("data:text/javascript,", { preload: "./code.ts" });`),
    main(
      "a Worker in a Worker",
      `new Worker("data:text/javascript," + encodeURIComponent('new Worker("' + ${THREAD}.href + '")'));`,
    ),
    main("a Worker of a class that extends Worker", `class Mine extends Worker {} new Mine(${THREAD}.href);`),
    main("worker_threads", NODE_WORKER),
    at("worker_threads, as the engine", { "main.ts": NODE_WORKER }, "--smol", "main.ts"),
    at(
      "worker_threads from CommonJS",
      {
        "main.cjs":
          'const { Worker } = require("worker_threads"); new Worker(require("path").join(__dirname, "code.ts"));',
      },
      "main.cjs",
    ),
    at("worker_threads in -e", {}, "-e", 'new (require("worker_threads").Worker)("./code.ts")'),
    main(
      "worker_threads with eval",
      `import { Worker as Thread } from "node:worker_threads"; new Thread('import("' + ${THREAD}.href + '")', { eval: true });`,
    ),
    main(
      "worker_threads in worker_threads",
      `import { Worker as Thread, isMainThread } from "node:worker_threads"; import { threadId } from "node:worker_threads"; if (threadId === 0) new Thread(new URL(import.meta.url)); else new Thread(${THREAD});`,
    ),
    main(
      "worker_threads in a Worker",
      `if (Bun.isMainThread) new Worker(import.meta.url); else { const { Worker: Thread } = await import("node:worker_threads"); new Thread(${THREAD}); }`,
    ),
    main(
      "a Worker in worker_threads",
      `if (Bun.isMainThread) { const { Worker: Thread } = await import("node:worker_threads"); new Thread(new URL(import.meta.url)); } else new Worker(${THREAD}.href);`,
    ),
    main(
      "the second of two worker_threads",
      `import { Worker as Thread } from "node:worker_threads"; new Thread("0", { eval: true }).on("exit", () => new Thread(${THREAD}));`,
    ),
    main(
      "worker_threads with every option",
      `import { Worker as Thread, SHARE_ENV } from "node:worker_threads"; new Thread(${THREAD}, { workerData: 1, argv: ["a"], env: SHARE_ENV, name: "n", stdout: false });`,
    ),
    main("a forked process", 'import { fork } from "node:child_process"; fork("./code.ts");'),
    main(
      "a forked process with options",
      'import { fork } from "node:child_process"; fork("./code.ts", { execArgv: ["--smol"] });',
    ),
    at("a process forked by -e", {}, "-e", 'require("child_process").fork("./code.ts")'),
    main(
      "a cluster's worker",
      'import cluster from "node:cluster"; if (cluster.isPrimary) cluster.fork(); else { await import("./code.ts"); process.exit() }',
    ),
    main("a spawned copy", 'Bun.spawn([process.execPath, "code.ts"], { stdout: "inherit" });'),
    at("a package script", { "package.json": { scripts: { go: "rt code.ts" } } }, "--silent", "go"),
    at(
      "a package script that uses node, with -b",
      { "package.json": { scripts: { go: "node code.ts" } } },
      "-b",
      "--silent",
      "run",
      "go",
    ),
    at(
      "a test",
      { "x.test.ts": 'import { test } from "bun:test"; test("x", () => import("./code.ts"), 120_000);' },
      "test",
      "x.test.ts",
    ),
    at(
      "a file beside a tsconfig.json with decorators",
      { "tsconfig.json": { compilerOptions: { experimentalDecorators: true } } },
      "code.ts",
    ),
    at("a file without an extension", { start: 'import "./code.ts"' }, "./start"),
  ];
}
