// Compares whole processes that the front starts with those that it leaves alone (RT_FRONT=off): what the program sees, prints
// and returns.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, type Environment, RT, startRt } from "../support/rt.ts";
import { resultOf } from "../support/output.ts";
import manifest from "../../package.json";

/** Prints what a program can find out about its process. */
const PROBE = `
const { readFileSync, readdirSync, readlinkSync } = require("node:fs");
const { spawnSync, fork } = require("node:child_process");
const show = (name: string, value: unknown) => console.log(name, JSON.stringify(value));
const entries = () => Object.entries(process.env).filter(([name]) => name !== "RT_FRONT");
show("argv", process.argv);
show("rest", [process.argv0, process.execArgv, process.execPath, process.title, process.cwd(), process.umask(), Bun.main]);
show("env", entries());
show("types", [typeof rt.secrets.get, typeof require, Object.keys(require("rt")), Bun.isMainThread]);
const status = readFileSync("/proc/self/status", "utf8");
show("signals", status.match(/^Sig(?:Blk|Ign|Cgt):.*$/gm));
show("limits", readFileSync("/proc/self/limits", "utf8").split("\\n"));
const links = (place: string) => readdirSync(place).flatMap((each) => {
  try { return [[each, readlinkSync(place + each).replace(/\\[\\d+\\]/, "")]]; } catch { return []; }
});
show("descriptors", links("/proc/self/fd/").filter(([each, link]) => Number(each) < 3 || link.startsWith("/proc/")));
const SEE = "tr '\\\\0' '\\\\n' < /proc/self/environ; ls -l /proc/self/fd | grep -o '[0-9]* -> .*' | grep -v /proc | sed 's/[[][0-9]*[]]//'; grep -E 'Sig(Blk|Ign)' /proc/self/status";
const hide = (text: string) => text.replace(/RT_FRONT=\\w+\\n/, "");
show("child", hide(spawnSync("sh", ["-c", SEE]).stdout + ""));
show("bun child", hide(Bun.spawnSync(["sh", "-c", SEE]).stdout + ""));
show("shell", hide(await Bun.$\`sh -c \${"env | sort"}\`.text()));
show("again", spawnSync(process.execPath, ["-p", "process.argv.length + JSON.stringify(process.execArgv)"]).stdout + "");
const worker = new Worker("data:text/javascript,postMessage([typeof rt.CSRF, process.execArgv, process.env.RT_BECAME, process.env.BUN_BE_BUN, Object.keys(process.env).length - 1])");
worker.onmessage = ({ data }) => { show("worker", data); worker.terminate(); };
`;

/** Milliseconds; each probe starts six programs. */
const LONG = 60_000;

const ENDS: Readonly<Record<string, string>> = {
  "throw.ts": 'console.log(1); throw new Error("thrown" as string);',
  "syntax.ts": "const = 1;",
  "exit.ts": "process.exit(7)",
  "reject.ts": 'Promise.reject(new TypeError("x"))',
  "signal.ts": 'process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)',
  "segv.ts": 'process.on("exit", () => console.log("bye")); process.exitCode = 3',
};

let project: Project;

beforeAll(async () => {
  project = await createProject({
    ...ENDS,
    "probe.ts": PROBE,
    "a.test.ts":
      'import { expect, test } from "bun:test"; test("the runtime exists", () => expect(typeof rt.secrets.get).toBe("function"));',
    "words.ts":
      'console.log(require("node:fs").readFileSync("/proc/self/cmdline", "latin1").split("\\0").slice(1, -1).join("|"))',
    ".env": "FROM_FILE=1\nRT_BECAME=1\nBUN_BE_BUN=1\nVSCODE_INSPECTOR_OPTIONS={}\n",
  });
});

afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

interface Start {
  readonly args: readonly string[];
  readonly env?: Environment;
  /** A shell command in front of rt, which becomes it. */
  readonly by?: string;
  readonly stdin?: string;
}

async function startBoth({ args, env, by, stdin }: Start) {
  const results = [];
  for (const RT_FRONT of ["on", "off"]) {
    const program = by === undefined ? [RT] : ["sh", "-c", `${by}; exec "$0" "$@"`, RT];
    const result = await resultOf(
      startRt({
        program,
        args,
        cwd: project.path,
        env: { ...env, RT_FRONT },
        ...(stdin === undefined ? {} : { stdin }),
      }),
    );
    // The runner's own durations, and addresses of a crash.
    results.push({ ...result, stderr: result.stderr.replaceAll(/\[?\d+(?:\.\d+)?ms\]?/g, "<time>") });
  }
  return results as [(typeof results)[0], (typeof results)[0]];
}

async function expectSame(start: Start): Promise<string> {
  const [front, without] = await startBoth(start);
  expect(front).toEqual(without);
  return front.stdout;
}

