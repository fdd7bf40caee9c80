// A script that gets secrets, as a job of a shell: what stops and continues it, and what is left when one of those that stand
// between is killed. On Linux the kernel stops it, since a monitor stands between; where that cannot be started, and on
// macOS, rt does, as far as it can.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { createMark, waitUntil } from "../../support/processes.ts";
import { createProject, type Project } from "../../support/project.ts";
import { cleanEnvironment, RT } from "../../support/rt.ts";
import { startOnTerminal, type TerminalProgram } from "../../support/programs/terminal.ts";

const TOKEN = "ghp_A1b2C3d4E5f6/G7+h8";
const RTFIG = '[secrets.TOKEN]\nfrom = "com.acme/token"\n[run.secrets]\n"*" = ["TOKEN"]\n';
const WAITS = "while :; do sleep 0.01; done";

/** Puts something right before it stops, as editors do. */
const CAREFUL = `
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
    "careful.pl": CAREFUL,
    // The line that a shell shows of a job is the same, whatever stands between.
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
/** No file may have a byte, and so nothing can be started from memory. */
const UNMONITORED = ["bash", "-c", 'ulimit -f 0; export PS1="READY> "; exec "$0" "$@"', ...SHELL];
const HAS_MONITOR = process.platform === "linux";

interface Started {
  readonly project: Project;
  /**
   * Resolves when a program waits for a key. What it has shown does not say so, and a signal that comes in between is lost by
   * less and left lying by perl.
   */
  waits(program: string): Promise<void>;
}

type Use = (shell: TerminalProgram, started: Started) => Promise<void>;

async function inShell(use: Use, command: readonly string[] = SHELL, extra = {}): Promise<string> {
  await using project = await createScripts();
  Bun.spawnSync(["chmod", "+x", "go"], { cwd: project.path });
  const mark = createMark();
  const env = environment({ ...mark.env, ...extra });
  await using shell = startOnTerminal(command, env, { cwd: project.path, isInControl: true });
  await shell.shows("READY> ");
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

const WAYS = {
  "by the kernel": [HAS_MONITOR, SHELL],
  "by rt": [process.platform !== "win32", UNMONITORED],
} as const;

for (const [way, [isThere, command]] of Object.entries(WAYS))
  describe.skipIf(!isThere).concurrent(`stopped ${way}`, () => {
    const inThis = async (use: Use) => await inShell(use, command);
    test("Ctrl-Z stops it with the modes put back, fg continues it, and it is stopped again", async () => {
      const shown = await inThis(async (shell) => {
        shell.type(`${rt("trap")}\n`);
        await shell.shows("ready\r\n");
        for (const time of [1, 2]) {
          shell.type("\x1a");
          await shell.shows("Stopped", time);
          await shell.shows("READY> ", time + 1);
          shell.type("stty -a | grep -o ' icanon.* echo '; fg\n");
          await shell.shows(" icanon iexten echo ", time);
          await shell.shows("continued", time);
        }
        shell.type("\x03");
        await shell.shows("handled");
        await shell.shows("READY> ", 4);
        shell.type("echo status $?\n");
        await shell.shows("status 5");
      });
      expect(shown).toContain("^Z\r\n[1]+  Stopped");
    });

    test("with the modes that the shell has set, and what is typed in front of Ctrl-Z", async () => {
      const shown = await inThis(async (shell) => {
        shell.type(`stty intr ^B; ${rt("modes")}; stty intr ^C; echo d"on"e\n`);
        await shell.shows("\ndone");
        shell.type(`${rt("stay")}\n`);
        await shell.shows("up\r\n");
        if (way === "by rt") shell.type("typed\n\x1a");
        else {
          // A terminal forgets what was typed before the key and has not been read.
          shell.type("typed\n");
          await shell.shows("typed\r\n", 2);
          shell.type("\x1a");
        }
        await shell.shows("Stopped");
        shell.type("fg\n");
        await shell.shows("typed\r\n", 2);
        shell.type("\x04");
        await shell.shows("READY> ", 4);
      });
      expect(shown).toContain("intr = ^B;");
    });

    test.skipIf(process.platform !== "linux")("the program stands still, and not rt alone", async () => {
      await inThis(async (shell) => {
        shell.type(`${rt("pid")}\n`);
        const script = await pidShown(shell);
        shell.type("\x1a");
        await shell.shows("READY> ", 2);
        await waitUntil(() => stateOf(script) === "T");
        shell.type("fg\n");
        await waitUntil(() => stateOf(script) === "S");
        shell.type("\x04");
        await shell.shows("READY> ", 3);
      });
    });

    test("a size that the terminal was given while it stood still", async () => {
      await inThis(async (shell) => {
        shell.type(`${rt("size")}\n`);
        await shell.shows("24 80");
        shell.type("\x1a");
        await shell.shows("Stopped");
        await shell.shows("READY> ", 2);
        shell.resize(100, 30);
        shell.type("stty size; fg\n");
        await shell.shows("30 100", 2);
        shell.type("\x03");
        await shell.shows("READY> ", 3);
      });
    });

    test("one in the background writes as one line what is one, and gets the terminal by fg", async () => {
      const shown = await inThis(async (shell) => {
        shell.type(`${rt("both")} & wait; echo waited\n`);
        await shell.shows("\nwaited");
        shell.type(`${rt("read")} &\n`);
        await shell.shows("name: ");
        shell.type("fg\n");
        await shell.shows("run read\r\n");
        shell.type("me\n");
        await shell.shows("password: ");
        shell.type("\x1a");
        await shell.shows("Stopped");
        shell.type("bg\n");
        await shell.shows("run read &", 2);
        shell.type("fg\n");
        await shell.shows("run read\r\n", 3);
        shell.type("word\n");
        await shell.shows("\nword");
      });
      expect(shown).toContain("out 1 [TOKEN]\r\nerr 1 [TOKEN]\r\nout 2 [TOKEN]\r\n");
      expect(shown).not.toContain("\r\r");
      for (const line of ["hello me\r\npassword: ", "\r\nword\r\n"]) expect(shown).toContain(line);
    });

    test("Ctrl-C ends what waits for it as well", async () => {
      const shown = await inThis(async (shell) => {
        shell.type(`sh -c '${rt("stay")}; echo a"ft"er'; echo e"n"d $?\n`);
        await shell.shows("up\r\n");
        shell.type("ready\n");
        await shell.shows("ready\r\n", 2);
        shell.type("\x03");
        await shell.shows("READY> ", 2);
      });
      expect(shown).not.toContain("after");
    });

    test("a shell with jobs of its own stops them itself", async () => {
      await inThis(async (shell) => {
        shell.type(`${rt("nested")}\n`);
        await shell.shows("IN> ");
        shell.type('echo r"ead"y; cat\n');
        await shell.shows("ready\r\n");
        shell.type("up\n");
        await shell.shows("up\r\n", 2);
        shell.type("\x1a");
        await shell.shows("Stopped");
        await shell.shows("IN> ", 2);
        shell.type("fg\n");
        await shell.shows("cat\r\n", 3);
        shell.type("\x04");
        await shell.shows("IN> ", 3);
        shell.type("exit 9\n");
        await shell.shows("READY> ", 2);
      });
    });

    test("what comes behind it reads what is typed then, and a stop of its own is one of the job", async () => {
      await inThis(async (shell) => {
        shell.type(`${rt("read")}; echo n"e"xt; head -n 1 | rev\n`);
        await shell.shows("name: ");
        shell.type("me\n");
        await shell.shows("password: ");
        shell.type("word\n");
        await shell.shows("next\r\n");
        shell.type("abc\n");
        await shell.shows("cba");
        shell.type(`${rt("stops")}\n`);
        await shell.shows("Stopped");
        shell.type("fg\n");
        await shell.shows("went on");
      });
    });
  });

describe.skipIf(!HAS_MONITOR).concurrent("nobody can tell in a shell that rt stands between", () => {
  /** What the shell and the script show, through rt and with rt in nobody's way. */
  async function compare(use: Use, command?: readonly string[]): Promise<string> {
    const [through, direct] = await Promise.all([
      inShell(use, command, { BETWEEN: "" }),
      inShell(use, command, { BETWEEN: "--no-redact" }),
    ]);
    expect(through).toBe(direct);
    return through;
  }
  /** Of the shell, whose prompt comes back so many times. */
  const stop = async (shell: TerminalProgram, prompts: number) => {
    shell.type("\x1a");
    await shell.shows("Stopped", prompts - 1);
    await shell.shows("READY> ", prompts);
  };

  test("Ctrl-Z in vim, twice", async () => {
    await compare(async (shell) => {
      shell.type("./go vim\n");
      await shell.shows("line 22");
      await stop(shell, 2);
      shell.type("stty -a | grep -o ' icanon.* echo '; fg\n");
      await shell.shows("line 22", 2);
      await stop(shell, 3);
      shell.type("fg\n");
      await shell.shows("line 22", 3);
      shell.type(":q!\r");
      await shell.shows("READY> ", 4);
      shell.type("echo status $?\n");
      await shell.shows("status 0\r\nREADY> ");
    });
  });

  test("Ctrl-Z in less, which leaves its screen", async () => {
    const shown = await compare(async (shell, { waits }) => {
      shell.type("./go less\n");
      await shell.shows("numbers.txt");
      await waits("less ");
      await stop(shell, 2);
      shell.type("fg\n");
      await shell.shows("line 22", 2);
      shell.type("q");
      await shell.shows("READY> ", 3);
    });
    expect(shown.indexOf("\x1b[?1049l")).toBeLessThan(shown.indexOf("Stopped"));
  });

  test("a program that puts something right first, also as the child of a shell, with jobs or without", async () => {
    const drive =
      (script: string, ending: string): Use =>
      async (shell, { waits }) => {
        shell.type(`./go ${script}\n`);
        await shell.shows("ready\r\n");
        await waits("perl ");
        await stop(shell, 2);
        shell.type("fg\n");
        await shell.shows("drawn again");
        shell.type("line\n");
        await shell.shows(ending);
      };
    const alone = await compare(drive("careful", "got line\r\nREADY> "));
    // Not even with a shell that stands still at once: directly, that is a race.
    const behind = await inShell(drive("behind", "after 4\r\nREADY> "));
    for (const shown of [alone, behind]) expect(shown).toContain("^Zput right\r\n\r\n[1]+  Stopped");
    await compare(async (shell, { waits }) => {
      shell.type("./go shell\n");
      await shell.shows("ready\r\n");
      await waits("perl ");
      shell.type("\x1a");
      await shell.shows("drawn again");
      shell.type("line\n");
      await shell.shows("after 4\r\nREADY> ");
    });
  });

  test("a shell with jobs of its own, which is suspended itself", async () => {
    await compare(async (shell) => {
      shell.type("./go nested\n");
      await shell.shows("IN> ");
      shell.type('echo r"ead"y; cat\n');
      await shell.shows("ready\r\n");
      shell.type("up\n");
      await shell.shows("up\r\n", 2);
      shell.type("\x1a");
      await shell.shows("IN> ", 2);
      shell.type("suspend\n");
      await shell.shows("READY> ", 2);
      shell.type("fg\n");
      await shell.shows("IN> ", 3);
      shell.type("fg\n");
      await shell.shows("cat\r\n", 3);
      shell.type("down\n");
      await shell.shows("down\r\n", 2);
      shell.type("\x04");
      await shell.shows("IN> ", 4);
      shell.type("exit 9\n");
      await shell.shows("READY> ", 3);
      shell.type("echo status $?\n");
      await shell.shows("status 9\r\nREADY> ");
    });
  });

  test("a stop from outside, by either signal, and to rt", async () => {
    for (const [signal, whom] of [
      ["SIGSTOP", "script"],
      ["SIGTSTP", "script"],
      ["SIGTSTP", "job"],
    ] as const) {
      const shown = await inShell(async (shell) => {
        shell.type("./go pid & fg > /dev/null\n");
        const pid = await pidShown(shell);
        shell.type("up\n");
        await shell.shows("up\r\n", 2);
        process.kill(whom === "script" ? pid : parentOf(parentOf(pid)), signal);
        await shell.shows("READY> ", 2);
        shell.type("fg\n");
        await shell.shows("./go pid\r\n", 2);
        shell.type("down\n");
        await shell.shows("down\r\n", 2);
        shell.type("\x03");
        await shell.shows("READY> ", 3);
        shell.type("echo status $?\n");
        await shell.shows("status 130\r\n");
      });
      expect(shown).toContain("Stopped");
    }
  });

  test("an end while it stands still, and by Ctrl-C", async () => {
    for (const signal of ["TERM", "HUP"])
      await compare(async (shell) => {
        shell.type("./go stay\n");
        await shell.shows("up\r\n");
        await stop(shell, 2);
        shell.type(`kill -${signal} $(jobs -p); fg; echo status $?\n`);
        await shell.shows("status 1");
        await shell.shows("READY> ", 3);
      });
    await compare(async (shell) => {
      shell.type("./go trap\n");
      await shell.shows("ready\r\n");
      await stop(shell, 2);
      shell.type("fg\n");
      await shell.shows("continued");
      shell.type("\x03");
      await shell.shows("handled");
      await shell.shows("READY> ", 3);
      shell.type("echo status $?\n");
      await shell.shows("status 5\r\nREADY> ");
    });
  });

  test("a death while it stands still", async () => {
    await inShell(async (shell) => {
      shell.type("./go pid\n");
      const pid = await pidShown(shell);
      await stop(shell, 2);
      process.kill(pid, "SIGKILL");
      shell.type("fg\n");
      await shell.shows("Killed");
      await shell.shows("READY> ", 3);
      shell.type("echo status $?\n");
      await shell.shows("status 137\r\n");
    });
  });

  test("the signals that are blocked and ignored, its limits, what it has open, and a program that is not there", async () => {
    const shown = await compare(async (shell, { project }) => {
      await project.write({
        gone: "#!/nowhere/at/all\n",
        headless: Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, ...Array(9).fill(0), 2, 0]),
      });
      Bun.spawnSync(["chmod", "+x", "gone", "headless"], { cwd: project.path });
      shell.type(
        "ulimit -c 0; (trap '' CHLD USR2 INT; ./go state); ./go gone; echo status $?; ./go headless; echo status $?; ./go segv; echo status $?\n",
      );
      await shell.shows("status 139\r\nREADY> ");
    });
    expect(shown).toMatch(/SigIgn:\t0000000000000800\r\n/);
    expect(shown).toContain("status 127\r\n");
    expect(shown).toContain("status 126\r\n");
  });
});

/** Of the script that shows it; a dot stands behind it. */
async function pidShown(shell: TerminalProgram): Promise<number> {
  await shell.shows(".\r\n");
  return Number(/pid (\d+)\.\r/.exec(shell.shown)![1]);
}

describe.skipIf(!HAS_MONITOR).concurrent("of what stands between", () => {
  async function startDeaf(mark: ReturnType<typeof createMark>) {
    const project = await createScripts();
    const terminal = startOnTerminal([RT, "--silent", "run", "deaf"], environment(mark.env), {
      cwd: project.path,
      isInControl: true,
    });
    const script = await pidShown(terminal);
    return { project, terminal, script, monitor: parentOf(script) };
  }

  test("nothing is left when rt is killed, or the monitor, even of a script that heeds nothing", async () => {
    for (const whom of ["rt", "monitor"] as const) {
      const mark = createMark();
      const { project, terminal, script, monitor } = await startDeaf(mark);
      await using _ = project;
      await using started = terminal;
      expect(parentOf(monitor)).toBe(started.pid);
      process.kill(whom === "rt" ? started.pid : monitor, "SIGKILL");
      expect(await started.ends()).toBe("SIGKILL");
      await waitUntil(() => !existsSync(`/proc/${script}/exe`) && !existsSync(`/proc/${monitor}/exe`));
      await waitUntil(() => mark.find().length === 0);
    }
  });

  test("nothing is left when the terminal is closed while the script stands still", async () => {
    const mark = createMark();
    const left: number[] = [];
    await inShell(
      async (shell) => {
        shell.type("./go pid\n");
        const script = await pidShown(shell);
        left.push(script, parentOf(script));
        shell.type("\x1a");
        await shell.shows("READY> ", 2);
        shell.hangUp();
        await waitUntil(() => mark.find().length === 0);
        await waitUntil(() => left.every((pid) => !existsSync(`/proc/${pid}/exe`)));
      },
      SHELL,
      mark.env,
    );
  });

  test("the monitor knows nothing: no variable, no value among its words, nothing open, no core file", async () => {
    const mark = createMark();
    const { project, terminal, script, monitor } = await startDeaf(mark);
    await using _ = project;
    await using started = terminal;
    const read = (pid: number, name: string) => readFileSync(`/proc/${pid}/${name}`, "latin1");
    expect(read(script, "environ")).toContain(TOKEN);
    expect(read(monitor, "environ")).toMatch(/^\0+$/);
    expect(read(monitor, "cmdline")).toMatch(/^rt-monitor\0\d+\0\d+\0$/);
    expect(read(monitor, "comm")).toBe("rt-monitor\n");
    expect(read(monitor, "limits")).toMatch(/^Max core file size +0 +0 /m);
    expect(Bun.spawnSync(["ls", `/proc/${monitor}/fd`]).stdout.toString()).toBe("");
    started.kill("SIGKILL");
    await started.ends();
  });
});
