// Tests scripts in a real terminal: Ctrl-C ends the script, its descendants and rt, without output.
import { describe, expect, test } from "bun:test";
import { hasProgram } from "../../../build/system-programs.ts";
import { quoteArgument } from "../../../src/shell-quoting.ts";
import { createMark, waitUntil } from "../../support/processes.ts";
import { createProject } from "../../support/project.ts";
import { cleanEnvironment, RT, startRt } from "../../support/rt.ts";

const hasScript = process.platform === "linux" && hasProgram("script");

/** Starts a program in another terminal (`script` of util-linux), with functions for input and output. */
function openTerminal(
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  program: readonly string[] = [RT],
) {
  const command = `exec ${[...program, ...args].map(quoteArgument).join(" ")}`;
  const child = Bun.spawn(["script", "-qec", command, "/dev/null"], {
    cwd,
    env: cleanEnvironment({ HOME: cwd, TERM: "xterm", SHELL: "/bin/sh", NO_COLOR: "1", ...env }),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  let screen = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) screen += decoder.decode(bytes, { stream: true });
  })();
  return {
    type(text: string) {
      void child.stdin.write(text);
      void child.stdin.flush();
    },
    /** Fails when the program has ended without the text. */
    async shows(text: string) {
      let isOver = false;
      void reading.then(() => (isOver = true));
      await waitUntil(() => isOver || screen.includes(text));
      expect(screen).toContain(text);
    },
    async end() {
      const status = await child.exited;
      await reading;
      void child.stdin.end();
      return { status, screen: screen.replaceAll("\r\n", "\n") };
    },
  };
}

/** bash, because dash can lose a signal while it starts a command. */
const WAITS = "bash -c 'echo ready; sleep 1000; echo not reached'";

describe.skipIf(!hasScript).concurrent("Ctrl-C", () => {
  const scripts: Record<string, Record<string, string>> = {
    "in a script": { go: WAITS },
    "in a script with a pre-hook": { prego: "echo pre", go: WAITS },
    "in a script with a post-hook": { go: WAITS, postgo: "echo not reached" },
    "in a pre-hook": { prego: WAITS, go: "echo not reached", postgo: "echo not reached" },
    "in a script that calls a script": {
      go: `${RT} --silent run inner`,
      inner: WAITS,
      postgo: "echo not reached",
    },
    "in a program": { go: "waits" },
  };
  for (const [name, entries] of Object.entries(scripts)) {
    test(`${name} leaves no process behind and prints nothing`, async () => {
      await using project = await createProject(
        { "package.json": { scripts: entries }, "node_modules/.bin/waits": `#!/bin/bash\n${WAITS}\n` },
        ["node_modules/.bin/waits"],
      );
      const mark = createMark();
      const terminal = openTerminal(["--silent", "run", "go"], project.path, mark.env);
      await terminal.shows("ready");
      terminal.type("\x03");
      const { status, screen } = await terminal.end();
      expect({ status, screen: screen.replace("^C", "").replace("pre\n", "") }).toEqual({
        status: 130,
        screen: "ready\n",
      });
      await waitUntil(() => mark.find().length === 0);
    });
  }

  test("keeps a script running that handles it", async () => {
    await using project = await createProject({
      "package.json": {
        scripts: {
          go: "trap 'echo handled; exit 5' INT; echo ready; while :; do sleep 0.05; done",
          postgo: "echo not reached",
        },
      },
    });
    const terminal = openTerminal(["--silent", "run", "go"], project.path, {});
    await terminal.shows("ready");
    terminal.type("\x03");
    const { status, screen } = await terminal.end();
    expect({ status, screen: screen.replace("^C", "") }).toEqual({ status: 5, screen: "ready\nhandled\n" });
  });

  const traced = (log: string) => ["strace", "-qq", "-o", log, "-e", "trace=kill", RT];
  // rt forwards an early signal, which may have come before the script (src/runner/script/signal-forwarding.ts).
  const untilWaiting = "until grep -q poll /proc/$PPID/wchan; do :; done; echo ready";
  const stay = "while :; do sleep 0.05; done";

  test.skipIf(!hasProgram("strace"))("comes from the terminal alone when a script handles it", async () => {
    const go = `trap 'echo handled; exit 5' INT; ${untilWaiting}; ${stay}`;
    await using project = await createProject({ "package.json": { scripts: { go, postgo: "true" } } });
    // rt has received the signal when it ends, and would forward it even after the script's end.
    const program = traced(project.join("log"));
    const terminal = openTerminal(["--silent", "run", "go"], project.path, {}, program);
    await terminal.shows("ready");
    terminal.type("\x03");
    expect((await terminal.end()).status).toBe(5);
    const log = await Bun.file(project.join("log")).text();
    expect(log).toContain(", SIGKILL)"); // from the kill watchdog
    expect(log).not.toMatch(/^kill\(.*, SIG(?:INT|STOP)\)/m);
  });

  test.skipIf(!hasProgram("strace"))(
    "comes from the terminal alone, until SIGKILL, when a script of a reported run continues after it",
    async () => {
      const go = `trap 'echo handled' INT; ${untilWaiting}; ${stay}`;
      await using project = await createProject({ "package.json": { scripts: { go } } });
      const program = traced(project.join("log"));
      const words = ["--silent", "--report=report.json", "run", "go"];
      const terminal = openTerminal(words, project.path, {}, program);
      await terminal.shows("ready");
      terminal.type("\x03");
      await terminal.shows("handled");
      expect((await terminal.end()).status).toBe(130);
      const log = await Bun.file(project.join("log")).text();
      expect(log).toContain(", SIGKILL)");
      expect(log).not.toMatch(/^kill\(.*, SIGINT\)/m);
    },
  );

  test("ends a program's code or runs its handler", async () => {
    await using project = await createProject({
      "plain.ts": "console.log('ready'); setInterval(() => {}, 1000)",
      "handles.ts":
        "process.on('SIGINT', () => { console.log('handled'); process.exit(7) }); console.log('ready'); setInterval(() => {}, 1000)",
    });
    for (const [args, expected] of [
      [["plain.ts"], 130],
      [["handles.ts"], 7],
      [["--smol", "handles.ts"], 7],
      [["--smol", "plain.ts"], 130],
    ] as const) {
      const terminal = openTerminal(args, project.path, {});
      await terminal.shows("ready");
      terminal.type("\x03");
      expect({ args, status: (await terminal.end()).status }).toEqual({ args, status: expected });
    }
  });
});

