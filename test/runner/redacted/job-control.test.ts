// Tests job control of a redacted script: stop, continue, and cleanup after rt or the monitor was killed. On Linux rt
// starts a monitor process, so the kernel stops the job. On macOS, and when the monitor cannot start, rt stops it.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { createMark, waitUntil } from "../../support/processes.ts";
import { createProject, type Project } from "../../support/project.ts";
import { cleanEnvironment, RT } from "../../support/rt.ts";
import { startOnTerminal, type TerminalProgram } from "../../support/programs/terminal.ts";

const TOKEN = "ghp_A1b2C3d4E5f6/G7+h8";
const RTFIG = '[secrets.TOKEN]\nfrom = "com.acme/token"\n[run.secrets]\n"*" = ["TOKEN"]\n';
const WAITS = "while :; do sleep 0.05; done";

/** Restores the terminal before it stops, like an editor. */
const HANDLES_STOP = `
use POSIX;
$| = 1;
sub halt {
  print "put right\\n";
  local $SIG{TSTP} = "DEFAULT";
  kill TSTP => $$;
  sigprocmask(SIG_UNBLOCK, POSIX::SigSet->new(SIGTSTP)); # blocked by perl in a handler
  print "drawn again\\n";
}
$SIG{TSTP} = \\&halt;
print "ready\\n";
my $line = <STDIN>;
print "got $line";
exit 4;
`;

const SCRIPTS = {
  modes: "stty -a",
  read: 'read -p "name: " -r name; echo "hello $name"; read -s -p "password: " word; echo; echo "$word"',
  size: `trap 'stty size' WINCH; trap 'exit 6' INT; stty size; ${WAITS}`,
  stay: "echo up; exec cat",
  both: "for i in 1 2 3 4 5; do echo out $i $TOKEN; echo err $i $TOKEN >&2; done",
  trap: `trap 'echo handled; exit 5' INT TERM; trap 'echo continued' CONT; echo ready; ${WAITS}`,
  stops: "kill -STOP $$; echo went on",
  less: "less numbers.txt",
  vim: "vim -u NONE -N -i NONE -n numbers.txt",
  careful: "perl careful.pl",
  behind: "perl careful.pl; echo after $?",
  nested: "PS1='IN> ' bash --norc --noprofile -i",
  shell: "set -m; perl careful.pl; echo back $?; fg; echo after $?",
  pid: "echo pid $$.; exec cat",
  deaf: `trap '' HUP INT TERM; echo pid $$.; ${WAITS}`,
  state: "grep -E 'Sig(Blk|Ign)' /proc/self/status; ulimit -c; echo $PPID | tr -d 0-9; ls /proc/self/fd",
  gone: "./gone",
  headless: "./headless",
  segv: "kill -SEGV $$",
};

const createScripts = async (): Promise<Project> =>
  await createProject({
    "package.json": { scripts: SCRIPTS },
    "rtfig.toml": RTFIG,
    "careful.pl": HANDLES_STOP,
    // Makes the shell print the same job line in each mode.
    go: `#!/bin/sh\nexec ${RT} --silent run $BETWEEN "$@"\n`,
    inputrc: "set enable-bracketed-paste off\n",
    "numbers.txt": Array.from({ length: 200 }, (_, line) => `line ${line}\n`).join(""),
  });

const environment = (extra = {}) =>
  cleanEnvironment({
    TOKEN,
    TERM: "xterm",
    PS1: "READY> ",
    NO_COLOR: "1",
    HISTFILE: "/dev/null",
    INPUTRC: "inputrc",
    ...extra,
  });

const SHELL = ["bash", "--norc", "--noprofile", "-i"];
/** No file can have a byte, so rt cannot start the monitor from memory. */
const UNMONITORED = ["bash", "-c", 'ulimit -f 0; export PS1="READY> "; exec "$0" "$@"', ...SHELL];
const HAS_MONITOR = process.platform === "linux";

interface Session {
  readonly project: Project;
  /**
   * Resolves when a program waits for a key. Its output does not show that, and an earlier signal gets lost in less
   * and pending in perl.
   */
  waits(program: string): Promise<void>;
}

type Interaction = (shell: TerminalProgram, session: Session) => Promise<void>;