describe.skipIf(process.platform !== "linux")(
  "a process that the front starts is the same as without it",
  () => {
    const WAYS: ReadonlyArray<readonly [string, Start]> = [
      ["code of -e", { args: ["-e", PROBE, "a", "é b", ""] }],
      ["code of -p", { args: ["run", "--print", PROBE] }],
      ["code from standard input", { args: ["-", "--smol", "x"], stdin: PROBE }],
      ["code from standard input of run", { args: ["run", "-"], stdin: PROBE }],
      ["a file after an option", { args: ["--smol", "probe.ts", "--", "a"] }],
      ["a file after options", { args: ["--expose-gc", "--no-deprecation", "./probe.ts", "--smol"] }],
      ["a test", { args: ["test"] }],
      ["a test that is missing", { args: ["test", "absent"] }],
      ["the version", { args: ["--version"] }],
      ["the revision", { args: ["--revision"] }],
    ];
    /** The first ones run the probe. */
    const PROBES = 6;
    const ENVIRONMENTS: ReadonlyArray<readonly [string, Omit<Start, "args">]> = [
      [
        "an ordinary environment",
        { env: { NODE_ENV: "production", EMPTY: "", RT_AGE_KEY: "x", SHLVL: "3" } },
      ],
      [
        "inherited descriptors and ignored signals",
        { by: "trap '' PIPE XFSZ INT; exec 3</dev/null 7>/dev/null; ulimit -n 512" },
      ],
      ["an entry that occurs twice", { by: 'exec env TWICE=1 "$0" "$@"' }],
      ["almost no environment", { by: 'exec env -i RT_FRONT=$RT_FRONT HOME=/tmp PATH=$PATH "$0" "$@"' }],
      [
        "entries that are not UTF-8 or have no name",
        { by: 'exec env "BAD=$(printf "\\\\351")" =x "$0" "$@"' },
      ],
      ["a small stack", { by: "ulimit -s 512" }],
    ];
    for (const [index, [way, start]] of WAYS.entries()) {
      // The same code of the front passes the surroundings on for every way, so each way has one of them.
      const [surroundings, more] = ENVIRONMENTS[index % ENVIRONMENTS.length]!;
      test(
        `for ${way}, with ${surroundings}`,
        async () => {
          const output = await expectSame({ ...start, ...more });
          if (index < PROBES) expect(output).toContain('worker ["object"');
        },
        LONG,
      );
    }

    for (const name of Object.keys(ENDS))
      test(
        `for ${name}, in its exit code, its signal and its messages`,
        async () => {
          await expectSame({ args: ["--smol", name] });
          await expectSame({ args: ["-e", ENDS[name]!] });
          await expectSame({ args: ["run", "-"], stdin: ENDS[name]! });
        },
        LONG,
      );

    test(
      "for the words that rt refuses",
      async () => {
        for (const args of [
          ["-e"],
          ["--smol"],
          ["--smol", "absent.ts"],
          ["-e", "1", "--absent"],
          ["-"],
          ["run", "-"],
          ["--version", "x"],
        ])
          await expectSame({ args });
      },
      LONG,
    );

    test("for standard output that is closed, full or without a reader", async () => {
      for (const by of ["exec >&-", "exec >/dev/full", "exec 1>/dev/null"])
        await expectSame({ args: ["--version"], by });
      const [front, without] = ["on", "off"].map((RT_FRONT) => {
        const line = 'set -o pipefail; "$0" --version | sleep 0; echo $?';
        return Bun.spawnSync(["bash", "-c", line, RT], {
          env: cleanEnvironment({ RT_FRONT }),
        }).stdout.toString();
      });
      expect(front).toBe(without);
    });

    test("when a signal ends it while it waits for its code", async () => {
      for (const RT_FRONT of ["on", "off"]) {
        const child = Bun.spawn([RT, "-"], {
          cwd: project.path,
          env: cleanEnvironment({ RT_FRONT }),
          stdin: "pipe",
        });
        child.kill("SIGTERM");
        await child.exited;
        expect(child.signalCode).toBe("SIGTERM");
      }
    });
  },
);

describe.skipIf(process.platform !== "linux")("the front starts the engine once for", () => {
  // The first command line of a process is kept if it does not start another program.
  const SHOWN =
    'require("node:fs").readFileSync("/proc/self/cmdline", "latin1").split("\\0").slice(1, -1).join("|")';
  test.each([
    [["-p", SHOWN], `-p|${SHOWN}`],
    [["--smol", "words.ts", "x"], "--smol|words.ts|x"],
  ])("%j", async (args, words) => {
    const [front, without] = await startBoth({ args });
    expect(front.stdout).toBe(`${words}\n`);
    expect(without.stdout).toStartWith("--config=/dev/null|--preload=data:");
  });

  test("standard input in a file, whose position it leaves", async () => {
    const descriptor = openSync(project.join("words.ts"), "r");
    const child = Bun.spawn([RT, "run", "-", "x"], {
      cwd: project.path,
      env: cleanEnvironment(),
      stdin: descriptor,
    });
    expect(await new Response(child.stdout).text()).toBe("run|-|x\n");
    closeSync(descriptor);
  });
});

test.skipIf(process.platform !== "linux")("the front prints the version without the engine", () => {
  const { stdout, stderr } = Bun.spawnSync(["strace", "-f", RT, "--version"], { stderr: "pipe" });
  expect(stdout.toString()).toBe(`${manifest.version}\n`);
  expect(stderr.toString()).not.toMatch(/clone|epoll|rtfig/);
});
