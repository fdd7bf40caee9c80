// Keys of rtfig.toml for code and scripts that rt runs.
import { describe, expect } from "bun:test";
import { type Setting, outputOf, runIn } from "../options/prove.ts";
import type { Files } from "../support/project.ts";
import { effect } from "./effects.ts";

/** Returns the output of `rt a.tsx` with a configuration. */
async function run(config: string, files: Files, setting: Setting = {}): Promise<string> {
  return await outputOf({ ...files, "rtfig.toml": config }, ["a.tsx"], setting);
}

describe("running code", () => {
  effect(
    "preload",
    "imports modules first, with rt available, before those of the command line",
    async () => {
      const files = {
        "p.ts": 'import { CSRF } from "rt"; globalThis.order = [typeof CSRF.generate];',
        "q.ts": 'globalThis.order.push("q");',
        "a.tsx": "console.log(globalThis.order.join())",
      };
      expect(await run('preload = "./p.ts"', files)).toBe("function");
      expect(await run('preload = ["./p.ts", "./q.ts"]', files)).toBe("function,q");
      const config = { "rtfig.toml": 'preload = ["./p.ts"]\nlogLevel = "warn"' };
      expect(await outputOf({ ...files, ...config }, ["--preload=./q.ts", "a.tsx"])).toBe("function,q");
    },
  );

  effect("smol", "collects garbage more often", async () => {
    const files = {
      "a.tsx":
        "let k; for (let i = 0; i < 30; i++) { k = []; for (let j = 0; j < 20000; j++) k.push({ a: [j] }); }",
    };
    const collections = async (config: string) => {
      const result = await runIn({ ...files, "rtfig.toml": config }, ["--no-addons", "a.tsx"], {
        // A concurrent collector would run as often as it gets a processor.
        env: { BUN_JSC_logGC: "1", BUN_JSC_useConcurrentGC: "0" },
      });
      return (result.stdout + result.stderr).match(/\[GC/g)!.length;
    };
    expect(await collections("smol = true")).toBeGreaterThan((await collections("smol = false")) * 1.2);
  });

  effect("env", "decides whether .env files are loaded", async () => {
    const files = { ".env": "X=dotenv", "a.tsx": "console.log(process.env.X)" };
    expect(await run("env = true", files)).toBe("dotenv");
    expect(await run("env = false", files)).toBe("undefined");
  });

  const elements = {
    "a.tsx":
      'const React = { createElement: (t) => "React " + t, Fragment: "its" }; const h = (t) => "h " + t; const F = "F"; console.log(<b/>, <></>);',
    "node_modules/react/package.json": { name: "react" },
    "node_modules/react/jsx-runtime.js": 'export const jsx = (t) => "auto " + String(t), Fragment = "its";',
    "node_modules/other/package.json": { name: "other" },
    "node_modules/other/jsx-runtime.js": 'export const jsx = (t) => "other " + String(t), Fragment = "its";',
    "node_modules/other/jsx-dev-runtime.js":
      'export const jsxDEV = (t) => "other " + String(t), Fragment = "its";',
  };
  effect("jsx", "chooses the JSX runtime", async () => {
    expect(await run('jsx = "react"', elements)).toBe("React b React its");
    expect(await run('jsx = "react-jsx"', elements)).toBe("auto b auto its");
  });
  effect("jsxFactory", "sets the function of the classic runtime", async () => {
    expect(await run('jsx = "react"\njsxFactory = "h"', elements)).toStartWith("h b");
  });
  effect("jsxFragment", "sets the fragment of the classic runtime", async () => {
    expect(await run('jsx = "react"\njsxFactory = "h"\njsxFragment = "F"', elements)).toBe("h b h F");
  });
  effect("jsxImportSource", "sets the module of the automatic runtime", async () => {
    expect(await run('jsxImportSource = "other"', elements)).toBe("other b other its");
  });

  effect("logLevel", "is accepted; the engine behaves the same", async () => {
    const files = { "a.tsx": "console.log(1)" };
    for (const level of ["debug", "info", "warn", "error"])
      expect(await run(`logLevel = "${level}"`, files)).toBe("1");
    expect((await runIn({ ...files, "rtfig.toml": 'logLevel = "loud"' }, ["a.tsx"])).status).toBe(1);
  });
  effect("telemetry", "is passed to the engine, which behaves the same", async () => {
    const files = { "rtfig.toml": "telemetry = false", "a.tsx": "console.log(process.execArgv.join())" };
    expect(await outputOf(files, ["a.tsx"])).toEndWith("/rtfig.toml");
  });

  effect("define.*", "substitutes names; the command line wins for each name", async () => {
    const files = { "a.tsx": "console.log(ONE, process.env.TWO)" };
    const config = '[define]\nONE = "1"\n"process.env.TWO" = "\'two\'"';
    expect(await run(config, files)).toBe("1 two");
    expect(await outputOf({ ...files, "rtfig.toml": config }, ["-d", "ONE:7", "a.tsx"])).toBe("7 two");
  });

  effect("loader.*", "selects loaders; the command line wins for each extension", async () => {
    const files = {
      "a.tsx": 'import x from "./x.foo"; import y from "./y.bar"; console.log(x, y)',
      "x.foo": "x",
      "y.bar": "y",
    };
    const config = '[loader]\n".foo" = "text"\n".bar" = "text"';
    expect(await run(config, files)).toBe("x y");
    const output = await outputOf({ ...files, "rtfig.toml": config }, ["--loader=.foo:file", "a.tsx"]);
    expect(output).toEndWith("x.foo y");
  });

  effect("macros", "= false rejects macros", async () => {
    const files = {
      "a.tsx": 'import { m } from "./m.ts" with { type: "macro" }; console.log(m())',
      "m.ts": 'export function m() { return "expanded" }',
    };
    expect(await run("macros = true", files)).toBe("expanded");
    expect((await runIn({ ...files, "rtfig.toml": "macros = false" }, ["a.tsx"])).status).toBe(1);
  });

  effect("console.depth", "sets the depth of console.log; the command line wins", async () => {
    const files = {
      "a.tsx": "console.log({ a: { b: { c: { d: { e: 1 } } } } })",
      "rtfig.toml": "[console]\ndepth = 6",
    };
    expect(await outputOf(files, ["a.tsx"])).toContain("e: 1");
    expect(await outputOf(files, ["--console-depth=1", "a.tsx"])).not.toContain("c:");
  });

  effect("debug.editor", "sets the editor that the engine opens", async () => {
    const files = {
      "a.tsx":
        'rt.openInEditor(import.meta.path); while (!(await rt.file("opened").exists())) await rt.sleep(5); console.log(await rt.file("opened").text())',
      "bin/subl": '#!/bin/sh\necho "$@" > opened.part; mv opened.part opened',
    };
    const env = { PATH: `./bin:${process.env.PATH}` };
    const opened = await run('[debug]\neditor = "sublime"', files, { env, executable: ["bin/subl"] });
    expect(opened).toContain("a.tsx");
  });
});

describe("serving", () => {
  effect("serve.port", "is the default port; the command line wins", async () => {
    const files = {
      "rtfig.toml": "[serve]\nport = 41235",
      "a.tsx":
        "try { const s = Bun.serve({ fetch: () => new Response() }); console.log(s.port); s.stop() } catch (e) { console.log(e.code) }",
    };
    expect(await outputOf(files, ["a.tsx"])).toMatch(/^(?:41235|EADDRINUSE)$/);
    expect(await outputOf(files, ["--port=41236", "a.tsx"])).toMatch(/^(?:41236|EADDRINUSE)$/);
  });

  const page = {
    "index.html": '<!doctype html><html><body><script type="module" src="./front.ts"></script></body></html>',
    "front.ts":
      'import x from "./x.foo";\nexport function aRatherLongName(parameter: number) { return parameter + 1; }\nconsole.log(x, process.env.PUBLIC_X, VERSION, aRatherLongName(1));\n',
    "x.foo": "from foo",
    "plugin.ts":
      'export default { name: "foo", setup(b) { b.onLoad({ filter: /\\.foo$/ }, () => ({ contents: "export default \'by plugin\'", loader: "js" })) } }',
    "a.tsx": `import page from "./index.html";
      const server = Bun.serve({ port: 0, routes: { "/*": page }, development: process.env.DEV === "1" });
      const html = await (await fetch(server.url)).text();
      const src = html.match(/src="([^"]+)"/)[1];
      console.log(html);
      console.log(await (await fetch(new URL("/" + src.split("/").at(-1), server.url))).text());
      console.log(await (await fetch(new URL(src, server.url))).text());
      process.exit();`,
  };
  const BASE = '[serve.static]\nplugins = ["./plugin.ts"]\n';
  const served = async (more = "", env = {}) =>
    await run(BASE + more, page, { env: { PUBLIC_X: "public value", ...env } });

  effect(
    "serve.static.plugins",
    "load the page's imports, and are resolved together with preloads",
    async () => {
      expect(await served()).toContain("by plugin");
      const files = { ...page, "p.ts": 'console.log("preloaded")' };
      const both = await run(`preload = ["./p.ts"]\n${BASE}`, files);
      expect([both.includes("preloaded"), both.includes("by plugin")]).toEqual([true, true]);
    },
  );
  effect("serve.static.env", "inlines variables", async () => {
    expect(await served()).not.toContain("public value");
    expect(await served('env = "PUBLIC_*"')).toContain("public value");
  });
  effect("serve.static.define.*", "substitutes names in served code", async () => {
    expect(await served("[serve.static.define]\nVERSION = \"'1.2.3'\"")).toContain("1.2.3");
  });
  effect("serve.static.minify", "minifies served code", async () => {
    expect(await served("minify = false")).toContain("aRatherLongName");
    expect(await served("minify = true")).not.toContain("aRatherLongName");
  });
  effect("serve.static.publicPath", "is the prefix of paths in pages", async () => {
    expect(await served('publicPath = "/assets/"')).toContain('src="/assets/');
  });
});

describe("scripts", () => {
  const script = async (section: string, command: string, args: string[] = ["run", "s"]) =>
    await runIn(
      { "rtfig.toml": `[run]\n${section}`, "package.json": { scripts: { s: command, t: "echo t" } } },
      args,
    );

  effect("run.shell", "chooses the shell; the command line wins", async () => {
    const command = "echo ${BASH_VERSION:+bash}.";
    expect((await script('shell = "system"', command)).stdout).toBe("bash.\n");
    expect((await script('shell = "rt"', command)).stdout).not.toContain("bash.");
    expect((await script('shell = "rt"', command, ["--shell=system", "run", "s"])).stdout).toBe("bash.\n");
  });
  effect("run.silent", "does not print the command", async () => {
    expect((await script("silent = true", "echo s")).stderr).toBe("");
    expect((await script("silent = false", "echo s")).stderr).toBe("$ echo s\n");
  });
  effect("run.rt", "runs rt for the command node", async () => {
    expect((await script("rt = true", "node -p 'typeof rt'")).stdout).toBe("object\n");
    expect((await script("rt = false", "node -p 'typeof rt'")).stdout).toBe("undefined\n");
  });
  effect("run.if-present", "ignores a missing script", async () => {
    expect((await script("if-present = true", "", ["run", "none"])).status).toBe(0);
    expect((await script("if-present = false", "", ["run", "none"])).status).toBe(1);
  });
  effect("run.no-exit-on-error", "continues after a script that fails", async () => {
    const args = ["--sequential", "run", "s", "t"];
    expect((await script("no-exit-on-error = true", "exit 3", args)).stdout).toMatch(/t.*\bt$/m);
    expect((await script("no-exit-on-error = false", "exit 3", args)).stdout).not.toMatch(/t.*\bt$/m);
  });
  effect("run.concurrency", "limits the number of concurrent scripts", async () => {
    const lock = "mkdir ../lock && echo alone && rmdir ../lock";
    const files = {
      "rtfig.toml": "[run]\nconcurrency = 1",
      "package.json": { workspaces: ["a", "b", "c"] },
      "a/package.json": { scripts: { go: lock } },
      "b/package.json": { scripts: { go: lock } },
      "c/package.json": { scripts: { go: lock } },
    };
    expect((await outputOf(files, ["--filter", "*", "run", "go"])).match(/alone/g)?.length).toBe(3);
  });
  effect("run.elide-lines", "cuts output to its last lines", async () => {
    const { createProject } = await import("../support/project.ts");
    const { RT, runRt } = await import("../support/rt.ts");
    await using project = await createProject({
      "rtfig.toml": "[run]\nelide-lines = 5",
      "package.json": { workspaces: ["p", "q"] },
      "p/package.json": { name: "p", scripts: { go: "seq 1 30" } },
      "q/package.json": { name: "q", scripts: { go: "true" } },
    });
    const program = ["script", "-qec", `'${RT}' --filter '*' run go`, "/dev/null"];
    const { stdout } = await runRt({ program, cwd: project.path });
    expect(Bun.stripANSI(stdout)).toContain("25 lines elided");
  });
  const TWO = { "package.json": { scripts: { x: "echo one", y: "echo two" } } };
  const configured = async (config: string) =>
    await outputOf({ ...TWO, "rtfig.toml": config }, ["run", "--sequential", "x", "y"]);
  effect("run.output", "shows the output of failed scripts only", async () => {
    expect(await configured('[run]\noutput = "errors"')).toBe("");
  });
  effect("run.ui", "shows a list of tasks on a terminal", async () => {
    const { createProject } = await import("../support/project.ts");
    const { RT, runRt } = await import("../support/rt.ts");
    await using project = await createProject({ ...TWO, "rtfig.toml": '[run]\nui = "list"' });
    const program = ["script", "-qec", `'${RT}' run --parallel x y`, "/dev/null"];
    expect((await runRt({ program, cwd: project.path })).stdout).toContain("\x1b[?1049h");
  });
  effect("run.log-prefix", "omits the prefixes of output", async () => {
    expect(await configured('[run]\nlog-prefix = "none"')).toBe("one\ntwo");
  });
});