async function inShell(use: Interaction, command: readonly string[] = SHELL, extra = {}): Promise<string> {
  await using project = await createScripts();
  Bun.spawnSync(["chmod", "+x", "go"], { cwd: project.path });
  const mark = createMark();
  const env = environment({ ...mark.env, ...extra });
  await using shell = startOnTerminal(command, env, { cwd: project.path, isSessionLeader: true });
  await shell.awaitOutput("READY> ");
  const waits = (program: string) =>
    waitUntil(() =>
      mark.find().some(({ pid, command }) => command.startsWith(program) && stateOf(pid) === "S"),
    );
  await use(shell, { project, waits });
  return shell.shown;
}

const statOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
const stateOf = (pid: number) => statOf(pid)[0];
const parentOf = (pid: number) => Number(statOf(pid)[1]);

const rt = (script: string) => `${RT} --silent run ${script}`;

const STOPPED_BY = {
  "by the kernel": [HAS_MONITOR, SHELL],
  "by rt": [process.platform !== "win32", UNMONITORED],
} as const;

for (const [stoppedBy, [isSupported, command]] of Object.entries(STOPPED_BY))
  describe.skipIf(!isSupported).concurrent(`a redacted job that is stopped ${stoppedBy}`, () => {
    const inThisShell = async (use: Interaction) => await inShell(use, command);
    test("restores the terminal's modes at Ctrl-Z, continues at fg, and stops again", async () => {
      const shown = await inThisShell(async (shell) => {
        shell.type(`${rt("trap")}\n`);
        await shell.awaitOutput("ready\r\n");
        for (const time of [1, 2]) {
          shell.type("\x1a");
          await shell.awaitOutput("Stopped", time);
          await shell.awaitOutput("READY> ", time + 1);
          shell.type("stty -a | grep -o ' icanon.* echo '; fg\n");
          await shell.awaitOutput(" icanon iexten echo ", time);
          await shell.awaitOutput("continued", time);
        }
        shell.type("\x03");
        await shell.awaitOutput("handled");
        await shell.awaitOutput("READY> ", 4);
        shell.type("echo status $?\n");
        await shell.awaitOutput("status 5");
      });
      expect(shown).toContain("^Z\r\n[1]+  Stopped");
    });

    test("keeps the shell's modes and the input before Ctrl-Z", async () => {
      const shown = await inThisShell(async (shell) => {
        shell.type(`stty intr ^B; ${rt("modes")}; stty intr ^C; echo d"on"e\n`);
        await shell.awaitOutput("\ndone");
        await shell.awaitOutput("READY> ", 2);
        shell.type(`${rt("stay")}\n`);
        await shell.awaitOutput("up\r\n");
        if (stoppedBy === "by rt") shell.type("typed\n\x1a");
        else {
          // Ctrl-Z discards unread input in a terminal.
          shell.type("typed\n");
          await shell.awaitOutput("typed\r\n", 2);
          shell.type("\x1a");
        }
        await shell.awaitOutput("Stopped");
        await shell.awaitOutput("READY> ", 3);
        shell.type("fg\n");
        await shell.awaitOutput("run stay\r\n", 3);
        // Before rt takes the terminal back, Ctrl-D would end a line of the terminal instead of the script's input.
        await waitUntil(() => !shell.isInDefaultMode);
        await shell.awaitOutput("typed\r\n", 2);
        shell.type("\x04");
        await shell.awaitOutput("READY> ", 4);
      });
      expect(shown).toContain("intr = ^B;");
    });

    test.skipIf(process.platform !== "linux")("stops as a program, not only as rt", async () => {
      await inThisShell(async (shell) => {
        shell.type(`${rt("pid")}\n`);
        const script = await pidShown(shell);
        shell.type("\x1a");
        await shell.awaitOutput("READY> ", 2);
        await waitUntil(() => stateOf(script) === "T");
        shell.type("fg\n");
        await waitUntil(() => stateOf(script) === "S");
        shell.type("\x04");
        await shell.awaitOutput("READY> ", 3);
      });
    });

    test("gets a size that changed while it was stopped", async () => {
      await inThisShell(async (shell) => {
        shell.type(`${rt("size")}\n`);
        await shell.awaitOutput("24 80");
        shell.type("\x1a");
        await shell.awaitOutput("Stopped");
        await shell.awaitOutput("READY> ", 2);
        shell.resize(100, 30);
        shell.type("stty size; fg\n");
        await shell.awaitOutput("30 100", 2);
        shell.type("\x03");
        await shell.awaitOutput("READY> ", 3);
      });
    });

    test("writes whole lines in the background, and gets the terminal at fg", async () => {
      const shown = await inThisShell(async (shell) => {
        shell.type(`${rt("both")} & wait; echo waited\n`);
        await shell.awaitOutput("\nwaited");
        shell.type(`${rt("read")} &\n`);
        await shell.awaitOutput("name: ");
        shell.type("fg\n");
        await shell.awaitOutput("run read\r\n");
        await waitUntil(() => !shell.isInDefaultMode);
        shell.type("me\n");
        await shell.awaitOutput("password: ");
        shell.type("\x1a");
        await shell.awaitOutput("Stopped");
        shell.type("bg\n");
        await shell.awaitOutput("run read &", 2);
        shell.type("fg\n");
        await shell.awaitOutput("run read\r\n", 3);
        await waitUntil(() => !shell.isInDefaultMode);
        shell.type("word\n");
        await shell.awaitOutput("\nword");
      });
      expect(shown).toContain("out 1 [TOKEN]\r\nerr 1 [TOKEN]\r\nout 2 [TOKEN]\r\n");
      expect(shown).not.toContain("\r\r");
      for (const line of ["hello me\r\npassword: ", "\r\nword\r\n"]) expect(shown).toContain(line);
    });

    test("ends at Ctrl-C with the command that waits for it", async () => {
      const shown = await inThisShell(async (shell) => {
        shell.type(`sh -c '${rt("stay")}; echo a"ft"er'; echo e"n"d $?\n`);
        await shell.awaitOutput("up\r\n");
        shell.type("ready\n");
        await shell.awaitOutput("ready\r\n", 2);
        shell.type("\x03");
        await shell.awaitOutput("READY> ", 2);
      });
      expect(shown).not.toContain("after");
    });

    test("stops its own jobs if it is a shell with job control", async () => {
      await inThisShell(async (shell) => {
        shell.type(`${rt("nested")}\n`);
        await shell.awaitOutput("IN> ");
        shell.type('echo r"ead"y; cat\n');
        await shell.awaitOutput("ready\r\n");
        shell.type("up\n");
        await shell.awaitOutput("up\r\n", 2);
        shell.type("\x1a");
        await shell.awaitOutput("Stopped");
        await shell.awaitOutput("IN> ", 2);
        shell.type("fg\n");
        await shell.awaitOutput("cat\r\n", 3);
        shell.type("\x04");
        await shell.awaitOutput("IN> ", 3);
        shell.type("exit 9\n");
        await shell.awaitOutput("READY> ", 2);
      });
    });

    test("leaves later input to the next command, and stops when the script stops itself", async () => {
      await inThisShell(async (shell) => {
        shell.type(`${rt("read")}; echo n"e"xt; head -n 1 | rev\n`);
        await shell.awaitOutput("name: ");
        shell.type("me\n");
        await shell.awaitOutput("password: ");
        shell.type("word\n");
        await shell.awaitOutput("next\r\n");
        shell.type("abc\n");
        await shell.awaitOutput("cba");
        shell.type(`${rt("stops")}\n`);
        await shell.awaitOutput("Stopped");
        shell.type("fg\n");
        await shell.awaitOutput("went on");
      });
    });
  });

