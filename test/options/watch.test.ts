// --watch and --hot on files and on scripts.
import { describe, expect } from "bun:test";
import { rename, rm } from "node:fs/promises";
import { createProject } from "../support/project.ts";
import { freePort } from "../support/servers/ports.ts";
import { waitUntil } from "../support/processes.ts";
import { RT } from "../support/rt.ts";
import { startLive } from "./live.ts";
import { prove } from "./prove.ts";

/** A program that prints its version and whether it has `rt`, and keeps running. */
const program = (version: number | string, first = "") =>
  `${first}\nconsole.log("version ${version}", typeof rt.secrets.get);\nsetInterval(() => {}, 1000);\n`;

describe("rt --watch <file>", () => {
  prove("watch", "restarts a program with rt when it or an import changes", async () => {
    await using project = await createProject({
      "a.ts":
        'import { name } from "./lib/name.ts"; console.log("hello", name, typeof rt.secrets.get); setInterval(() => {}, 1000);',
      "lib/name.ts": 'export const name = "one";',
    });
    await using live = startLive({ args: ["--watch", "a.ts"], cwd: project.path });
    await live.see("hello one function");
    await project.write({ "lib/name.ts": 'export const name = "two";' });
    await live.see("hello two function");
    await project.write({ "a.ts": program("three") });
    await live.see("version three function");
  });

  prove("watch", "stores code from standard input and runs it again when the project changes", async () => {
    await using project = await createProject({ "lib/name.ts": 'export const name = "one";' });
    const stdin = `import { name } from "./lib/name.ts";
      const rest: string = await Bun.stdin.text();
      console.log("hello", name, typeof rt.secrets.get, JSON.stringify(rest), process.argv.slice(2));
      if (name !== "two") await new Promise(() => setInterval(() => {}, 1000));
      throw new Error("over");`;
    await using live = startLive({
      args: ["--watch", "run", "-", "--watch", "b"],
      cwd: project.path,
      stdin,
    });
    await live.see('hello one function "" [ "--watch", "b" ]');
    await project.write({ "lib/name.ts": 'export const name = "two";' });
    await live.see("rt: lib/name.ts changed");
    await live.see('hello two function "" [ "--watch", "b" ]');
    await live.see(/^5 \| +throw new Error\("over"\);\n +\^\nerror: over\n +at [^\n]*\[stdin\]:5:\d+\)?$/m);
    await live.see('rt: "[stdin]" exited with code 1; waiting for a change');
    await project.write({ "lib/name.ts": 'export const name = "three";' });
    await live.see("hello three function");
    live.kill("SIGTERM");
    expect(await live.ended).toBe("SIGTERM");
    await waitUntil(() => live.family() === 0);
  });

  prove("watch", "survives a syntax error", async () => {
    await using project = await createProject({ "a.ts": program(1) });
    await using live = startLive({ args: ["--watch", "a.ts"], cwd: project.path });
    await live.see("version 1");
    await project.write({ "a.ts": "const = ;" });
    await live.see("error:");
    await project.write({ "a.ts": program(2) });
    await live.see("version 2 function");
  });

  prove("watch", "survives the deletion of its file, and restarts when the file returns", async () => {
    await using project = await createProject({ "a.ts": program(1) });
    await using live = startLive({ args: ["--watch", "a.ts"], cwd: project.path });
    await live.see("version 1");
    await rm(project.join("a.ts"));
    await live.see("not found");
    await project.write({ "a.ts": program(2) });
    await live.see("version 2 function");
    await project.write({ "a.ts": program(3) });
    await live.see("version 3 function");
  });

  prove("watch", "ends on a signal while its file is missing", async () => {
    await using project = await createProject({ "a.ts": program(1) });
    await using live = startLive({ args: ["--watch", "a.ts"], cwd: project.path });
    await live.see("version 1");
    await rm(project.join("a.ts"));
    await live.see("not found");
    // rt looks once more before it waits for the file. After 40 checks of this test it is waiting.
    let checks = 0;
    await waitUntil(() => live.family() === 1 && (checks += 1) > 40);
    live.kill("SIGINT");
    expect(await live.ended).toBe("SIGINT");
  });

  prove("watch", "survives the deletion of a module, and restarts when the module returns", async () => {
    await using project = await createProject({
      "a.ts": 'import { name } from "./name.ts"; console.log("hello", name); setInterval(() => {}, 1000);',
      "name.ts": 'export const name = "one";',
    });
    await using live = startLive({ args: ["--watch", "a.ts"], cwd: project.path });
    await live.see("hello one");
    await rm(project.join("name.ts"));
    await live.see("Cannot find module");
    // The engine detects a file that is replaced quickly. Only after a longer absence does rt restart the program for other
    // removed files, so each of these returns twelve checks later.
    const before = live.others();
    let round = 0;
    await waitUntil(async () => {
      await rm(project.join(`${round % 24}.ts`), { force: true });
      await project.write({ [`${(round + 12) % 24}.ts`]: "" });
      round += 1;
      return !Bun.deepEquals(live.others(), before);
    });
    await live.see("Cannot find module");
    await project.write({ "name.ts": 'export const name = "two";' });
    await live.see("hello two");
  });

  prove("watch", "detects a file that is renamed over the old one", async () => {
    await using project = await createProject({ "a.ts": program(1) });
    await using live = startLive({ args: ["--watch", "a.ts"], cwd: project.path });
    await live.see("version 1");
    for (let version = 2; version < 5; version += 1) {
      await project.write({ "draft.tmp": program(version) });
      await rename(project.join("draft.tmp"), project.join("a.ts"));
      await live.see(`version ${version} function`);
    }
  });

  prove("watch", "runs the last of many quick saves", async () => {
    await using project = await createProject({ "a.ts": program(0) });
    await using live = startLive({ args: ["--watch", "a.ts"], cwd: project.path });
    await live.see("version 0");
    for (let version = 1; version <= 20; version += 1) await project.write({ "a.ts": program(version) });
    await live.see("version 20 function");
  });

  prove("watch", "frees ports and leaves no processes running", async () => {
    const server = (version: number) => `
      const server = Bun.serve({ port: Number(process.env.TEST_PORT ?? 0), fetch: () => new Response("x") });
      Bun.spawn(["sleep", "1000"]);
      console.log("version ${version} at", server.port);`;
    await using project = await createProject({ "a.ts": server(1) });
    const port = freePort();
    const env = { TEST_PORT: String(port) };
    await using live = startLive({ args: ["--no-orphans", "--watch", "a.ts"], cwd: project.path, env });
    await live.see("version 1 at");
    const size = live.family();
    for (let version = 2; version < 6; version += 1) {
      await project.write({ "a.ts": server(version) });
      await live.see(`version ${version} at ${port}`);
    }
    await waitUntil(() => live.family() === size);
    live.kill();
    await live.ended;
  });

  prove("watch", "exits like the program, and leaves no processes running", async () => {
    await using project = await createProject({
      "a.ts": "console.log('going'); process.exit(3)",
      "b.ts": program(1),
    });
    await using ending = startLive({ args: ["--watch", "a.ts"], cwd: project.path });
    expect(await ending.ended).toBe(3);
    // The engine exits with 0 on Ctrl-C.
    for (const [signal, outcome] of [
      ["SIGTERM", "SIGTERM"],
      ["SIGINT", 0],
    ] as const) {
      await using live = startLive({ args: ["--watch", "b.ts"], cwd: project.path });
      await live.see("version 1");
      live.kill(signal);
      expect(await live.ended).toBe(outcome);
      await waitUntil(() => live.family() === 0);
    }
  });

  prove("watch-kill-signal", "sets the signal whose handlers run at a restart", async () => {
    const handler = (version: number) =>
      program(
        version,
        'for (const s of ["SIGTERM", "SIGUSR2"]) process.on(s, () => { console.log("heard", s); process.exit(); });',
      );
    await using project = await createProject({ "a.ts": handler(1) });
    for (const [options, signal] of [
      [[], "SIGTERM"],
      [["--watch-kill-signal=SIGUSR2"], "SIGUSR2"],
    ] as const) {
      await project.write({ "a.ts": handler(1) });
      await using live = startLive({ args: ["--watch", ...options, "a.ts"], cwd: project.path });
      await live.see("version 1");
      await project.write({ "a.ts": handler(2) });
      await live.see(`heard ${signal}`);
      await live.see("version 2");
    }
  });

  const CLEAR = "\x1b[H";
  prove("no-clear-screen", "keeps the previous output on the terminal", async () => {
    await using project = await createProject({
      "package.json": { scripts: { dev: "cat a.ts; sleep 1000" } },
    });
    for (const [words, isCleared] of [
      ["a.ts", true],
      ["--no-clear-screen a.ts", false],
      ["run dev", true],
      ["--no-clear-screen run dev", false],
    ] as const) {
      await project.write({ "a.ts": program(1) });
      const line = `'${RT}' --watch ${words}`;
      await using live = startLive({
        program: ["script", "-qfec", line, "/dev/null"],
        cwd: project.path,
        env: { TERM: "xterm" },
      });
      await live.see("version 1");
      await project.write({ "a.ts": program(2) });
      await live.see("version 2");
      expect(live.output.includes(CLEAR)).toBe(isCleared);
    }
  });
});

