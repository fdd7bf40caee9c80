// `rt --watch run <script>` over a day's work: what starts a script again and what does not, what is said of it, and
// that nothing of a run is left when the next one starts or rt ends.
//
// Whether something was taken for a change is seen in the line that names the files of a restart: what is written first
// and would count is named with the poke that comes after it.
import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { rename } from "node:fs/promises";
import { startLive, type Live } from "../options/live.ts";
import { freePort } from "../support/servers/ports.ts";
import { expectRt } from "../support/rt.ts";
import { createMark, serverOfSecondThread, waitUntil } from "../support/processes.ts";
import { PYTHON } from "../support/programs/programs.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";

/** Says that it runs, and which poke it was started by. */
const SAY = 'echo "started $(cat poke.json)."';
const scripts = (dev: string): Files => ({ "package.json": { scripts: { dev } }, "poke.json": "0" });

interface Watched extends Live {
  readonly project: Project;
  /** Changes a file that is watched, and waits for the run that sees it. The line that says why it was started. */
  poke(): Promise<string>;
  runs(): number;
}

async function watch(files: Files, options: readonly string[] = [], inDirectory = ""): Promise<Watched> {
  const project = await createProject(files);
  const live = startLive({
    // One stream, so that what is said stands in the order in which it was.
    program: ["sh", "-c", 'exec "$0" "$@" 2>&1', RT],
    args: ["--watch", ...options, "run", "dev"],
    cwd: project.join(inDirectory),
    env: { NO_COLOR: "1" },
  });
  let count = 0;
  return {
    ...live,
    get output() {
      return live.output;
    },
    project,
    async poke() {
      count += 1;
      await project.write({ [`${inDirectory}/poke.json`]: String(count) });
      const [line] = await live.see(
        new RegExp(`^rt: (?:[^\\n]*) changed$(?=[^]*^started ${count}\\.$)`, "m"),
      );
      await live.see(`started ${count}.`);
      return line;
    },
    runs: () => live.output.split(/^started /m).length - 1,
    async [Symbol.asyncDispose]() {
      await live[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

const POKED = "rt: poke.json changed";

describe("what a run writes itself", () => {
  test("is no change where it writes what is there already", async () => {
    await using live = await watch({
      ...scripts(
        `: > src/gen.ts; sleep 0.1; printf x > src/gen.ts && cp src/gen.ts src/copy.ts && ${SAY} && sleep 1000`,
      ),
      "src/gen.ts": "x",
      "src/copy.ts": "x",
    });
    await live.see("started 0.");
    for (let round = 0; round < 3; round += 1) expect(await live.poke()).toBe(POKED);
    expect(live.runs()).toBe(4);
  });

  test("starts nothing again where it was written before the next start", async () => {
    // It ends a while after it has written, so that rt has heard of it, and may name it.
    const trap = "trap 'cat poke.json > state.json; sleep 0.2; exit' TERM";
    await using live = await watch(scripts(`${trap}; ${SAY}; while :; do sleep 0.02; done`));
    await live.see("started 0.");
    for (let round = 0; round < 3; round += 1) expect(await live.poke()).toStartWith("rt: poke.json ");
    expect(live.runs()).toBe(4);
  });

  test("is named, and left alone, where every run writes something else", async () => {
    await using live = await watch(scripts(`date +%N > src/stamp.ts; ${SAY}`), []);
    await live.see("started 0.");
    // There is no src yet, so that nothing is written: each run that follows does.
    await live.project.write({ "src/other.ts": "" });
    await live.see(
      "warning: the script writes src/stamp.ts, which it watches; ignoring it from now on\nhint: ",
    );
    for (let round = 0; round < 3; round += 1) expect(await live.poke()).toBe(POKED);
    expect(live.output.split("ignoring it from now on").length).toBe(2);
  });

  test("is no change in what tools make, unless it is asked for", async () => {
    const files = {
      ...scripts(`${SAY} && sleep 1000`),
      "dist/a.js": "",
      ".next/server/a.js": "",
      "coverage/a.json": "",
      "node_modules/x/a.js": "",
      "build/a.js": "",
      "packages/x/dist/a.js": "",
      "packages/x/a.tsbuildinfo.json": "",
    };
    const outputs = Object.keys(files).filter((name) => /\/a\.js(?:on)?$/.test(name));
    const touched = Object.fromEntries(outputs.map((name) => [name, "1"]));
    await using live = await watch(files);
    await live.see("started 0.");
    const drafts = { "vite.config.ts.timestamp-1-2.mjs": "", "a.ts~": "", ".#a.ts": "" };
    await live.project.write({ ...touched, ...drafts, "new/dist/a.js": "" });
    expect(await live.poke()).toBe(POKED);

    // Where there is a .gitignore without it, "build" is a folder like others.
    await using own = await watch({ ...files, ".gitignore": "node_modules\n" }, ["--watch-ignore=!/dist/"]);
    await own.see("started 0.");
    for (const name of outputs) if (!/^(?:build|dist)/.test(name)) await own.project.write({ [name]: "1" });
    for (const name of ["build/a.js", "dist/a.js"]) {
      await own.project.write({ [name]: "1" });
      await own.see(`rt: ${name} changed`);
      await own.see("started 0.");
    }
  });
});

describe("what a user writes", () => {
  test("is a change with the same content, too, when the script has ended", async () => {
    await using live = await watch({ ...scripts(SAY), "a.ts": "1" });
    await live.see("started 0.");
    for (let round = 0; round < 2; round += 1) {
      await live.see("waiting for a change");
      // In milliseconds, and the clock of files is coarser than that: this write is to be later on both.
      const end = Date.now();
      await waitUntil(() => Date.now() > end);
      do await live.project.write({ "a.ts": "1" });
      while (statSync(live.project.join("a.ts")).ctimeMs <= end);
      await live.see("rt: a.ts changed");
      await live.see("started 0.");
    }
  });

  test("is a change when a file or a folder is renamed or deleted", async () => {
    await using live = await watch({
      ...scripts(`${SAY} && sleep 1000`),
      "a.ts": "1",
      "lib/deep/b.ts": "1",
    });
    await live.see("started 0.");
    await live.project.write({ "draft.tmp": "2" });
    await rename(live.project.join("draft.tmp"), live.project.join("a.ts"));
    await live.see("rt: a.ts changed");
    await live.see("started 0.");
    await rename(live.project.join("lib"), live.project.join("node_modules"));
    await live.see("rt: lib/deep/b.ts changed");
    await live.see("started 0.");
    expect(live.runs()).toBe(3);
  });

  test("does not count where a .gitignore above the project ignores it", async () => {
    const above = { ".git/HEAD": "", ".gitignore": "*.gen.ts\n" };
    const { "package.json": manifest } = scripts(`${SAY} && sleep 1000`);
    const files = { "app/package.json": manifest!, "app/poke.json": "0", "app/a.gen.ts": "" };
    await using live = await watch({ ...above, ...files }, [], "app");
    await live.see("started 0.");
    await live.project.write({ "app/a.gen.ts": "1" });
    expect(await live.poke()).toBe(POKED);
  });

  test(".env counts although Git ignores it", async () => {
    await using live = await watch({
      ...scripts(`${SAY} && sleep 1000`),
      ".gitignore": ".env*\n*.local.ts\n",
      ".env.local": "A=1",
      "a.local.ts": "",
    });
    await live.see("started 0.");
    await live.project.write({ "a.local.ts": "1" });
    await live.project.write({ ".env.local": "A=2" });
    await live.see("rt: .env.local changed");
  });

  test("is one change when Git changes a thousand files", async () => {
    const sources = (text: string) =>
      Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`src/${index % 10}/${index}.ts`, text]));
    await using live = await watch({
      ...scripts(
        `git init -q -b main && ${commit("a")} && git checkout -q -b other && touch ready; sleep 1000`,
      ),
      ...sources("a"),
    });
    const { project } = live;
    await waitUntil(() => Bun.spawnSync(["test", "-e", project.join("ready")]).exitCode === 0);
    await project.write({ ...sources("b"), ...scripts(`${SAY} && sleep 1000`) });
    await live.see("started 0.");
    // A busy machine takes the thousand files for several changes: the next run may start before the last of them.
    await live.poke();
    const git = (line: string) =>
      Bun.spawnSync(["sh", "-c", line], { cwd: project.path, env: cleanEnvironment(), stderr: "inherit" });
    expect(git(commit("b")).exitCode).toBe(0);
    expect(await live.poke()).toBe(POKED);
    const before = live.runs();
    expect(git("git checkout -q main -- src").exitCode).toBe(0);
    await live.see(/^rt: src\/\d\/\d+\.ts and \d+ more changed$/m);
    await live.see("started 2.");
    expect(await live.poke()).toBe(POKED);
    expect(live.runs()).toBe(before + 2);
  });

  test("waits for Git's lock", async () => {
    await using live = await watch({ ...scripts(`${SAY} && sleep 1000`), ".git/HEAD": "", "a.ts": "" });
    await live.see("started 0.");
    // Where there is no such lock, the same change starts a script again at once.
    const path = live.project.join("a.ts");
    await using other = await watch(scripts(`${SAY} && sleep 1000`), [`--watch-path=${path}`]);
    await other.see("started 0.");
    await live.project.write({ ".git/index.lock": "" });
    await live.project.write({ "a.ts": "1" });
    await other.see("a.ts changed");
    await other.see("started 0.");
    expect(live.output).not.toContain("a.ts changed");
    await rename(live.project.join(".git/index.lock"), live.project.join(".git/index"));
    await live.see("rt: a.ts changed");
  });

  test("waits for Git's lock longer than for a burst of changes", async () => {
    const files = { ...scripts(`${SAY} && sleep 1000`), ".git/HEAD": "", "a.ts": "", "b.ts": "" };
    await using live = await watch(files);
    await live.see("started 0.");
    await live.project.write({ ".git/index.lock": "", "a.ts": "1" });
    // Git's own checkout of many files takes as long; a burst without a lock ends after 1 s.
    await Bun.$`sleep 3`.quiet();
    await live.project.write({ "b.ts": "1" });
    await rename(live.project.join(".git/index.lock"), live.project.join(".git/index"));
    await live.see("rt: a.ts and 1 more changed");
  });
});

function commit(message: string): string {
  return `git add -A && git -c user.name=me -c user.email=me@example.com commit -q -m ${message}`;
}

describe("--watch-path and --watch-ignore", () => {
  const files: Files = {
    ...scripts(`${SAY} && sleep 1000`),
    "src/a.ts": "",
    "src/b.gen.ts": "",
    "lib/a.ts": "",
    "views/deep/a.hbs": "",
    "views/a.txt": "",
    "pages/[id].tsx": "",
    "pages/i.tsx": "",
    "dist/a.js": "",
  };
  const changed = Object.fromEntries(
    Object.keys(files)
      .slice(2)
      .map((name) => [name, "1"]),
  );

  /** What of `changed` starts the script again, with the line that says what is watched. */
  async function seen(options: readonly string[], more: Files = {}): Promise<string> {
    await using live = await watch({ ...files, ...more }, options);
    await live.see("started 0.");
    // In the order of names; the lock makes one change of them.
    await live.project.write({ ".git/index.lock": "" });
    for (const name of Object.keys(changed).toSorted()) await live.project.write({ [name]: "1" });
    await rename(live.project.join(".git/index.lock"), live.project.join(".git/index"));
    const [line] = await live.see(/^rt: .* changed$/m);
    return `${/^rt: watching .*$/m.exec(live.output)![0]}\n${line}`;
  }

  test("name folders, files and globs, of whatever extension", async () => {
    expect(await seen([])).toBe("rt: watching 6 folders (rt help watching)\nrt: lib/a.ts and 4 more changed");
    expect(await seen(["--watch-path=views"])).toBe(
      "rt: watching 2 folders of views (rt help watching)\nrt: views/a.txt and 1 more changed",
    );
    expect(await seen(["--watch-path=views/a.txt"])).toContain("\nrt: views/a.txt changed");
    expect(await seen(["--watch-path=pages/[id].tsx"])).toContain("\nrt: pages/[id].tsx changed");
    expect(await seen(["--watch-path=views/**/*.hbs", "--watch-path=./src"])).toContain(
      "\nrt: src/a.ts and 2 more changed",
    );
    expect(await seen(["--watch-path=dist"])).toContain("\nrt: dist/a.js changed");
  });

  test("mean what is below a folder whose own name would be a glob", async () => {
    const below = Object.fromEntries(
      Object.entries({ ...files, ".git/HEAD": "" }).map(([name, content]) => [`[app]/${name}`, content]),
    );
    await using live = await watch(below, ["--watch-path=views/**/*.hbs"], "[app]");
    await live.see("started 0.");
    await live.project.write({ "[app]/views/deep/a.hbs": "1" });
    await live.see(/^rt: views\/deep\/a\.hbs changed$/m);
  });

  test("leave files and folders alone, as .gitignore does", async () => {
    const ignore = ["--watch-ignore=*.gen.ts", "--watch-ignore=/lib/", "--watch-ignore=./pages/i.*"];
    expect(await seen(ignore)).toContain("\nrt: pages/[id].tsx and 1 more changed");
    expect(await seen([...ignore, "--watch-ignore=**/\\[id\\].tsx"])).toContain("\nrt: src/a.ts changed");
  });

  test("stand in rtfig.toml; what is watched is the command line's where it says so", async () => {
    const config = { "rtfig.toml": '[watch]\npaths = ["src", "lib"]\nignore = "*.gen.ts"\n' };
    expect(await seen([], config)).toContain("\nrt: lib/a.ts and 1 more changed");
    expect(
      await seen(["--watch-path=src", "--watch-ignore=a.ts", "--watch-ignore=!*.gen.ts"], config),
    ).toContain("\nrt: src/b.gen.ts changed");
  });

  const path = "pass a file, a folder, or a glob such as src/**/*.ts";
  const example = "for example src, or src/**/*.gen.ts";
  for (const [options, error, hint] of [
    [["--watch-path=nowhere"], 'Cannot watch "nowhere": no such file or folder', path],
    [["--watch-path=nowhere/*.ts"], 'Cannot watch "nowhere/*.ts": no such file or folder', path],
    [
      ["--watch-path=a\u001b[2J/x"],
      '--watch-path cannot be "a\\u001b[2J/x": its [ is not closed',
      "write it as \\[ if it is part of a name",
    ],
    [["--watch-path="], "--watch-path needs a value", "write it as --watch-path=<path>"],
    [["--watch-ignore=!"], '--watch-ignore cannot be "!": it is empty', example],
    [
      ["--watch-ignore={a,b"],
      '--watch-ignore cannot be "{a,b": its { is not closed',
      "write it as \\{ if it is part of a name",
    ],
    [["--watch-ignore=a}"], '--watch-ignore cannot be "a}": its } has no {', "write a brace as \\}"],
    [["--watch-ignore=a\\"], '--watch-ignore cannot be "a\\\\": it ends with \\', example],
    [
      ["--watch-ignore=a\nb"],
      '--watch-ignore cannot be "a\\nb": it is more than one line',
      "give each its own --watch-ignore",
    ],
    [
      [`--watch-ignore=${"a".repeat(1025)}`],
      `--watch-ignore cannot be "${"a".repeat(80)}...": it has more than 1024 characters`,
      example,
    ],
    [
      Array.from({ length: 257 }, () => "--watch-ignore=a"),
      "--watch-ignore is given 257 times; the maximum is 256",
      "use a glob that matches many files: src/**/*.gen.ts",
    ],
  ] as const) {
    test(`refuse: ${error.slice(0, 60)}`, async () => {
      await expectRt({
        files: { "package.json": { scripts: { dev: "echo never" } } },
        args: ["--watch", ...options, "run", "dev"],
        status: 1,
        stderr: `error: ${error}\nhint: ${hint}\n`,
      });
    });
  }

  test("are refused without --watch, and take patterns as long and as many as is said", async () => {
    for (const option of ["--watch-path", "--watch-ignore"])
      await expectRt({
        files: { "package.json": { scripts: { dev: "echo never" } } },
        args: [`${option}=src`, "run", "dev"],
        status: 1,
        stderr: `error: ${option} needs --watch\nhint: rt help watching\n`,
      });
    await using live = await watch(files, [
      `--watch-ignore=${"a".repeat(1024)}`,
      ...Array.from({ length: 255 }, () => "--watch-ignore=a"),
    ]);
    await live.see("started 0.");
  });
});

describe("what is said", () => {
  test("is nothing with --silent, but for how the script ended", async () => {
    await using live = await watch(scripts(SAY), ["--silent"]);
    await live.see("waiting for a change");
    await live.project.write({ "poke.json": "1" });
    await live.see("started 1.");
    await live.see("waiting for a change");
    const end = 'rt: "dev" exited with code 0; waiting for a change\n';
    expect(live.output.replaceAll(end, "")).toBe("started 0.\nstarted 1.\n");
  });

  test("is one line, whatever the name of the file that has changed", async () => {
    await using live = await watch(scripts(`${SAY} && sleep 1000`));
    await live.see("started 0.");
    await live.project.write({ "a\n\u001b[2J\u202e.ts": "" });
    await live.see("rt: a\\n\\u001b[2J\\u202e.ts changed\n");
  });

  test("names what the system would not watch, and what to do", async () => {
    await using project = await createProject({
      ...scripts(`${SAY} && sleep 1000`),
      "a/x.ts": "",
      "b/x.ts": "",
      "c/x.ts": "",
    });
    const limited = (limit: string) => [
      "unshare",
      "-Ur",
      "sh",
      "-c",
      `echo ${limit.split(" ")[1]} > /proc/sys/user/max_inotify_${limit.split(" ")[0]} && exec '${RT}' --watch run dev`,
    ];
    // The script and rt write to two streams, in no order.
    const sees = (from: Live, text: string) => waitUntil(() => from.output.includes(text));
    await using live = startLive({ program: limited("watches 2"), cwd: project.path });
    await sees(
      live,
      "warning: cannot watch 2 of 4 folders: system limit reached\n" +
        "hint: sudo sysctl fs.inotify.max_user_watches=524288, or watch less: --watch-path=src\n",
    );
    await sees(live, "started 0.");
    await project.write({ "poke.json": "1" });
    await sees(live, "started 1.");
    await using none = startLive({ program: limited("instances 0"), cwd: project.path });
    await sees(
      none,
      "warning: cannot watch 4 of 4 folders: system limit reached\n" +
        "hint: sudo sysctl fs.inotify.max_user_instances=1024, or raise ulimit -n\n",
    );
    await sees(none, "started 1.");
  });
});

describe("a run in many packages", () => {
  const packages: Files = {
    "package.json": { workspaces: ["packages/*"] },
    "packages/app/package.json": {
      name: "app",
      dependencies: { api: "*" },
      scripts: { dev: "echo app; exit 3" },
    },
    "packages/api/package.json": { name: "api", dependencies: { log: "*" }, scripts: { dev: "echo api" } },
    "packages/log/package.json": { name: "log", scripts: { dev: "echo log" } },
    "packages/other/package.json": { name: "other", scripts: { dev: "echo other" } },
    "packages/none/package.json": { name: "none", dependencies: { other: "*" } },
  };

  test("does what a change affects again, in order, and all of it in doubt", async () => {
    for (const [options, directory] of [
      [["--filter=*"], ""],
      [["--filter=*"], "packages/log"],
      [["--filter=*", "--filter=!other"], ""],
      [["--filter=*", "--sequential", "--no-exit-on-error"], ""],
    ] as const) {
      await using live = await watch(packages, options, directory);
      /** The packages that have run up to the next wait. */
      const round = async () => {
        const before = live.output.length;
        await live.see("waiting for a change");
        return live.output
          .slice(before)
          .match(/^\w+(?=(?: dev:|:dev +\|) \w+$)/gm)
          ?.join(" ");
      };
      await live.see("waiting for a change");
      // In one step: a file that is made and then written is two changes, and the second may come when all is done.
      const draft = `${live.project.path}.draft`;
      const write = async (name: string) => {
        await Bun.write(draft, String(Math.random()));
        await rename(draft, live.project.join(name));
        return await round();
      };
      expect(await write("packages/api/a.ts")).toBe("api app");
      expect(await write("packages/app/a.ts")).toBe("app");
      const all =
        options.length === 2 && options[1] === "--filter=!other"
          ? "log api app"
          : /^(?!.*app.*api)(?!.*api.*log)/;
      expect(await write("a.ts")).toMatch(all);
      expect(await write("packages/log/a.ts")).toBe("log api app");
      if (!options.some((each) => each === "--filter=!other"))
        expect(await write("packages/other/a.ts")).toBe("other");
    }
  });
});

describe("the end of a run", () => {
  /** In the background, in a session of its own, and without a parent. */
  const LEAVING = [
    "sleep 1000 &",
    "setsid sleep 1000 &",
    "(setsid sh -c 'sleep 1000 & exec sleep 1000' &);",
    "sh -c 'trap \"\" INT; sleep 1000 & sleep 1000' &",
  ].join(" ");

  test("reaches what has left its parent, its group and its session", async () => {
    const sleeper = "sleep 1000";
    for (const rest of [sleeper, "exit 3"]) {
      await using live = await watch(scripts(`${LEAVING} ${SAY}; ${rest}`));
      const all = `${LEAVING} ${rest}`.split(sleeper).length - 1;
      /** All that a run leaves, once it is there. */
      const left = async () => {
        if (rest !== sleeper) await live.see("waiting for a change");
        await waitUntil(() => live.running(sleeper).length === all);
        return live.running(sleeper);
      };
      await live.see("started 0.");
      for (let before = await left(), round = 0; round < 2; round += 1) {
        await live.poke();
        const now = await left();
        expect(now.filter((pid) => before.includes(pid))).toEqual([]);
        before = now;
      }
      live.kill(rest === "exit 3" ? "SIGINT" : "SIGTERM");
      await live.ended;
      await waitUntil(() => live.family() === 0);
    }
  });

  test("frees the port of a server that nobody is the parent of", async () => {
    const server = `
      const server = Bun.serve({ port: Number(process.env.TEST_PORT), fetch: () => new Response("x") });
      console.log("serving on", server.port);`;
    const port = freePort();
    const dev = `${SAY}; export TEST_PORT=${port}; (setsid '${RT}' server.ts &) ; sleep 1000`;
    await using live = await watch({ ...scripts(dev), "server.ts": server });
    for (let round = 0; round < 3; round += 1) {
      if (round > 0) await live.poke();
      await live.see(`serving on ${port}`);
    }
    live.kill("SIGTERM");
    await live.ended;
    expect(live.family()).toBe(0);
    expect(live.output).not.toContain("EADDRINUSE");
  });

  test("frees the port of a server whose first thread has ended", async () => {
    const port = freePort();
    const dev = `${SAY}; (setsid ${PYTHON} server.py &) ; sleep 1000`;
    await using live = await watch({ ...scripts(dev), "server.py": serverOfSecondThread(port) });
    for (let round = 0; round < 3; round += 1) {
      if (round > 0) await live.poke();
      await live.see(new RegExp(`serving ${port}|already in use`));
      expect(live.output).not.toContain("already in use");
    }
    live.kill("SIGTERM");
    await live.ended;
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
  });

  for (const isStubborn of [false, true])
    test(`takes ${isStubborn ? "two Ctrl-C" : "one Ctrl-C"} on a terminal and leaves nothing in the background`, async () => {
      const ready = isStubborn ? "trap '' INT TERM; " : "";
      await using project = await createProject(
        scripts(`${ready}${LEAVING} echo ready; while :; do sleep 0.05; done`),
      );
      const mark = createMark();
      const env = { ...cleanEnvironment(), ...mark.env, NO_COLOR: "1" };
      const line = `exec '${RT}' --watch --cwd '${project.path}' run dev`;
      await using terminal = startOnTerminal(["script", "-qec", line, "/dev/null"], env);
      await terminal.shows("\nready");
      terminal.type("\x03");
      if (isStubborn) {
        await terminal.shows("^C");
        terminal.type("\x03");
      }
      expect(await terminal.ends()).toBe(128 + 2);
      await waitUntil(() => mark.find().length === 0);
    });

  test("leaves no zombies of what it has adopted", async () => {
    await using live = await watch(
      scripts(`for i in 1 2 3 4 5; do (setsid true &); done; ${SAY}; sleep 1000`),
    );
    await live.see("started 0.");
    await waitUntil(() => zombiesOf(live.pid) === 0);
    expect((await live.poke()).length).toBeGreaterThan(0);
  });
});

function zombiesOf(parent: number): number {
  const { stdout } = Bun.spawnSync(["ps", "-o", "stat=", "--ppid", String(parent)]);
  return stdout
    .toString()
    .split("\n")
    .filter((line) => line.startsWith("Z")).length;
}