describe
  .skipIf(!HAS_MONITOR)
  .concurrent("a redacted script in a shell behaves like the unredacted script:", () => {
    /** Returns the output of shell and script, which is the same with and without redaction. */
    async function compare(use: Interaction, command?: readonly string[]): Promise<string> {
      const [through, direct] = await Promise.all([
        inShell(use, command, { BETWEEN: "" }),
        inShell(use, command, { BETWEEN: "--no-redact" }),
      ]);
      expect(through).toBe(direct);
      return through;
    }
    /** Stops the job and waits for the given number of prompts. */
    const stop = async (shell: TerminalProgram, prompts: number) => {
      shell.type("\x1a");
      await shell.awaitOutput("Stopped", prompts - 1);
      await shell.awaitOutput("READY> ", prompts);
    };

    test("Ctrl-Z in vim, twice", async () => {
      await compare(async (shell) => {
        shell.type("./go vim\n");
        await shell.awaitOutput("line 22");
        await stop(shell, 2);
        shell.type("stty -a | grep -o ' icanon.* echo '; fg\n");
        await shell.awaitOutput("line 22", 2);
        await stop(shell, 3);
        shell.type("fg\n");
        await shell.awaitOutput("line 22", 3);
        shell.type(":q!\r");
        await shell.awaitOutput("READY> ", 4);
        shell.type("echo status $?\n");
        await shell.awaitOutput("status 0\r\nREADY> ");
      });
    });

    test("Ctrl-Z in less, which restores its screen", async () => {
      const shown = await compare(async (shell, { waits }) => {
        shell.type("./go less\n");
        await shell.awaitOutput("numbers.txt");
        await waits("less ");
        await stop(shell, 2);
        shell.type("fg\n");
        await shell.awaitOutput("line 22", 2);
        shell.type("q");
        await shell.awaitOutput("READY> ", 3);
      });
      expect(shown.indexOf("\x1b[?1049l")).toBeLessThan(shown.indexOf("Stopped"));
    });

    test("a program that handles the stop signal, also as the child of a shell, with and without job control", async () => {
      const drive =
        (script: string, ending: string): Interaction =>
        async (shell, { waits }) => {
          shell.type(`./go ${script}\n`);
          await shell.awaitOutput("ready\r\n");
          await waits("perl ");
          await stop(shell, 2);
          shell.type("fg\n");
          await shell.awaitOutput("drawn again");
          shell.type("line\n");
          await shell.awaitOutput(ending);
        };
      const alone = await compare(drive("careful", "got line\r\nREADY> "));
      // Not compared: a shell that stops at once is a race without rt.
      const behind = await inShell(drive("behind", "after 4\r\nREADY> "));
      for (const shown of [alone, behind]) expect(shown).toContain("^Zput right\r\n\r\n[1]+  Stopped");
      await compare(async (shell, { waits }) => {
        shell.type("./go shell\n");
        await shell.awaitOutput("ready\r\n");
        await waits("perl ");
        shell.type("\x1a");
        await shell.awaitOutput("drawn again");
        shell.type("line\n");
        await shell.awaitOutput("after 4\r\nREADY> ");
      });
    });

    test("a shell with job control that suspends itself", async () => {
      await compare(async (shell) => {
        shell.type("./go nested\n");
        await shell.awaitOutput("IN> ");
        shell.type('echo r"ead"y; cat\n');
        await shell.awaitOutput("ready\r\n");
        shell.type("up\n");
        await shell.awaitOutput("up\r\n", 2);
        shell.type("\x1a");
        await shell.awaitOutput("IN> ", 2);
        shell.type("suspend\n");
        await shell.awaitOutput("READY> ", 2);
        shell.type("fg\n");
        await shell.awaitOutput("IN> ", 3);
        shell.type("fg\n");
        await shell.awaitOutput("cat\r\n", 3);
        shell.type("down\n");
        await shell.awaitOutput("down\r\n", 2);
        shell.type("\x04");
        await shell.awaitOutput("IN> ", 4);
        shell.type("exit 9\n");
        await shell.awaitOutput("READY> ", 3);
        shell.type("echo status $?\n");
        await shell.awaitOutput("status 9\r\nREADY> ");
      });
    });

    test("SIGSTOP and SIGTSTP from another process, to the script and to rt", async () => {
      for (const [signal, target] of [
        ["SIGSTOP", "script"],
        ["SIGTSTP", "script"],
        ["SIGTSTP", "job"],
      ] as const) {
        const shown = await inShell(async (shell) => {
          shell.type("./go pid & fg > /dev/null\n");
          const pid = await pidShown(shell);
          shell.type("up\n");
          await shell.awaitOutput("up\r\n", 2);
          process.kill(target === "script" ? pid : parentOf(parentOf(pid)), signal);
          await shell.awaitOutput("READY> ", 2);
          shell.type("fg\n");
          await shell.awaitOutput("./go pid\r\n", 2);
          shell.type("down\n");
          await shell.awaitOutput("down\r\n", 2);
          shell.type("\x03");
          await shell.awaitOutput("READY> ", 3);
          shell.type("echo status $?\n");
          await shell.awaitOutput("status 130\r\n");
        });
        expect(shown).toContain("Stopped");
      }
    });

    test("TERM and HUP while it is stopped, and Ctrl-C after fg", async () => {
      for (const signal of ["TERM", "HUP"])
        await compare(async (shell) => {
          shell.type("./go stay\n");
          await shell.awaitOutput("up\r\n");
          await stop(shell, 2);
          shell.type(`kill -${signal} $(jobs -p); fg; echo status $?\n`);
          await shell.awaitOutput("status 1");
          await shell.awaitOutput("READY> ", 3);
        });
      await compare(async (shell) => {
        shell.type("./go trap\n");
        await shell.awaitOutput("ready\r\n");
        await stop(shell, 2);
        shell.type("fg\n");
        await shell.awaitOutput("continued");
        shell.type("\x03");
        await shell.awaitOutput("handled");
        await shell.awaitOutput("READY> ", 3);
        shell.type("echo status $?\n");
        await shell.awaitOutput("status 5\r\nREADY> ");
      });
    });

    test("SIGKILL while it is stopped", async () => {
      await inShell(async (shell) => {
        shell.type("./go pid\n");
        const pid = await pidShown(shell);
        await stop(shell, 2);
        process.kill(pid, "SIGKILL");
        shell.type("fg\n");
        await shell.awaitOutput("Killed");
        await shell.awaitOutput("READY> ", 3);
        shell.type("echo status $?\n");
        await shell.awaitOutput("status 137\r\n");
      });
    });

    test("signal masks, limits, descriptors, and a program that cannot start", async () => {
      const shown = await compare(async (shell, { project }) => {
        await project.write({
          gone: "#!/nowhere/at/all\n",
          headless: Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, ...Array(9).fill(0), 2, 0]),
        });
        Bun.spawnSync(["chmod", "+x", "gone", "headless"], { cwd: project.path });
        shell.type(
          "ulimit -c 0; (trap '' CHLD USR2 INT; ./go state); ./go gone; echo status $?; ./go headless; echo status $?; ./go segv; echo status $?\n",
        );
        await shell.awaitOutput("status 139\r\nREADY> ");
      });
      expect(shown).toMatch(/SigIgn:\t0000000000000800\r\n/);
      expect(shown).toContain("status 127\r\n");
      expect(shown).toContain("status 126\r\n");
    });
  });

