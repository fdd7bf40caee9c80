// `rt --watch run <script>`: which changes restart a script, the messages, and the end of all its processes. The line that
// names the files of a restart would contain earlier unwanted changes, so a test changes one more file (`poke`).
import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { rename } from "node:fs/promises";
import { startLive, type Live } from "../options/live.ts";
import { freePort, isFree } from "../support/servers/ports.ts";
import { expectRt } from "../support/rt.ts";
import { createMark, serverOfSecondThread, waitUntil } from "../support/processes.ts";
import { PYTHON } from "../support/programs/programs.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";

/** Prints that it runs, and the number of the poke that started it. */
const PRINT = 'echo "started $(cat poke.json)."';
const scripts = (dev: string): Files => ({ "package.json": { scripts: { dev } }, "poke.json": "0" });

interface Watched extends Live {
  readonly project: Project;
  /** Changes a watched file and waits for the restart. Returns the line with the reason. */
  poke(): Promise<string>;
  runs(): number;
}

async function watch(files: Files, options: readonly string[] = [], inDirectory = ""): Promise<Watched> {
  const project = await createProject(files);
  const live = startLive({
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

describe("files that a watched script writes", () => {
  test("a write with unchanged content does not restart the script", async () => {
    await using live = await watch({
      ...scripts(
        `: > src/gen.ts; sleep 0.1; printf x > src/gen.ts && cp src/gen.ts src/copy.ts && ${PRINT} && sleep 1000`,
      ),
      "src/gen.ts": "x",
      "src/copy.ts": "x",
    });
    await live.see("started 0.");
    for (let round = 0; round < 3; round += 1) expect(await live.poke()).toBe(POKED);
    expect(live.runs()).toBe(4);
  });

  test("a write before a restart does not restart the script again", async () => {
    // The script ends some time after the write, so rt has received the event and may name the file.
    const trap = "trap 'cat poke.json > state.json; sleep 0.2; exit' TERM";
    await using live = await watch(scripts(`${trap}; ${PRINT}; while :; do sleep 0.05; done`));
    await live.see("started 0.");
    for (let round = 0; round < 3; round += 1) expect(await live.poke()).toStartWith("rt: poke.json ");
    expect(live.runs()).toBe(4);
  });

  test("a file that each run changes is named and then ignored", async () => {
    await using live = await watch(scripts(`date +%N > src/stamp.ts; ${PRINT}`), []);
    await live.see("started 0.");
    // The first run cannot write, because src does not exist. Each further run does.
    await live.project.write({ "src/other.ts": "" });
    await live.see(
      "warning: the script writes src/stamp.ts, which it watches; ignoring it from now on\nhint: ",
    );
    for (let round = 0; round < 3; round += 1) expect(await live.poke()).toBe(POKED);
    expect(live.output.split("ignoring it from now on").length).toBe(2);
  });

  test("a write into an output folder of a tool does not restart the script unless --watch-ignore re-includes the folder", async () => {
    const files = {
      ...scripts(`${PRINT} && sleep 1000`),
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

    // A .gitignore without "build" makes it a normal folder.
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

describe("files that the user writes", () => {
  test("a write with unchanged content restarts an ended script", async () => {
    await using live = await watch({ ...scripts(PRINT), "a.ts": "1" });
    await live.see("started 0.");
    for (let round = 0; round < 2; round += 1) {
      await live.see("waiting for a change");
      // File times have a coarser clock than milliseconds. This write must be later on both clocks.
      const end = Date.now();
      await waitUntil(() => Date.now() > end);
      do await live.project.write({ "a.ts": "1" });
      while (statSync(live.project.join("a.ts")).ctimeMs <= end);
      await live.see("rt: a.ts changed");
      await live.see("started 0.");
    }
  });

  test("a renamed or deleted file or folder restarts the script", async () => {
    await using live = await watch({
      ...scripts(`${PRINT} && sleep 1000`),
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

  test("a file that a .gitignore above the project ignores does not restart the script", async () => {
    const above = { ".git/HEAD": "", ".gitignore": "*.gen.ts\n" };
    const { "package.json": manifest } = scripts(`${PRINT} && sleep 1000`);
    const files = { "app/package.json": manifest!, "app/poke.json": "0", "app/a.gen.ts": "" };
    await using live = await watch({ ...above, ...files }, [], "app");
    await live.see("started 0.");
    await live.project.write({ "app/a.gen.ts": "1" });
    expect(await live.poke()).toBe(POKED);
  });

  test("an env file that git ignores restarts the script", async () => {
    await using live = await watch({
      ...scripts(`${PRINT} && sleep 1000`),
      ".gitignore": ".env*\n*.local.ts\n",
      ".env.local": "A=1",
      "a.local.ts": "",
    });
    await live.see("started 0.");
    await live.project.write({ "a.local.ts": "1" });
    await live.project.write({ ".env.local": "A=2" });
    await live.see("rt: .env.local changed");
  });

  test("a thousand files that git changes restart the script once", async () => {
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
    await project.write({ ...sources("b"), ...scripts(`${PRINT} && sleep 1000`) });
    await live.see("started 0.");
    // On a busy machine the thousand files can be several changes. The next run may start before the last of them.
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

  test("a change while git holds its lock restarts the script after the lock is released", async () => {
    await using live = await watch({ ...scripts(`${PRINT} && sleep 1000`), ".git/HEAD": "", "a.ts": "" });
    await live.see("started 0.");
    // Without a lock, the same change restarts a script at once.
    const path = live.project.join("a.ts");
    await using other = await watch(scripts(`${PRINT} && sleep 1000`), [`--watch-path=${path}`]);
    await other.see("started 0.");
    await live.project.write({ ".git/index.lock": "" });
    await live.project.write({ "a.ts": "1" });
    await other.see("a.ts changed");
    await other.see("started 0.");
    expect(live.output).not.toContain("a.ts changed");
    await rename(live.project.join(".git/index.lock"), live.project.join(".git/index"));
    await live.see("rt: a.ts changed");
  });

  test("a lock of git delays the restart for longer than a burst of changes does", async () => {
    const files = { ...scripts(`${PRINT} && sleep 1000`), ".git/HEAD": "", "a.ts": "", "b.ts": "" };
    await using live = await watch(files);
    await live.see("started 0.");
    await live.project.write({ ".git/index.lock": "" });
    await live.project.write({ "a.ts": "1" });
    // A burst without a lock ends after 1 s, and rt ignores a lock after 10 s.
    await Bun.$`sleep 2`.quiet();
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
    ...scripts(`${PRINT} && sleep 1000`),
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

  /** Returns the files of `changed` that restart the script, and the line that lists the watched folders. */
  async function reactionTo(options: readonly string[], more: Files = {}): Promise<string> {
    await using live = await watch({ ...files, ...more }, options);
    await live.see("started 0.");
    // In the order of names. The lock combines them into one change.
    await live.project.write({ ".git/index.lock": "" });
    for (const name of Object.keys(changed).toSorted()) await live.project.write({ [name]: "1" });
    await rename(live.project.join(".git/index.lock"), live.project.join(".git/index"));
    const [line] = await live.see(/^rt: .* changed$/m);
    return `${/^rt: watching .*$/m.exec(live.output)![0]}\n${line}`;
  }

  test("--watch-path accepts folders, files and globs with any extension", async () => {
    expect(await reactionTo([])).toBe(
      "rt: watching 6 folders (rt help watching)\nrt: lib/a.ts and 4 more changed",
    );
    expect(await reactionTo(["--watch-path=views"])).toBe(
      "rt: watching 2 folders of views (rt help watching)\nrt: views/a.txt and 1 more changed",
    );
    expect(await reactionTo(["--watch-path=views/a.txt"])).toContain("\nrt: views/a.txt changed");
    expect(await reactionTo(["--watch-path=pages/[id].tsx"])).toContain("\nrt: pages/[id].tsx changed");
    expect(await reactionTo(["--watch-path=views/**/*.hbs", "--watch-path=./src"])).toContain(
      "\nrt: src/a.ts and 2 more changed",
    );
    expect(await reactionTo(["--watch-path=dist"])).toContain("\nrt: dist/a.js changed");
  });

  test("--watch-path is relative to a folder whose name contains glob characters", async () => {
    const below = Object.fromEntries(
      Object.entries({ ...files, ".git/HEAD": "" }).map(([name, content]) => [`[app]/${name}`, content]),
    );
    await using live = await watch(below, ["--watch-path=views/**/*.hbs"], "[app]");
    await live.see("started 0.");
    await live.project.write({ "[app]/views/deep/a.hbs": "1" });
    await live.see(/^rt: views\/deep\/a\.hbs changed$/m);
  });

  test("--watch-ignore ignores files and folders like .gitignore", async () => {
    const ignore = ["--watch-ignore=*.gen.ts", "--watch-ignore=/lib/", "--watch-ignore=./pages/i.*"];
    expect(await reactionTo(ignore)).toContain("\nrt: pages/[id].tsx and 1 more changed");
    expect(await reactionTo([...ignore, "--watch-ignore=**/\\[id\\].tsx"])).toContain(
      "\nrt: src/a.ts changed",
    );
  });

  test("--watch-path replaces the paths of rtfig.toml, and --watch-ignore extends its patterns", async () => {
    const config = { "rtfig.toml": '[watch]\npaths = ["src", "lib"]\nignore = "*.gen.ts"\n' };
    expect(await reactionTo([], config)).toContain("\nrt: lib/a.ts and 1 more changed");
    expect(
      await reactionTo(["--watch-path=src", "--watch-ignore=a.ts", "--watch-ignore=!*.gen.ts"], config),
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
    test(`an invalid value is rejected: ${error.slice(0, 60)}`, async () => {
      await expectRt({
        files: { "package.json": { scripts: { dev: "echo never" } } },
        args: ["--watch", ...options, "run", "dev"],
        status: 1,
        stderr: `error: ${error}\nhint: ${hint}\n`,
      });
    });
  }

  test("both options need --watch, and accept patterns up to the maximum length and number", async () => {
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

describe("output of a watched run", () => {
  test("--silent prints only the output and the exit lines of the script", async () => {
    await using live = await watch(scripts(PRINT), ["--silent"]);
    await live.see("waiting for a change");
    await live.project.write({ "poke.json": "1" });
    await live.see("started 1.");
    await live.see("waiting for a change");
    const end = 'rt: "dev" exited with code 0; waiting for a change\n';
    expect(live.output.replaceAll(end, "")).toBe("started 0.\nstarted 1.\n");
  });

  test("control characters in the names of changed files are escaped", async () => {
    await using live = await watch(scripts(`${PRINT} && sleep 1000`));
    await live.see("started 0.");
    await live.project.write({ "a\n\u001b[2J\u202e.ts": "" });
    await live.see("rt: a\\n\\u001b[2J\\u202e.ts changed\n");
  });

  test("a warning counts the folders that the system cannot watch, with a hint", async () => {
    await using project = await createProject({
      ...scripts(`${PRINT} && sleep 1000`),
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
    // rt may print the scope before or after the first line of the script.
    const waitFor = (from: Live, text: string) => waitUntil(() => from.output.includes(text));
    await using live = startLive({ program: limited("watches 2"), cwd: project.path });
    await waitFor(
      live,
      "warning: cannot watch 2 of 4 folders: system limit reached\n" +
        "hint: sudo sysctl fs.inotify.max_user_watches=524288, or watch less: --watch-path=src\n",
    );
    await waitFor(live, "started 0.");
    await project.write({ "poke.json": "1" });
    await waitFor(live, "started 1.");
    await using none = startLive({ program: limited("instances 0"), cwd: project.path });
    await waitFor(
      none,
      "warning: cannot watch 4 of 4 folders: system limit reached\n" +
        "hint: sudo sysctl fs.inotify.max_user_instances=1024, or raise ulimit -n\n",
    );
    await waitFor(none, "started 1.");
  });
});

describe("watched run of many packages", () => {
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

  test("a change restarts the affected packages in order, and all packages when the file belongs to no package", async () => {
    for (const [options, directory] of [
      [["--filter=*"], ""],
      [["--filter=*"], "packages/log"],
      [["--filter=*", "--filter=!other"], ""],
      [["--filter=*", "--sequential", "--no-exit-on-error"], ""],
    ] as const) {
      await using live = await watch(packages, options, directory);
      await live.see("waiting for a change");
      const draft = `${live.project.path}.draft`;
      /** Returns the packages that run because of this file, in order. */
      const write = async (name: string) => {
        const before = live.output.length;
        // One rename. Truncating and writing a file would be two events, and the second could arrive after the round.
        await Bun.write(draft, String(Math.random()));
        await rename(draft, live.project.join(name));
        await live.see("waiting for a change");
        return live.output
          .slice(before)
          .match(/^\w+(?=(?: dev:|:dev +\|) \w+$)/gm)
          ?.join(" ");
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

describe("end of a watched script", () => {
  /** Processes in the background, in a separate session, or without a parent. */
  const START_ORPHANS = [
    "sleep 1000 &",
    "setsid sleep 1000 &",
    "(setsid sh -c 'sleep 1000 & exec sleep 1000' &);",
    "sh -c 'trap \"\" INT; sleep 1000 & sleep 1000' &",
  ].join(" ");

  test("rt kills processes that have left the parent, the process group or the session", async () => {
    const sleeper = "sleep 1000";
    for (const rest of [sleeper, "exit 3"]) {
      await using live = await watch(scripts(`${START_ORPHANS} ${PRINT}; ${rest}`));
      const all = `${START_ORPHANS} ${rest}`.split(sleeper).length - 1;
      /** Returns the remaining processes when all exist. */
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

  test("a restart frees the port of a server without a parent", async () => {
    const server = `
      const server = Bun.serve({ port: Number(process.env.TEST_PORT), fetch: () => new Response("x") });
      console.log("serving on", server.port);`;
    const port = freePort();
    const dev = `${PRINT}; export TEST_PORT=${port}; (setsid '${RT}' server.ts &) ; sleep 1000`;
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

  test("a restart frees the port of a server whose first thread has ended", async () => {
    const port = freePort();
    const dev = `${PRINT}; (setsid ${PYTHON} server.py &) ; sleep 1000`;
    await using live = await watch({ ...scripts(dev), "server.py": serverOfSecondThread(port) });
    for (let round = 0; round < 3; round += 1) {
      if (round > 0) await live.poke();
      await live.see(new RegExp(`serving ${port}|already in use`));
      expect(live.output).not.toContain("already in use");
    }
    live.kill("SIGTERM");
    await live.ended;
    // A process that was killed closes its files some time later.
    await waitUntil(() => isFree(port));
  });

  for (const isStubborn of [false, true])
    test(`a script needs ${isStubborn ? "two Ctrl-C" : "one Ctrl-C"} on a terminal and leaves no background process`, async () => {
      const ready = isStubborn ? "trap '' INT TERM; " : "";
      await using project = await createProject(
        scripts(`${ready}${START_ORPHANS} echo ready; while :; do sleep 0.05; done`),
      );
      const mark = createMark();
      const env = { ...cleanEnvironment(), ...mark.env, NO_COLOR: "1" };
      const line = `exec '${RT}' --watch --cwd '${project.path}' run dev`;
      await using terminal = startOnTerminal(["script", "-qec", line, "/dev/null"], env);
      await terminal.awaitOutput("\nready");
      terminal.type("\x03");
      if (isStubborn) {
        await terminal.awaitOutput("^C");
        terminal.type("\x03");
      }
      expect(await terminal.awaitExit()).toBe(128 + 2);
      await waitUntil(() => mark.find().length === 0);
    });

  test("rt leaves no zombies of orphaned processes", async () => {
    await using live = await watch(
      scripts(`for i in 1 2 3 4 5; do (setsid true &); done; ${PRINT}; sleep 1000`),
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
