// rt writes its own output once and completely: after text that another program appends, and to a pipe that does not block.
import { describe, expect, test } from "bun:test";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";

const LONG = "x".repeat(20_000);
const FILES = {
  "package.json": {
    scripts: Object.fromEntries(
      Array.from({ length: 200 }, (_, each) => [`script-${each}`, `echo ${each} ${each}`]),
    ),
  },
  "many/package.json": { scripts: { go: `echo ${LONG}`, pick: "true" } },
  "rtfig.toml": Array.from(
    { length: 200 },
    (_, each) => `[secrets.NAME_${each}]\nfrom = "com.acme.${"x".repeat(30)}/name-${each}"\n`,
  ).join(""),
};

/** Commands with more than 4,096 bytes of output, on standard output or error. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  "rt types": ["types"],
  "rt help caching": ["help", "caching"],
  "rt run": ["run"],
  "rt completions bash": ["completions", "bash"],
  "rt debug-config": ["debug-config"],
  "rt doctor": ["doctor"],
  "rt secrets list": ["secrets", "list"],
  "rt secrets env": ["secrets", "env"],
  "rt --help": ["--help"],
  "a script that rt answers": ["--cwd", "many", "run", "go"],
  "an unknown name": ["run", "nothing-of-that-name"],
};

/** Each of these commands writes its output by a different function. */
const ON_PIPES = ["rt types", "rt run", "rt secrets list"];

async function withProject(use: (project: Project) => Promise<void>): Promise<void> {
  await using project = await createProject(FILES);
  await use(project);
}

describe.skipIf(process.platform === "win32").concurrent("rt's own output", () => {
  for (const [title, args] of Object.entries(COMMANDS)) {
    test(`${title} writes after the text that another program has appended to the same file`, () =>
      withProject(async (project) => {
        const plain = await runRt({ args, cwd: project.path });
        await Bun.write(project.join("out"), "first\n");
        // The shell opens the file for appending; its position is still 0 when rt starts.
        const line = `exec >>out 2>&1; printf 'second\\n' >other; cat other >>out; "$@"; printf 'last\\n' >>out`;
        const program = ["sh", "-c", line, "sh", RT, ...args];
        await runRt({ program, cwd: project.path });
        const text = await Bun.file(project.join("out")).text();
        expect(text).not.toContain("\0");
        const lines = (all: string) => all.split("\n").filter(Boolean).toSorted();
        expect(text).toStartWith("first\nsecond\n");
        expect(text).toEndWith("last\n");
        expect(lines(text)).toEqual(lines(`first\nsecond\nlast\n${plain.stdout}\n${plain.stderr}`));
      }));

    if (process.platform !== "linux" || !ON_PIPES.includes(title)) continue;
    test(`${title} writes each byte once to a pipe that does not block`, () =>
      withProject(async (project) => {
        const plain = await runRt({ args, cwd: project.path });
        const child = Bun.spawn(["python3", "-c", SMALL_PIPE, RT, ...args], {
          cwd: project.path,
          env: cleanEnvironment(),
          stdout: "pipe",
        });
        expect(await new Response(child.stdout).text()).toBe(plain.stdout);
      }));
  }
});

/** Reads the program's standard output from a pipe of 4,096 bytes after the pipe became full. */
const SMALL_PIPE = `
import array, fcntl, os, subprocess, sys, termios, time
reader, writer = os.pipe()
fcntl.fcntl(writer, 1031, 4096)
os.set_blocking(writer, False)
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.DEVNULL)
os.close(writer)
count = array.array("i", [0])
while child.poll() is None and count[0] < 4096:
    fcntl.ioctl(reader, termios.FIONREAD, count)
    time.sleep(0.005)
while True:
    bytes = os.read(reader, 65536)
    if not bytes: break
    sys.stdout.buffer.write(bytes)
`;

test("rt colours the label of a message on a terminal, unless NO_COLOR is set", async () => {
  await using project = await createProject({ "package.json": "{}" });
  const shown = async (variables: Record<string, string>) => {
    const env = { ...cleanEnvironment(), ...variables };
    await using terminal = startOnTerminal([RT, "run", "absent"], env, { cwd: project.path });
    await terminal.awaitOutput('Script not found "absent"');
    return terminal.shown;
  };
  expect(await shown({ TERM: "xterm" })).toStartWith("\x1b[31merror:\x1b[39m Script");
  expect(await shown({ TERM: "xterm", NO_COLOR: "1" })).toStartWith("error: Script");
});