/** Returns the process id that a script printed. */
async function pidShown(shell: TerminalProgram): Promise<number> {
  await shell.awaitOutput(".\r\n");
  return Number(/pid (\d+)\.\r/.exec(shell.shown)![1]);
}

describe.skipIf(!HAS_MONITOR).concurrent("the monitor of a redacted script", () => {
  async function startIgnoring(mark: ReturnType<typeof createMark>) {
    const project = await createScripts();
    const terminal = startOnTerminal([RT, "--silent", "run", "deaf"], environment(mark.env), {
      cwd: project.path,
      isSessionLeader: true,
    });
    const script = await pidShown(terminal);
    return { project, terminal, script, monitor: parentOf(script) };
  }

  test("ends with the script when rt or the monitor is killed, even if the script ignores signals", async () => {
    for (const target of ["rt", "monitor"] as const) {
      const mark = createMark();
      const { project, terminal, script, monitor } = await startIgnoring(mark);
      await using _ = project;
      await using session = terminal;
      expect(parentOf(monitor)).toBe(session.pid);
      process.kill(target === "rt" ? session.pid : monitor, "SIGKILL");
      expect(await session.awaitExit()).toBe("SIGKILL");
      await waitUntil(() => !existsSync(`/proc/${script}/exe`) && !existsSync(`/proc/${monitor}/exe`));
      await waitUntil(() => mark.find().length === 0);
    }
  });

  test("ends with the stopped script when the terminal is closed", async () => {
    const mark = createMark();
    const left: number[] = [];
    await inShell(
      async (shell) => {
        shell.type("./go pid\n");
        const script = await pidShown(shell);
        left.push(script, parentOf(script));
        shell.type("\x1a");
        await shell.awaitOutput("READY> ", 2);
        shell.hangUp();
        await waitUntil(() => mark.find().length === 0);
        await waitUntil(() => left.every((pid) => !existsSync(`/proc/${pid}/exe`)));
      },
      SHELL,
      mark.env,
    );
  });

  test("holds no variables, no secret in its arguments, no descriptors and no core file", async () => {
    const mark = createMark();
    const { project, terminal, script, monitor } = await startIgnoring(mark);
    await using _ = project;
    await using session = terminal;
    const read = (pid: number, name: string) => readFileSync(`/proc/${pid}/${name}`, "latin1");
    expect(read(script, "environ")).toContain(TOKEN);
    expect(read(monitor, "environ")).toMatch(/^\0+$/);
    expect(read(monitor, "cmdline")).toMatch(/^rt-monitor\0\d+\0\d+\0$/);
    expect(read(monitor, "comm")).toBe("rt-monitor\n");
    expect(read(monitor, "limits")).toMatch(/^Max core file size +0 +0 /m);
    expect(Bun.spawnSync(["ls", `/proc/${monitor}/fd`]).stdout.toString()).toBe("");
    session.kill("SIGKILL");
    await session.awaitExit();
  });
});
