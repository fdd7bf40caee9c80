// Tests rt as process 1, as in a container without an init. The kernel drops signals that process 1 does not handle,
// so rt must not become the script.
import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { createProject, type Files } from "../../support/project.ts";
import { type Environment, RT, runRt, startRt } from "../../support/rt.ts";

const MAPPING = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
const NAMESPACE = ["unshare", ...MAPPING, "--fork", "--kill-child", "--pid"];
const SERVER = "echo up; exec sleep 60";
/** Ends each read, as bash runs no trap for a signal that arrives just before it reads. */
const WAIT = "while :; do read -r -t 0.2 line <&3; done";

describe.skipIf(process.platform !== "linux")("as process 1, rt ends at SIGTERM with", () => {
  for (const args of [
    ["run", "serve"],
    ["run", "sh", "-c", SERVER],
  ])
    test.concurrent(args.slice(0, 2).join(" "), async () => {
      await using project = await createProject({
        "package.json": { scripts: { serve: `sh -c '${SERVER}'` } },
      });
      const child = startRt({ program: [...NAMESPACE, RT], args, cwd: project.path });
      const { value } = await child.stdout.getReader().read();
      expect(new TextDecoder().decode(value)).toBe("up\n");
      const inner = Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
      process.kill(inner, "SIGTERM");
      expect(await child.exited).toBe(143);
    });
});

test.skipIf(process.platform !== "linux")(
  "as process 1, rt ignores an internal variable in .env",
  async () => {
    await using project = await createProject({
      ".env": "RT_BECAME=1\n",
      "bunfig.toml": 'preload = ["./evil.ts"]\n',
      "evil.ts": "console.log('evil')",
      "a.ts": "console.log('mine', typeof rt.secrets.get)",
    });
    const { stdout, status } = await runRt({
      program: [...NAMESPACE, RT],
      args: ["--smol", "a.ts"],
      cwd: project.path,
    });
    expect({ stdout, status }).toEqual({ stdout: "mine function\n", status: 0 });
  },
);

describe.skipIf(process.platform !== "linux")("as process 1, rt forwards to the program", () => {
  for (const signal of ["SIGQUIT", "SIGUSR1", "SIGUSR2"] as const)
    test.concurrent(signal, async () => {
      const handling = `trap 'echo got; exit 7' ${signal.slice(3)}; echo up; ${WAIT}`;
      await using project = await createProject({
        "serve.sh": handling,
        "package.json": { scripts: { serve: "mkfifo wait; exec bash serve.sh 3<>wait" } },
      });
      const child = startRt({ program: [...NAMESPACE, RT], args: ["run", "serve"], cwd: project.path });
      const reader = child.stdout.getReader();
      const { value } = await reader.read();
      expect(new TextDecoder().decode(value)).toBe("up\n");
      const inner = Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
      process.kill(inner, signal);
      expect(await child.exited).toBe(7);
    });
});

/** Starts rt as the first process of a container; the signals come from the process that created the container. */
async function startFirst(files: Files, args: readonly string[], env: Environment = {}) {
  const project = await createProject(files);
  const child = startRt({ program: [...NAMESPACE, "--mount-proc", RT], args, cwd: project.path, env });
  const reader = child.stdout.getReader();
  let printed = "";
  return {
    project,
    async prints(text: string) {
      while (!printed.includes(text)) {
        const { done, value } = await reader.read();
        if (done) break;
        printed += new TextDecoder().decode(value);
      }
      expect(printed).toContain(text);
    },
    async kill(signal: NodeJS.Signals) {
      process.kill(Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")), signal);
    },
    child,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await project[Symbol.asyncDispose]();
    },
  };
}

const scriptWith = (trap: string) => `trap '${trap}' TERM; mkfifo wait$$; exec 3<>wait$$; echo up; ${WAIT}`;

describe.skipIf(process.platform !== "linux").concurrent("as process 1, after SIGTERM, rt ends with", () => {
  const rows: [string, string, string[], number][] = [
    ["the script's exit code 0", "exit 0", ["run", "serve"], 0],
    ["the script's exit code 7", "exit 7", ["run", "serve"], 7],
    ["a program's exit code 0", "exit 0", ["run", "bash", "serve.sh"], 0],
    ["the script's exit code 0 with --watch", "exit 0", ["--watch", "run", "serve"], 0],
    ["the script's exit code 7 with --watch", "exit 7", ["--watch", "run", "serve"], 7],
    ["143 when the script dies of the signal", "trap - TERM; kill $$", ["run", "serve"], 143],
    [
      "143 when the script dies of the signal with --watch",
      "trap - TERM; kill $$",
      ["--watch", "run", "serve"],
      143,
    ],
    ["a file's exit code 0 with --watch", "", ["--watch", "serve.ts"], 0],
  ];
  for (const [name, trap, args, status] of rows)
    test(name, async () => {
      await using first = await startFirst(
        {
          "serve.sh": scriptWith(trap),
          "serve.ts":
            "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1e6); console.log('up')",
          "package.json": { scripts: { serve: "exec bash serve.sh" } },
        },
        args,
      );
      await first.prints("up\n");
      await first.kill("SIGTERM");
      expect(await first.child.exited).toBe(status);
    });

  test("143 when a hook handled the signal and the script did not start", async () => {
    await using first = await startFirst(
      {
        "wait.sh": scriptWith("exit 0"),
        "package.json": { scripts: { preserve: "exec bash wait.sh", serve: "echo not reached" } },
      },
      ["run", "serve"],
    );
    await first.prints("up\n");
    await first.kill("SIGTERM");
    expect(await first.child.exited).toBe(143);
  });
});

describe.skipIf(process.platform !== "linux").concurrent("as process 1, rt leaves no zombies of", () => {
  /** The grandchildren lose their parent and end; the script waits until the process table lacks them. */
  const ORPHANS = `
    for i in 1 2 3 4 5; do (bash -c 'exit 3' & echo $! >> orphans); done
    while for pid in $(cat orphans); do test -e /proc/$pid && break; done; do read -t 0.02 line <&3; done
    echo gone; exit 5`;
  for (const args of [
    ["run", "serve"],
    ["run", "bash", "serve.sh"],
    ["--watch", "run", "serve"],
    ["--parallel", "serve", "other"],
  ])
    test(args.join(" "), async () => {
      await using first = await startFirst(
        {
          "serve.sh": `mkfifo wait; exec 3<>wait; ${ORPHANS}`,
          "package.json": { scripts: { serve: "exec bash serve.sh", other: "true && true" } },
        },
        args,
      );
      await first.prints("gone\n");
      if (args[0] === "run") expect(await first.child.exited).toBe(5);
    });
});
