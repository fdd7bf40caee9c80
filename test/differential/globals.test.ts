// Compares everything reachable from the global objects: type, members and property attributes.
//
// They must be the same under rt and the engine, in the main thread and in a worker.
//
// Non-obvious: the list of differences is complete. An unlisted difference fails, and so does a listed one that no longer exists.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { RT, startRt } from "../support/rt.ts";

/** Walks three levels down from each root. An object that was visited before is printed as its first path. */
const WALKER = `
import * as bun from "bun";
import * as module from "node:module";
const seen = new Map();
const lines = [];
const VARIES = /process\\.(env|memoryUsage|resourceUsage|report|pid|ppid|_events|domain)\\b|performance\\.|Bun\\.(env|stdin|stdout|stderr)$|crypto\\./;
function describe(value) {
  if (typeof value === "function") {
    const source = Function.prototype.toString.call(value);
    return "function " + value.name + "/" + value.length + (source.includes("[native code]") ? " native" : "");
  }
  if (typeof value === "object" && value !== null) return Object.prototype.toString.call(value);
  return typeof value === "string" ? JSON.stringify(value) : String(value) + " " + typeof value;
}
function walk(value, path, depth) {
  if (VARIES.test(path)) return;
  const isLeaf = value === null || (typeof value !== "object" && typeof value !== "function");
  const name = isLeaf ? undefined : seen.get(value);
  lines.push(path + " is " + (name ?? describe(value)));
  if (isLeaf || name !== undefined) return;
  seen.set(value, path);
  if (depth === 0) return;
  for (const key of Reflect.ownKeys(value)) {
    const property = Reflect.getOwnPropertyDescriptor(value, key);
    if (!property) continue;
    const kind = "value" in property ? "value" : "accessor";
    const flags = ["writable", "enumerable", "configurable"].filter((flag) => property[flag]);
    const inner = path + "." + String(key);
    if (VARIES.test(inner)) continue;
    lines.push(inner + ": " + [kind, ...flags].join(" "));
    if (kind === "accessor" && path.endsWith(".prototype")) continue; // for instances alone
    try {
      walk(value[key], inner, depth - 1);
    } catch (error) {
      lines.push(inner + " throws " + error);
    }
  }
  const parent = Object.getPrototypeOf(value);
  if (parent !== null) walk(parent, path + ".__proto__", depth - 1);
}
const result = () => {
  walk(globalThis, "globalThis", 3);
  walk(import.meta, "import.meta", 2);
  walk(require, "require", 2);
  walk(bun, "bun", 1);
  walk(module, "module", 1);
  return lines.join("\\n");
};
`;

const FILES = {
  "package.json": {},
  "main.ts": `${WALKER} await Bun.write(Bun.stdout, result()); process.exit(0);`,
  "thread.ts": `${WALKER} postMessage(result());`,
  "in-worker.ts": `
    const worker = new Worker(new URL("./thread.ts", import.meta.url).href);
    worker.onmessage = async ({ data }) => { await Bun.write(Bun.stdout, data); process.exit(0); };`,
};

/** Prefixes of the paths that differ. */
const EVERYWHERE = [
  ...[
    "globalThis.Bun.argv.0",
    "globalThis.process.argv0",
    "globalThis.process.execPath",
    "globalThis.process.title",
  ],
  "globalThis.rt",
  "globalThis.Bun.build", // it passes on the engine's file
  "globalThis.Worker.prototype.constructor", // the engine's class, which the proxy Worker wraps
  "globalThis.MessagePort.prototype.close", // it detects the loading of node:worker_threads
];
const IN_PROCESS = ["globalThis.Bun.isStandaloneExecutable"]; // rt is one, and the property cannot be changed

const MODES: Record<string, { options: string[]; file: string; differs: string[] }> = {
  "in process": { options: [], file: "main.ts", differs: [...EVERYWHERE, ...IN_PROCESS] },
  "as the engine": { options: ["--no-macros"], file: "main.ts", differs: EVERYWHERE },
  "in a worker of a process": { options: [], file: "in-worker.ts", differs: [...EVERYWHERE, ...IN_PROCESS] },
  "in a worker of the engine": { options: ["--no-macros"], file: "in-worker.ts", differs: EVERYWHERE },
};

describe.concurrent("everything reachable from the global objects is the same", () => {
  test.each(Object.keys(MODES))("%s", async (mode) => {
    const { options, file, differs } = MODES[mode]!;
    await using project = await createProject(FILES);
    const walkIn = async (program: string) => {
      const { stdout } = startRt({ program: [program, ...options], args: [file], cwd: project.path });
      return (await new Response(stdout).text()).split("\n");
    };
    const [stock, ours] = await Promise.all([walkIn(process.execPath), walkIn(RT)]);
    expect(stock.length).toBeGreaterThan(5000);
    const [inStock, inOurs] = [new Set(stock), new Set(ours)];
    const changed = [
      ...stock.filter((line) => !inOurs.has(line)),
      ...ours.filter((line) => !inStock.has(line)),
    ];
    const unexpected = changed.filter((line) => !differs.some((name) => line.startsWith(name)));
    expect(unexpected).toEqual([]);
    expect(differs.filter((name) => !changed.some((line) => line.startsWith(name)))).toEqual([]);
  });
});
