// Options for module resolution.
import { describe, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { outputOf, prove, runIn } from "./prove.ts";
import { openRegistry } from "./registry.ts";

const preloads = {
  "first.ts": 'import { secrets } from "rt"; globalThis.order = ["first", typeof secrets.get];',
  "second.ts": 'globalThis.order.push("second");',
  "a.ts": "console.log(globalThis.order.join())",
};

describe("preloads", () => {
  prove("preload", "imports modules first, in order, with rt available", async () => {
    const expected = "first,function,second";
    expect(await outputOf(preloads, ["--preload=./first.ts", "--preload=./second.ts", "a.ts"])).toBe(
      expected,
    );
    expect(await outputOf(preloads, ["-r", "./first.ts", "-r", "./second.ts", "--smol", "a.ts"])).toBe(
      expected,
    );
  });
  prove("require", "is --preload", async () => {
    expect(await outputOf(preloads, ["--require", "./first.ts", "a.ts"])).toBe("first,function");
  });
  prove("import", "is --preload", async () => {
    expect(await outputOf(preloads, ["--import", "./first.ts", "a.ts"])).toBe("first,function");
  });
});

const source = { "a.ts": 'import v from "dep"; console.log(v);' };
const installed = {
  ...source,
  "node_modules/dep/package.json": { name: "dep", version: "1.0.0" },
  "node_modules/dep/index.js": 'module.exports = "on disk"',
};
const dep = (version: string, text = `dep ${version}`) => ({
  name: "dep",
  version,
  files: { "index.js": `module.exports = ${JSON.stringify(text)}` },
});

describe("auto-install", () => {
  prove("install", "=auto downloads packages when there is no node_modules", async () => {
    await using registry = await openRegistry([dep("1.0.0")]);
    expect(await outputOf(source, ["--install=auto", "a.ts"], registry)).toBe("dep 1.0.0");
    const { status } = await runIn(
      { ...source, "node_modules/x/a.js": "" },
      ["--install=auto", "a.ts"],
      registry,
    );
    expect(status).toBe(1);
  });
  for (const [what, files] of Object.entries<Record<string, string>>({
    "a package that is imported then": {
      "main.ts": 'import "./b.ts"; console.log("once"); await import("dep");',
      "b.ts": "export const b = 1",
    },
    "a package that only a type comes from": {
      "main.ts": 'import { type A, B } from "dep"; console.log("once"); require("dep"); let b: A | B;',
    },
    "a package behind a CommonJS module": {
      "main.ts": 'import "./b.cjs"; import dep from "dep"; console.log(dep);',
      "b.cjs": 'console.log("once")',
    },
    "a package that a comment names before": {
      "main.ts": '// const dep = require("dep")\nconsole.log("once");\nconst dep = require("dep");',
    },
    "a package whose name is a part of another's": {
      "main.ts": 'const data = require("./deps.json");\nconsole.log("once");\nconst dep = require("dep");',
      "deps.json": "1",
    },
    "a package that is required behind another module": {
      "main.ts": 'const b = require("./b.cjs");\nconst dep = require("dep");',
      "b.cjs": 'console.log("once")',
    },
  }))
    test(`missing packages are downloaded and no code runs twice: ${what}`, async () => {
      await using registry = await openRegistry([dep("1.0.0")]);
      const { stdout, stderr, status } = await runIn(files, ["main.ts"], registry);
      expect({ stdout, status, stderr }).toEqual({
        stdout: what.includes("CommonJS") ? "once\ndep 1.0.0\n" : "once\n",
        status: 0,
        stderr: "",
      });
      expect(registry.requests).toContain("GET /dep");
    });
  prove("install", "is auto for imports while the program runs", async () => {
    for (const [name, importCode] of Object.entries({
      "a.ts": 'const d = (await import("dep")).default;',
      "a.js": 'const name = "dep"; const d = (await import(name)).default;',
      "b.ts": 'const d = require("dep");',
      "c.cjs": 'const d = require(`${"dep"}`);',
      "d.ts": 'const d = (await import("./far/e.ts")).default;',
      "f.mts":
        'import { createRequire } from "node:module"; const d = createRequire(import.meta.path)(require.resolve("dep"));',
    })) {
      await using registry = await openRegistry([dep("1.0.0")]);
      const files = {
        [name]: `console.log("once"); ${importCode} console.log(d)`,
        "far/e.ts": 'export default require("dep")',
      };
      expect([name, await outputOf(files, [name], registry)]).toEqual([name, "once\ndep 1.0.0"]);
      await using untouched = await openRegistry([dep("1.0.0")]);
      const near = { ...files, "node_modules/x/a.js": "" };
      const { stdout, status } = await runIn(near, [name], untouched);
      expect([name, stdout, status]).toEqual([name, "once\n", 1]);
      expect(untouched.requests).toEqual([]);
    }
  });
  test("code does not run again for a package that was not found before", async () => {
    await using registry = await openRegistry([dep("1.0.0")]);
    const files = { "main.ts": 'const ask = require;\nconsole.log("once");\nask("dep");' };
    const { stdout, status } = await runIn(files, ["main.ts"], registry);
    expect({ stdout, status }).toEqual({ stdout: "once\n", status: 1 });
  });
  for (const [what, files] of Object.entries<Record<string, string>>({
    "a CommonJS module": {
      "main.ts": 'import "./b.cjs"; import file from "./f.xyz"; console.log(file);',
      "b.cjs": 'console.log("once")',
    },
    "a declaration of types": {
      "main.ts": 'import { T } from "./f.xyz"; console.log("once"); await import("./f.xyz"); let t: T;',
    },
  }))
    test(`code does not run again for a file of unknown type after ${what}`, async () => {
      const { stdout, status } = await runIn({ ...files, "f.xyz": "a b c" }, ["main.ts"]);
      expect({ stdout, status }).toEqual({ stdout: "once\n", status: 1 });
    });
  test("a data file may be read before a download", async () => {
    await using registry = await openRegistry([dep("1.0.0")]);
    const files = {
      "a.cjs": 'const a = require("./a.json");\nconst dep = require("dep");\nconsole.log(a, dep);',
      "a.json": "1",
    };
    expect(await outputOf(files, ["a.cjs"], registry)).toBe("1 dep 1.0.0");
  });
  test("code does not run again for the package of JSX beside node_modules", async () => {
    const files = {
      "a.ts": 'const name = "react/jsx-runtime"; console.log("once"); await import(name);',
      "node_modules/x/a.js": "",
    };
    const { stdout, status } = await runIn(files, ["a.ts"]);
    expect({ stdout, status }).toEqual({ stdout: "once\n", status: 1 });
  });
  test("a module with JSX gets the runtime package that no import names", async () => {
    const runtime = { "jsx-dev-runtime.js": "exports.jsxDEV = (name) => `<${name}>`" };
    await using registry = await openRegistry([{ name: "react", version: "1.0.0", files: runtime }]);
    const files = { "a.tsx": "export {}; console.log(<b/>);" };
    expect(await outputOf(files, ["a.tsx"], registry)).toBe("<b>");
  });
  prove("install", "=fallback downloads only missing packages", async () => {
    await using registry = await openRegistry([dep("1.0.0")]);
    const some = { ...source, "node_modules/x/a.js": "" };
    expect(await outputOf(some, ["--install=fallback", "a.ts"], registry)).toBe("dep 1.0.0");
    expect(await outputOf(installed, ["--install=fallback", "a.ts"], registry)).toBe("on disk");
  });
  prove("install", "=force ignores node_modules", async () => {
    await using registry = await openRegistry([dep("1.0.0")]);
    expect(await outputOf(installed, ["--install=force", "a.ts"], registry)).toBe("dep 1.0.0");
  });
  prove("auto-install", "as -i is --install=fallback", async () => {
    await using registry = await openRegistry([dep("1.0.0")]);
    expect(await outputOf({ ...source, "node_modules/x/a.js": "" }, ["-i", "a.ts"], registry)).toBe(
      "dep 1.0.0",
    );
  });
  prove("no-install", "downloads nothing", async () => {
    await using registry = await openRegistry([dep("1.0.0")]);
    expect(await outputOf(source, ["a.ts"], registry)).toBe("dep 1.0.0");
    registry.forget();
    expect((await runIn(source, ["--no-install", "a.ts"], registry)).status).toBe(1);
    expect(registry.requests).toEqual([]);
  });
  prove("prefer-offline", "does not ask the registry about cached packages of any age", async () => {
    for (const [options, expected] of [
      [[], "dep 1.1.0"],
      [["--prefer-offline"], "dep 1.0.0"],
    ] as const) {
      await using registry = await openRegistry([dep("1.0.0")]);
      expect(await outputOf(source, ["a.ts"], registry)).toBe("dep 1.0.0");
      await registry.publish(dep("1.1.0"));
      registry.ageCache();
      expect(await outputOf(source, [...options, "a.ts"], registry)).toBe(expected);
    }
  });
  prove("prefer-latest", "asks the registry even when the cached response is fresh", async () => {
    await using registry = await openRegistry([dep("1.0.0")]);
    expect(await outputOf(source, ["a.ts"], registry)).toBe("dep 1.0.0");
    await registry.publish(dep("1.1.0"));
    expect(await outputOf(source, ["a.ts"], registry)).toBe("dep 1.0.0");
    expect(await outputOf(source, ["--prefer-latest", "a.ts"], registry)).toBe("dep 1.1.0");
    const shows = { "a.ts": "console.log(Object.keys(process.env).filter((name) => /MANIFEST/.test(name)))" };
    expect(await outputOf(shows, ["--prefer-latest", "a.ts"])).toBe("[]");
  });
});

describe("resolution", () => {
  const conditional = {
    "a.js": 'console.log(require("p"))',
    "node_modules/p/package.json": {
      name: "p",
      exports: { special: "./s.js", other: "./o.js", default: "./d.js" },
    },
    "node_modules/p/s.js": "module.exports = 'special'",
    "node_modules/p/o.js": "module.exports = 'other'",
    "node_modules/p/d.js": "module.exports = 'default'",
  };
  prove("conditions", "adds conditions of exports, one by one or in a list", async () => {
    expect(await outputOf(conditional, ["a.js"])).toBe("default");
    expect(await outputOf(conditional, ["--conditions=special", "a.js"])).toBe("special");
    expect(await outputOf(conditional, ["--conditions=none,other", "a.js"])).toBe("other");
    expect(await outputOf(conditional, ["--conditions=none", "--conditions", "other", "a.js"])).toBe("other");
  });

  const fields = {
    "a.js": 'console.log(require("p"))',
    "node_modules/p/package.json": { name: "p", main: "./main.js", custom: "./custom.js" },
    "node_modules/p/main.js": "module.exports = 'main'",
    "node_modules/p/custom.js": "module.exports = 'custom'",
  };
  prove("main-fields", "chooses the fields of package.json, in a list or repeated", async () => {
    expect(await outputOf(fields, ["a.js"])).toBe("main");
    expect(await outputOf(fields, ["--main-fields=custom,main", "a.js"])).toBe("custom");
    expect(await outputOf(fields, ["--main-fields=absent", "--main-fields=custom", "a.js"])).toBe("custom");
  });

  prove("preserve-symlinks", "resolves a linked package's imports from the link", async () => {
    await using project = await createProject({
      "packages/x/package.json": { name: "x" },
      "packages/x/index.js": 'console.log(require("dep"))',
      "node_modules/dep/index.js": "module.exports = 'from the target'",
      "app/node_modules/dep/index.js": "module.exports = 'from the link'",
      "app/a.js": 'require("x")',
    });
    await symlink("../../packages/x", project.join("app/node_modules/x"));
    const run = async (...options: string[]) =>
      (await runRt({ args: [...options, "app/a.js"], cwd: project.path })).stdout.trim();
    expect(await run()).toBe("from the target");
    expect(await run("--preserve-symlinks")).toBe("from the link");
  });

  prove("preserve-symlinks-main", "causes a warning: the engine uses the real path", async () => {
    await using project = await createProject({ "real/a.ts": "console.log(import.meta.path)" });
    await symlink("real/a.ts", project.join("link.ts"));
    const args = ["--preserve-symlinks-main", "./link.ts"];
    const { stdout, stderr } = await runRt({ args, cwd: project.path });
    expect(stdout).toBe(`${project.join("real/a.ts")}\n`);
    expect(stderr).toBe(
      "warning: --preserve-symlinks-main has no effect: the engine goes by the real path of the file (rt help differences)\n",
    );
  });

  const both = { "a.cjs": 'require("./m")', "m.js": 'console.log("js")', "m.ts": 'console.log("ts")' };
  prove("extension-order", "selects between files of one name for require()", async () => {
    expect(await outputOf(both, ["a.cjs"])).toBe("ts");
    expect(await outputOf(both, ["--extension-order=.js,.ts", "a.cjs"])).toBe("js");
    expect(await outputOf(both, ["--extension-order=.ts", "--extension-order=.js", "a.cjs"])).toBe("ts");
  });

  const imported = {
    "m.js": 'console.log("js")',
    "m.ts": 'console.log("ts")',
    "d/index.js": 'console.log("d/js")',
    "d/index.ts": 'console.log("d/ts")',
    "main.ts": 'import "./m"; import "./far/b"; console.log(process.execArgv.slice(0, 2))',
    "far/b.ts": 'await import("../d"); import "../m.ts"; new Worker(new URL("./w.ts", import.meta.url))',
    "far/w.ts": 'import "../m"',
  };
  prove("extension-order", "still finds files with other extensions, for import and require()", async () => {
    const files = {
      "only.ts": 'export default "only"',
      "data.json": '{ "name": "data" }',
      "i.ts": 'import only from "./only"; import data from "./data"; console.log(only, data.name)',
      "r.cjs": 'console.log(require("./only").default, require("./data").name)',
    };
    for (const name of ["i.ts", "r.cjs"])
      expect(await outputOf(files, ["--extension-order=.js", name])).toBe("only data");
  });

  prove("extension-order", "selects between files of one name for import, also in workers", async () => {
    expect(await outputOf(imported, ["--extension-order=.js,.ts", "main.ts"])).toBe(
      'js\nts\nd/js\n[ "--extension-order=.js", "--extension-order=.ts" ]\njs',
    );
    expect(await outputOf(imported, ["--extension-order=.ts,.js", "main.ts"])).toBe(
      'ts\nd/ts\n[ "--extension-order=.ts", "--extension-order=.js" ]\nts',
    );
  });
});