describe.skipIf(!hasScript).concurrent("a terminal", () => {
  test("belongs to a script, its hooks and a program", async () => {
    const check = "test -t 0 && test -t 1 && test -t 2 && echo terminal";
    await using project = await createProject(
      {
        "package.json": { scripts: { prego: check, go: check, postgo: check } },
        "node_modules/.bin/check": `#!/bin/sh\n${check}\n`,
      },
      ["node_modules/.bin/check"],
    );
    expect(await openTerminal(["--silent", "run", "go"], project.path, {}).end()).toEqual({
      status: 0,
      screen: "terminal\nterminal\nterminal\n",
    });
    expect(await openTerminal(["run", "check"], project.path, {}).end()).toEqual({
      status: 0,
      screen: "terminal\n",
    });
  });

  test("supplies the standard input of a script with hooks", async () => {
    await using project = await createProject({
      "package.json": { scripts: { prego: "true", go: "read line; echo got $line", postgo: "true" } },
    });
    const terminal = openTerminal(["run", "go"], project.path, {});
    await terminal.shows("$ read line");
    terminal.type("typed\n");
    await terminal.shows("got typed");
    expect((await terminal.end()).status).toBe(0);
  });

  test("gets the command in colour, but not with NO_COLOR", async () => {
    await using project = await createProject({ "package.json": { scripts: { go: "true" } } });
    const coloured = await openTerminal(["run", "go"], project.path, {
      NO_COLOR: "",
      COLORTERM: "truecolor",
    }).end();
    expect(coloured.screen).toContain("\x1b[0;35m$\x1b[0m \x1b[2m\x1b[1mtrue\x1b[0m");
    const without: Record<string, string>[] = [
      {},
      { NO_COLOR: "", FORCE_COLOR: "0" },
      { NO_COLOR: "", TERM: "dumb" },
    ];
    for (const environment of without) {
      const plain = await openTerminal(["run", "go"], project.path, environment).end();
      expect(plain.screen).toBe("$ true\n");
    }
  });

  test("ends a script and its children when it closes", async () => {
    await using project = await createProject({ "package.json": { scripts: { prego: WAITS, go: "true" } } });
    const mark = createMark();
    const child = startRt({
      program: ["script", "-qec", `${RT} --silent run go`, "/dev/null"],
      cwd: project.path,
      env: { ...mark.env, SHELL: "/bin/sh" },
    });
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill("SIGKILL");
    await waitUntil(() => mark.find().length === 0);
  });
});