describe("rt --hot <file>", () => {
  prove("hot", "reloads code and keeps the process and its state", async () => {
    const source = (version: number) =>
      `globalThis.count = (globalThis.count ?? 0) + 1; console.log("version ${version}, load", globalThis.count, "in", process.pid, typeof rt.secrets.get); setInterval(() => {}, 1000);`;
    await using project = await createProject({ "a.ts": source(1) });
    await using live = startLive({ args: ["--hot", "a.ts"], cwd: project.path });
    const [, pid] = await live.see(/version 1, load 1 in (\d+) function/);
    await project.write({ "a.ts": source(2) });
    await live.see(`version 2, load 2 in ${pid} function`);
    await project.write({ "a.ts": "const = ;" });
    await live.see("error:");
    await project.write({ "a.ts": source(3) });
    const [, later] = await live.see(/version 3, load \d+ in (\d+) function/);
    expect(later).toBe(pid);
  });

  prove("hot", "keeps a server on its port", async () => {
    const source = (text: string) =>
      `export default { port: 0, fetch: () => new Response("${text}") }; console.log("loaded ${text}");`;
    await using project = await createProject({ "a.ts": source("one") });
    await using live = startLive({ args: ["--hot", "a.ts"], cwd: project.path });
    const [url] = await live.see(/http:\/\/\S+/);
    expect(await (await fetch(url)).text()).toBe("one");
    await project.write({ "a.ts": source("two") });
    await live.see("loaded two");
    await waitUntil(async () => (await (await fetch(url)).text()) === "two");
  });
});

