// Tests a redacted script on a terminal and in pipes: except for secret values, its output and behaviour match those
// with `--no-redact`, byte for byte.
import { describe, expect, test } from "bun:test";
import { constants, existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { createMark, waitUntil } from "../../support/processes.ts";
import { createProject, type Project } from "../../support/project.ts";
import { cleanEnvironment, RT, runRt, startRt } from "../../support/rt.ts";
import { startOnTerminal, type TerminalProgram } from "../../support/programs/terminal.ts";
import { chooseStdioStrategy } from "../../../src/runner/script/stdio-strategy.ts";

const TOKEN = "ghp_A1b2C3d4E5f6/G7+h8";
const RTFIG = '[secrets.TOKEN]\nfrom = "com.acme/token"\n[run.secrets]\n"*" = ["TOKEN"]\n';
const WAITS = "while :; do sleep 0.05; done";

/** A prompt like inquirer's: raw mode, and a list that is redrawn at each key. */
const PROMPT = `
import { emitKeypressEvents } from "node:readline";
let at = 0;
const draw = (back) => process.stdout.write((back ? "\\x1b[3A" : "") + ["red", "green", "blue"].map((each, index) =>
  "\\x1b[2K" + (index === at ? "\\x1b[36m> " : "  ") + each + "\\x1b[0m\\n").join(""));
emitKeypressEvents(process.stdin);
process.stdin.setRawMode(true);
console.log("Which? \\x1b[?25l");
draw(false);
process.stdin.on("keypress", (_, key) => {
  if (key.name === "down") at = Math.min(2, at + 1), draw(true);
  else if (key.name === "return") { console.log("\\x1b[?25hchosen " + at); process.stdin.setRawMode(false); process.exit(4); }
});
`;
const PROGRESS = `
for (let done = 0; done <= 100; done += 5) process.stdout.write("\\r\\x1b[K" + "#".repeat(done / 5) + " " + done + " %");
process.stdout.write("\\n" + process.stdout.isTTY + process.stdout.columns + process.stderr.isTTY + process.stdin.isTTY + "\\n");
`;
const BYTE_BY_BYTE = `for (const byte of Buffer.from(process.env.TOKEN + "\\n")) { process.stdout.write(Buffer.of(byte)); await Bun.sleep(0); }`;
const FORMS = `
const value = process.env.TOKEN, bytes = Buffer.from(value);
for (const text of [value, JSON.stringify({ value }), encodeURIComponent(value), bytes.toString("hex"), bytes.toString("base64"),
  bytes.toString("base64url"), btoa("u:" + value), btoa("me:" + value + "\\n"), "\\x1b[31m" + value.slice(0, 9) + "\\x1b[0m" + value.slice(9)])
  console.log(text);
console.error("error: " + value);
`;

/** Counts at once: a shell may merge two signals of one kind. */
const COUNT = `
let count = 0;
process.on("SIGINT", () => console.log("int", (count += 1)));
process.on("SIGTERM", () => process.exit(count));
setInterval(() => {}, 1000);
console.log("ready");
`;

const SCRIPTS = {
  modes: "stty -a; tty >/dev/null && ls --color=always package.json; exit 3",
  code: "exit 203",
  prompt: `${RT} prompt.ts`,
  progress: `${RT} progress.ts`,
  less: "less numbers.txt",
  vim: "vim -u NONE -N -i NONE -n numbers.txt",
  bytes: "stty -opost; cat bytes; echo; exit 1",
  read: 'read -p "name: " -r name; echo "hello $name"; read -s -p "password: " word; echo; echo "$word"',
  wait: `echo ready; ${WAITS}`,
  unheard: "trap '' HUP; echo ready; cat",
  raw: "stty raw -echo; echo ready; kill -KILL $$",
  size: `trap 'stty size' WINCH; trap 'exit 6' INT; stty size; ${WAITS}`,
  stay: "echo up; exec cat",
  trap: `trap 'echo handled; exit 5' INT TERM; trap 'echo continued' CONT; echo ready; ${WAITS}`,
  nested: "PS1='READY> ' bash --norc --noprofile -i",
  show: "echo $TOKEN",
  both: "for i in 1 2 3 4 5; do echo out $i $TOKEN; echo err $i $TOKEN >&2; done",
  places: "for i in 0 1 2; do test -t $i && echo terminal $i >&2; done; echo $TOKEN; echo $TOKEN >&2",
  keys: "read -r line </dev/tty; echo got $line; cat",
  forms: `${RT} forms.ts`,
  slowly: `${RT} slowly.ts`,
  letter: "printf 'continue? gh'; read -r answer; echo $answer",
  half: "printf 'it began %.12s' $TOKEN",
  lines: "yes $TOKEN",
  segv: "kill -SEGV $$",
  pid: "echo $$",
  counted: `${RT} count.ts`,
  unheeded: "stty -isig; echo ready; head -n 1 | od -An -tx1",
  count: `n=0; trap 'n=$((n + 1)); echo int $n' INT; trap 'exit 3' TERM; echo ready; ${WAITS}`,
  descriptors: "for each in /dev/fd/*; do echo ${each##*/}; done",
  patient: "trap '' PIPE; echo $TOKEN; while echo more; do :; done 2>/dev/null; exit 0",
  prelater: `trap 'exit 0' TERM; echo ready; ${WAITS}`,
  later: "echo later",
  much: "head -c 100000 /dev/zero; echo $$ > pid; mv pid ended",
  logged: "echo script $TOKEN",
  prelogged: "cat log; for i in 0 1 2; do test -t $i && echo terminal $i; done; true",
  postlogged: "cat log >&2",
  preshort: "echo before",
  short: "echo short",
};

async function createScripts(): Promise<Project> {
  return await createProject({
    "package.json": { scripts: SCRIPTS },
    "rtfig.toml": RTFIG,
    "prompt.ts": PROMPT,
    "progress.ts": PROGRESS,
    "count.ts": COUNT,
    log: `log ${TOKEN}\n`,
    "forms.ts": FORMS,
    "slowly.ts": BYTE_BY_BYTE,
    "numbers.txt": Array.from({ length: 200 }, (_, line) => `line ${line}\n`).join(""),
    bytes: Uint8Array.from({ length: 20_000 }, (_, index) => (index * 7919 + (index >> 3)) & 0xff),
  });
}

const environment = (extra = {}) =>
  cleanEnvironment({ TOKEN, TERM: "xterm", PS1: "READY> ", NO_COLOR: "1", ...extra });

function start(
  project: Project,
  script: string,
  options: readonly string[] = [],
  extra = {},
): TerminalProgram {
  return startOnTerminal([RT, "--silent", "run", ...options, script], environment(extra), {
    cwd: project.path,
    isSessionLeader: true,
  });
}

type Drive = (terminal: TerminalProgram) => Promise<void> | void;

/** Returns the output, the exit status, and whether the terminal's modes are restored. */
async function runOnTerminal(project: Project, script: string, options: readonly string[], drive: Drive) {
  await using terminal = start(project, script, options);
  await drive(terminal);
  const status = await terminal.awaitExit();
  const { isInDefaultMode } = terminal;
  await terminal.awaitClose();
  return { shown: terminal.shown, status, isInDefaultMode };
}

async function compare(script: string, drive: Drive, status: number | string): Promise<string> {
  await using project = await createScripts();
  const [through, direct] = await Promise.all([
    runOnTerminal(project, script, [], drive),
    runOnTerminal(project, script, ["--no-redact"], drive),
  ]);
  expect({ ...through, status }).toEqual({ ...direct, status: through.status, isInDefaultMode: true });
  return through.shown;
}

describe
  .skipIf(process.platform === "win32")
  .concurrent("a redacted script on a terminal behaves like the unredacted script:", () => {
    const cases: Record<string, [script: string, drive: Drive, status: number | string, contains: string]> = {
      "its modes, colours and exit code": ["modes", () => {}, 3, "speed 38400 baud; rows 24; columns 80"],
      "a prompt with keys": [
        "prompt",
        async (terminal) => {
          await terminal.awaitOutput("blue");
          terminal.type("\x1b[B");
          await terminal.awaitOutput("> green");
          terminal.type("\x1b[B\r");
        },
        4,
        "chosen 2",
      ],
      "a progress bar": ["progress", () => {}, 0, "true80truetrue"],
      less: [
        "less",
        async (terminal) => {
          await terminal.awaitOutput("line 20");
          terminal.type(" ");
          await terminal.awaitOutput("line 40");
          terminal.type("G");
          await terminal.awaitOutput("line 199");
          terminal.type("q");
        },
        0,
        "line 199",
      ],
      "vim, also after a resize": [
        "vim",
        async (terminal) => {
          await terminal.awaitOutput("line 22");
          terminal.type("i");
          await terminal.awaitOutput("-- INSERT --");
          terminal.type("abc");
          await terminal.awaitOutput("abcline 0");
          // Escape would make vim wait for more keys, and its output would depend on time.
          terminal.type("\x1c\x0e");
          await terminal.awaitOutput("\x1b[24;1H\x1b[K");
          terminal.resize(60, 40);
          await terminal.awaitOutput("line 38");
          terminal.type(":q!\r");
        },
        0,
        "abc",
      ],
      "any bytes": ["bytes", () => {}, 1, "\r"],
      "questions, and passwords without echo": [
        "read",
        async (terminal) => {
          await terminal.awaitOutput("name: ");
          terminal.type("wörld\x7f\n");
          await terminal.awaitOutput("password: ");
          terminal.type("unseen\n");
        },
        0,
        "hello wörl",
      ],
      "a changed size": [
        "size",
        async (terminal) => {
          await terminal.awaitOutput("24 80");
          terminal.resize(100, 30);
          await terminal.awaitOutput("30 100");
          terminal.type("\x03");
        },
        6,
        "^C",
      ],
      "a program that is killed in raw mode": ["raw", () => {}, "SIGKILL", "ready"],
      "a crash": ["segv", () => {}, "SIGSEGV", ""],
      "Ctrl-C with a handler": [
        "trap",
        async (terminal) => {
          await terminal.awaitOutput("ready");
          terminal.type("\x03");
        },
        5,
        "handled",
      ],
      "a counted signal": [
        "count",
        async (terminal) => {
          await terminal.awaitOutput("ready");
          terminal.type("\x03");
          await terminal.awaitOutput("int 1");
          terminal.kill("SIGTERM");
        },
        3,
        "int 1",
      ],
      "one SIGINT per Ctrl-C": [
        "counted",
        async (terminal) => {
          await terminal.awaitOutput("ready");
          terminal.type("\x03");
          await terminal.awaitOutput("int 1");
          terminal.type("\x03");
          await terminal.awaitOutput("int 2");
          terminal.kill("SIGTERM");
        },
        2,
        "int 2",
      ],
      "raw keys": [
        "unheeded",
        async (terminal) => {
          await terminal.awaitOutput("ready");
          terminal.type("\x1aa\x03\n");
        },
        0,
        " 1a 61 03 0a",
      ],
      "its descriptors": ["descriptors", () => {}, 0, "0\r\n1\r\n2\r\n"],
      "Ctrl-\\": [
        "stay",
        async (terminal) => {
          await terminal.awaitOutput("up\r\n");
          terminal.type("ready\n");
          await terminal.awaitOutput("ready\r\n", 2);
          terminal.type("\x1c");
        },
        "SIGQUIT",
        "^\\",
      ],
      "SIGTERM to rt": [
        "trap",
        async (terminal) => {
          await terminal.awaitOutput("ready");
          terminal.kill("SIGTERM");
        },
        5,
        "handled",
      ],
      "a shell with job control": [
        "nested",
        async (terminal) => {
          await terminal.awaitOutput("READY> ");
          // Early input may still reach the shell, which does not echo while it changes the modes.
          terminal.type('echo r"ead"y; cat\n');
          await terminal.awaitOutput("ready\r\n");
          terminal.type("up\n");
          await terminal.awaitOutput("up\r\n", 2);
          terminal.type("\x1a");
          await terminal.awaitOutput("Stopped");
          await terminal.awaitOutput("READY> ", 2);
          terminal.type("fg\n");
          await terminal.awaitOutput("cat\r\n", 3);
          terminal.type("down\n");
          await terminal.awaitOutput("down\r\n", 2);
          terminal.type("\x04");
          await terminal.awaitOutput("READY> ", 3);
          terminal.type("exit 9\n");
        },
        9,
        "Stopped",
      ],
    };
    for (const [name, [script, drive, status, contains]] of Object.entries(cases))
      test(name, async () => {
        expect(await compare(script, drive, status)).toContain(contains);
      });
  });

describe.skipIf(process.platform === "win32").concurrent("redaction", () => {
  const run = async (script: string, options: readonly string[] = [], stdin?: string) => {
    await using project = await createScripts();
    const args = ["--silent", "run", ...options, script];
    return await runRt({ args, cwd: project.path, env: environment(), stdin });
  };
  /** Checks every value variant, whole and in part. */
  function expectNoValue(shown: string): void {
    for (const form of [TOKEN, encodeURIComponent(TOKEN), Buffer.from(TOKEN).toString("hex"), TOKEN.slice(9)])
      expect(shown).not.toContain(form);
    for (const before of ["", "u:", "me:"])
      expect(shown).not.toContain(
        Buffer.from(before + TOKEN)
          .toString("base64")
          .slice(5, 25),
      );
  }

  test("replaces a value in pipes, in every variant, on both streams", async () => {
    const { stdout, stderr, status } = await run("forms");
    expectNoValue(stdout + stderr);
    expect(stdout.split("[TOKEN]").length).toBe(10);
    expect({ stderr, status }).toEqual({ stderr: "error: [TOKEN]\n", status: 0 });
  });

  test("replaces a value on a terminal, in every variant, and byte by byte in both", async () => {
    await using project = await createScripts();
    for (const script of ["forms", "slowly"]) {
      const { shown, status } = await runOnTerminal(project, script, [], () => {});
      expectNoValue(shown);
      expect(shown).toContain("[TOKEN]");
      expect(status).toBe(0);
    }
    // While rt waits for the rest, it may print the public prefix of the value and two letters.
    expect((await run("slowly")).stdout).toMatch(/^(?:g(?:h(?:p(?:_(?:A1?)?)?)?)?)?\[TOKEN\]\n$/);
  });

  test("prints an incomplete value in full at the end", async () => {
    await using project = await createScripts();
    const begun = `it began ${TOKEN.slice(0, 12)}`;
    expect(await run("half")).toEqual({ stdout: begun, stderr: "", status: 0 });
    expect((await runOnTerminal(project, "half", [], () => {})).shown).toBe(begun);
  });

  test("keeps the order of standard output and error in one file", async () => {
    await using project = await createScripts();
    const { stdout } = await runRt({
      program: ["sh", "-c", `${RT} --silent run both 2>&1`],
      cwd: project.path,
      env: environment(),
    });
    expect(stdout).toBe([1, 2, 3, 4, 5].map((i) => `out ${i} [TOKEN]\nerr ${i} [TOKEN]\n`).join(""));
  });

  test("keeps each stream a terminal or a file when only some are a terminal", async () => {
    await using project = await createScripts();
    const command = (line: string) =>
      startOnTerminal(["sh", "-c", line], environment(), { cwd: project.path, isSessionLeader: true });
    const rt = `${RT} --silent run`;
    const cases = [
      [`${rt} places > out; cat out`, "terminal 0\r\nterminal 2\r\n[TOKEN]\r\n[TOKEN]\r\n"],
      [`${rt} places 2> err; cat err`, "[TOKEN]\r\nterminal 0\r\nterminal 1\r\n[TOKEN]\r\n"],
      [`${rt} places < /dev/null`, "terminal 1\r\nterminal 2\r\n[TOKEN]\r\n[TOKEN]\r\n"],
      [`${rt} places > both 2>&1; cat both`, "terminal 0\r\n[TOKEN]\r\n[TOKEN]\r\n"],
    ] as const;
    for (const [line, expected] of cases) {
      await using terminal = command(line);
      await terminal.awaitClose();
      expect({ line, shown: terminal.shown }).toEqual({ line, shown: expected });
    }
    await using terminal = command(`echo piped $TOKEN | ${rt} keys`);
    terminal.type("typed\n");
    await terminal.awaitClose();
    expect(terminal.shown).toContain("got typed\r\npiped [TOKEN]\r\n");
  });

  test("shows a prompt that could be the start of a value", async () => {
    await using project = await createScripts();
    await using terminal = start(project, "letter");
    await terminal.awaitOutput("continue? gh");
    terminal.type("yes\n");
    await terminal.awaitOutput("yes\r\nyes\r\n");
    expect(await terminal.awaitExit()).toBe(0);
  });

  test("applies to code that rt runs with --secret", async () => {
    await using project = await createProject({
      "show.ts": "console.log(process.env.TOKEN)",
      "rtfig.toml": RTFIG,
    });
    for (const args of [
      ["--secret=TOKEN", "show.ts"],
      ["--secret=TOKEN", "-p", "process.env.TOKEN"],
    ]) {
      const { stdout, stderr, status } = await runRt({ args, cwd: project.path, env: environment() });
      expect({ args, stdout, stderr, status }).toEqual({ args, stdout: "[TOKEN]\n", stderr: "", status: 0 });
    }
  });

  test("stops with --no-redact or redact = false: rt becomes the script", async () => {
    await using project = await createScripts();
    const spawn = (options: readonly string[]) =>
      startRt({ args: ["--silent", "run", ...options, "pid"], cwd: project.path, env: environment() });
    const direct = spawn(["--no-redact"]);
    expect(await new Response(direct.stdout).text()).toBe(`${direct.pid}\n`);
    const redacted = spawn([]);
    expect(await new Response(redacted.stdout).text()).not.toBe(`${redacted.pid}\n`);
    expect((await run("show", ["--no-redact"])).stdout).toBe(`${TOKEN}\n`);
    await project.write({ "rtfig.toml": RTFIG.replace("\n[run", "\nredact = false\n[run") });
    const shown = spawn([]);
    expect(await new Response(shown.stdout).text()).toBe(`${shown.pid}\n`);
  });

  test("applies to a hook without secrets, because it may print the script's", async () => {
    await using project = await createScripts();
    expect(await run("logged")).toEqual({
      stdout: "log [TOKEN]\nscript [TOKEN]\n",
      stderr: "log [TOKEN]\n",
      status: 0,
    });
    const { shown, status, isInDefaultMode } = await runOnTerminal(project, "logged", [], () => {});
    expect(shown).toBe(
      ["log [TOKEN]", "terminal 0", "terminal 1", "terminal 2", "script [TOKEN]", "log [TOKEN]", ""].join(
        "\r\n",
      ),
    );
    expect({ status, isInDefaultMode }).toEqual({ status: 0, isInDefaultMode: true });
  });

  test("warns about a value that is a common word or number", async () => {
    await using project = await createScripts();
    const show = async (TOKEN: string, options: readonly string[] = []) => {
      const args = ["--silent", "run", ...options, "show"];
      return await runRt({ args, cwd: project.path, env: environment({ TOKEN }) });
    };
    for (const commonValue of [
      "production",
      "LocalHost",
      "http://localhost:3000",
      "20260101",
      "2026-01-01",
      "xxxxxxxxx",
    ])
      expect(await show(commonValue)).toEqual({
        stdout: "[TOKEN]\n",
        stderr:
          "warning: The value of TOKEN is a common word or number; every occurrence in the output is shown as [TOKEN]\n" +
          "hint: if it is not secret, add to [secrets.TOKEN] of rtfig.toml: redact = false\n",
        status: 0,
      });
    for (const specificValue of ["production-7f3a", "93847561029384756", "http://localhost:3000/?key=a1b2c3"])
      expect(await show(specificValue)).toEqual({ stdout: "[TOKEN]\n", stderr: "", status: 0 });
    expect(await show("production", ["--no-redact"])).toEqual({
      stdout: "production\n",
      stderr: "",
      status: 0,
    });
  });

  test("rejects a value that is too short, before any script starts", async () => {
    await using project = await createScripts();
    const args = ["run", "short"];
    expect(await runRt({ args, cwd: project.path, env: environment({ TOKEN: "7654321" }) })).toEqual({
      stdout: "",
      stderr:
        "error: The value of TOKEN is too short to redact in the output: it has fewer than 8 characters\n" +
        "hint: use a longer value, or add to [secrets.TOKEN] of rtfig.toml: redact = false\n",
      status: 1,
    });
    const allowed = { args: ["--silent", "run", "--no-redact", "show"], cwd: project.path };
    expect((await runRt({ ...allowed, env: environment({ TOKEN: "7654321" }) })).stdout).toBe("7654321\n");
  });
});

describe.skipIf(process.platform === "win32").concurrent("a redacted script ends", () => {
  test("when its reader closes the pipe", async () => {
    await using project = await createScripts();
    const { stdout } = await runRt({
      program: ["bash", "-c", `${RT} --silent run lines | head -n 1; echo \${PIPESTATUS[0]}`],
      cwd: project.path,
      env: environment(),
    });
    expect(stdout).toBe("[TOKEN]\n141\n");
    // A script that ignores SIGPIPE succeeds.
    const patient = await runRt({
      program: ["bash", "-c", `${RT} --silent run patient | head -n 1; echo \${PIPESTATUS[0]}`],
      cwd: project.path,
      env: environment(),
    });
    expect(patient.stdout).toBe("[TOKEN]\n0\n");
  });

  test.skipIf(process.platform !== "linux")("as a failure when its output could not be written", async () => {
    await using project = await createScripts();
    const { stderr, status } = await runRt({
      program: ["bash", "-c", `${RT} --silent run show > /dev/full`],
      cwd: project.path,
      env: environment(),
    });
    expect(stderr).toContain("ENOSPC");
    expect(status).toBe(1);
  });

  test.skipIf(process.platform !== "linux")("at a signal when the reader has stopped reading", async () => {
    await using project = await createScripts();
    const pipe = project.join("pipe");
    Bun.spawnSync(["mkfifo", pipe]);
    const reader = await open(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const rt = startRt({
      program: ["sh", "-c", `exec ${RT} --silent run much > pipe`],
      cwd: project.path,
      env: environment(),
    });
    await waitUntil(async () => await Bun.file(project.join("ended")).exists());
    const script = (await Bun.file(project.join("ended")).text()).trim();
    // rt has reaped the script when its process is gone.
    await waitUntil(() => !existsSync(`/proc/${script}`));
    rt.kill("SIGTERM");
    await rt.exited;
    await reader.close();
    expect(rt.exitCode).toBe(0);
  });

  test("when its terminal closes", async () => {
    await using project = await createScripts();
    for (const script of ["wait", "unheard"]) {
      const mark = createMark();
      await using terminal = start(project, script, [], mark.env);
      await terminal.awaitOutput("ready");
      terminal.hangUp();
      await waitUntil(() => mark.find().length === 0);
    }
  });

  test("keeping its exit code or signal in pipes", async () => {
    await using project = await createScripts();
    const end = (script: string) =>
      runRt({ args: ["--silent", "run", script], cwd: project.path, env: environment() });
    expect((await end("segv")).status).toBe("SIGSEGV");
    expect((await end("modes")).status).toBe(3);
    expect((await end("code")).status).toBe(203);
    const waiting = startRt({ args: ["--silent", "run", "trap"], cwd: project.path, env: environment() });
    const reader = waiting.stdout.getReader();
    await reader.read();
    waiting.kill("SIGTERM");
    expect(await waiting.exited).toBe(5);
    // A script that handles a signal and succeeds still ends the run.
    const first = startRt({ args: ["--silent", "run", "later"], cwd: project.path, env: environment() });
    const output = first.stdout.getReader();
    await output.read();
    first.kill("SIGTERM");
    await first.exited;
    expect(first.signalCode).toBe("SIGTERM");
    expect(await output.read()).toMatchObject({ done: true });
  });
});

test.skipIf(process.platform !== "linux")(
  "a redacted script does not start without a pseudo-terminal",
  async () => {
    await using project = await createScripts();
    const none = 'mount --bind /dev/null /dev/ptmx && exec "$@"';
    const command = ["unshare", "-Urm", "bash", "-c", none, "bash", RT, "--silent", "run", "much"];
    await using terminal = startOnTerminal(command, environment(), {
      cwd: project.path,
      isSessionLeader: true,
    });
    await terminal.awaitOutput('error: Cannot run the script "much": EMFILE\r\n');
    expect(await terminal.awaitExit()).toBe(126);
    expect(existsSync(project.join("ended"))).toBe(false);
  },
);

test("chooseStdioStrategy() depends on the terminals and on redaction", () => {
  const [yes, no] = [true, false];
  const choose = (isTerminal: [boolean, boolean, boolean], others = {}) => {
    const all = { hasRedacted: true, isTerminal, isJoined: false, hasTerminals: true, ...others };
    return Object.values(chooseStdioStrategy(all)).flat().join(" ");
  };
  expect(choose([yes, yes, yes])).toBe("pty terminal terminal terminal");
  expect(choose([no, yes, yes])).toBe("pty own terminal terminal");
  expect(choose([yes, no, yes])).toBe("pty terminal pipe terminal");
  expect(choose([yes, yes, no])).toBe("pty terminal terminal pipe");
  expect(choose([yes, no, no])).toBe("pipes own pipe pipe");
  expect(choose([no, no, no], { isJoined: true })).toBe("pipes own pipe joined");
  expect(choose([yes, yes, yes], { hasRedacted: false })).toBe("exec");
  expect(choose([yes, yes, yes], { hasTerminals: false })).toBe("exec");
  expect(choose([yes, no, no], { hasTerminals: false })).toBe("pipes own pipe pipe");
});
