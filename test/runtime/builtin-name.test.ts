// "rt" as a builtin module: programs find "rt" wherever they find "bun", in each place in which code can run.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { placesOf } from "./places.ts";

const PROGRAM = `
import * as all from "node:module";
import { builtinModules, createRequire, isBuiltin } from "node:module";
const told = async (name) => ({
  listed: builtinModules.filter((each) => each === name).length,
  named: isBuiltin(name),
  inNamespace: all.isBuiltin(name) && all.default.isBuiltin(name) && all.default.builtinModules.includes(name),
  required: createRequire(process.execPath)("module").isBuiltin(name),
  resolved: [all.default._resolveFilename(name), createRequire(process.execPath).resolve(name), Bun.resolveSync(name, "/"), await Bun.resolve(name, "/")].map((found) => found === name),
  same: process.getBuiltinModule(name) === createRequire(process.execPath)(name),
  which: [process.getBuiltinModule(name).which, createRequire(process.execPath)(name).which, (await import(name)).which].map((which) => which === Bun.which),
});
const others = [isBuiltin("fs"), isBuiltin("node:fs"), isBuiltin("rtt"), isBuiltin("node:rt"), process.getBuiltinModule("rtt"), process.getBuiltinModule("fs") === process.getBuiltinModule("node:fs"),
  await Bun.resolve("rtt", "/").catch(() => "unresolved"), Bun.resolveSync("node:fs", "/")];
// A replaced resolver is called, and can call the original one.
const { default: Module } = all;
const before = Module._resolveFilename;
const asked = [];
Module._resolveFilename = function (name, ...rest) { asked.push(name); return before.call(this, name, ...rest); };
others.push(Module._resolveFilename("rt"), before.name, createRequire(process.execPath)("node:path").sep);
try { createRequire(process.execPath)("./nowhere.cjs"); } catch {}
others.push(asked.includes("./nowhere.cjs"), asked[0]);
console.log("TOLD " + JSON.stringify([await told("rt"), await told("bun"), others]));
process.exit();
`;

describe("the module rt is builtin in", () => {
  for (const { name, files, args, stdin } of placesOf(PROGRAM))
    test(name, async () => {
      await using project = await createProject({ "pre.ts": "", "node_modules/.keep": "", ...files });
      const { stdout, stderr } = await runRt({ args, cwd: project.path, stdin });
      const line = stdout.split("\n").find((each) => each.startsWith("TOLD ")) ?? `"${stderr}"`;
      const [rt, bun, others] = JSON.parse(line.replace("TOLD ", "")) as unknown[];
      expect(bun).toMatchObject({ listed: 1, named: true, which: [true, true, true] });
      expect(rt).toEqual(bun);
      expect(others).toEqual([
        true,
        true,
        false,
        false,
        null,
        true,
        "unresolved",
        "node:fs",
        "rt",
        "_resolveFilename",
        "/",
        true,
        "rt",
      ]);
    });
});