describe("--hot with an engine tool", () => {
  const files = {
    "package.json": {},
    "a.test.ts":
      'import { test } from "bun:test"; test("prints its version", () => { console.log("version 1") });',
    "b.ts": 'console.log("version 1");',
  };

  prove("hot", "runs the tests again when a file changes, before and after test", async () => {
    for (const args of [
      ["--hot", "test"],
      ["test", "--hot"],
    ]) {
      await using project = await createProject(files);
      await using live = startLive({ args, cwd: project.path });
      await live.see("version 1");
      await live.see("Ran 1 test");
      await project.write({ "a.test.ts": files["a.test.ts"].replace("1", "2") });
      await live.see("version 2");
    }
  });

  prove("hot", "bundles again when a file changes, before and after build", async () => {
    for (const args of [
      ["--hot", "build", "b.ts", "--outdir=out"],
      ["build", "b.ts", "--outdir=out", "--hot"],
    ]) {
      await using project = await createProject(files);
      await using live = startLive({ args, cwd: project.path });
      await live.see("Bundled 1 module");
      await project.write({ "b.ts": 'console.log("version 2");' });
      await live.see("Bundled 1 module");
      expect(await Bun.file(project.join("out/b.js")).text()).toContain("version 2");
    }
  });
});

describe("rt --watch run <script>", () => {
  const files = (text: string) => ({
    "package.json": { scripts: { dev: `echo "started ${text} $(cat value.json)" && sleep 1000` } },
  });

  prove(
    "watch",
    "restarts a script when a source file changes, and leaves no processes running",
    async () => {
      await using project = await createProject({ ...files("a"), "value.json": "1" });
      await using live = startLive({ args: ["--watch", "run", "dev"], cwd: project.path });
      await live.see("started a 1");
      for (let value = 2; value < 6; value += 1) {
        await project.write({ "value.json": String(value) });
        await live.see(`started a ${value}`);
      }
      await waitUntil(() => live.family() === 2); // rt and the script
      await project.write(files("b"));
      await live.see("started b 5");
      live.kill("SIGINT");
      expect(await live.ended).toBe("SIGINT");
      await waitUntil(() => live.family() === 0);
    },
  );

  prove("watch", "watches new directories, but not node_modules and files that Git ignores", async () => {
    await using project = await createProject({
      "package.json": { scripts: { dev: "echo started >> log.txt; wc -l < log.txt; sleep 1000" } },
      ".gitignore": "/out/\n*.gen.ts\n!kept.gen.ts\n",
      ".git/HEAD": "",
      "out/a.ts": "",
      "node_modules/x/index.js": "",
      "src/.gitignore": "local.ts\n",
      "src/a.ts": "",
    });
    await using live = startLive({ args: ["--watch", "run", "dev"], cwd: project.path });
    await live.see(/^1$/m);
    await project.write({
      "out/a.ts": "1",
      "node_modules/x/index.js": "1",
      "src/b.gen.ts": "1",
      "src/local.ts": "1",
      "notes.txt": "1",
    });
    await project.write({ "src/deep/er/new.ts": "1" });
    await live.see(/^2$/m);
    await project.write({ "src/deep/er/new.ts": "2" });
    await live.see(/^3$/m);
    await project.write({ "src/kept.gen.ts": "1" });
    await live.see(/^4$/m);
  });

  prove("watch", "restarts a script that has ended", async () => {
    await using project = await createProject({
      "package.json": { scripts: { dev: "cat a.ts; exit 3", postdev: "echo never" } },
      "a.ts": "// first\n",
    });
    await using live = startLive({ args: ["--watch", "dev"], cwd: project.path });
    await live.see("// first");
    await live.see('rt: "dev" exited with code 3; waiting for a change');
    await project.write({ "a.ts": "// second\n" });
    await live.see("// second");
    await live.see("waiting for a change");
    live.kill();
    expect(await live.ended).toBe("SIGTERM");
    expect(live.output).not.toContain("never");
  });

  prove("watch", "kills a script that ignores two signals", async () => {
    await using project = await createProject({
      "package.json": { scripts: { dev: "trap '' TERM; echo started; while :; do sleep 0.05; done" } },
    });
    await using live = startLive({ args: ["--watch", "run", "dev"], cwd: project.path });
    await live.see("started");
    live.kill("SIGTERM");
    live.kill("SIGHUP"); // another signal, since two equal ones may be merged
    expect(await live.ended).toMatch(/^SIG(?:TERM|HUP)$/);
    await waitUntil(() => live.family() === 0);
  });

  prove("watch-path", "sets the watched paths instead of the project", async () => {
    await using project = await createProject({ ...files("a"), "value.json": "1", "views/a.hbs": "" });
    await project.write({ "ends.ts": "process.exit(3)" });
    await using file = startLive({ args: ["--watch", "--watch-path=views", "ends.ts"], cwd: project.path });
    await file.see(
      "warning: --watch-path has no effect on a file: what it imports is watched, and nothing else\n",
    );
    expect(await file.ended).toBe(3);
    await using live = startLive({
      args: ["--watch", "--watch-path=views", "run", "dev"],
      cwd: project.path,
    });
    await live.see("started a 1");
    await project.write({ "value.json": "2" });
    await project.write({ "views/a.hbs": "1" });
    await live.see("rt: views/a.hbs changed\n");
  });

  prove("watch-ignore", "excludes files, and can include files that are excluded by default", async () => {
    await using project = await createProject({ ...files("a"), "value.json": "1", "dist/a.js": "" });
    const options = ["--watch-ignore=value.json", "--watch-ignore=!dist/"];
    await using live = startLive({ args: ["--watch", ...options, "run", "dev"], cwd: project.path });
    await live.see("started a 1");
    await project.write({ "value.json": "2" });
    await project.write({ "dist/a.js": "1" });
    await live.see("rt: dist/a.js changed\n");
  });

  prove("watch-kill-signal", "sets the signal that ends a script", async () => {
    await using project = await createProject({
      "package.json": {
        scripts: { dev: "trap 'echo heard INT; exit' INT; echo started; while :; do sleep 0.05; done" },
      },
      "a.ts": "",
    });
    await using live = startLive({
      args: ["--watch", "--watch-kill-signal=SIGINT", "run", "dev"],
      cwd: project.path,
    });
    await live.see("started");
    await project.write({ "a.ts": "1" });
    await live.see("heard INT");
    await live.see("started");
  });

  prove("watch", "restarts several scripts at once", async () => {
    await using project = await createProject({
      "package.json": { scripts: { x: "cat a.ts; sleep 1000", y: "cat a.ts; sleep 1000" } },
      "a.ts": "// one\n",
    });
    await using live = startLive({ args: ["--watch", "--parallel", "run", "x", "y"], cwd: project.path });
    await live.see(/one[^]*one/);
    await project.write({ "a.ts": "// two\n" });
    await live.see(/two[^]*two/);
  });
});
