// Tests how a run of one script ends: with the exit code or the signal of the script.
import { describe, expect, test } from "bun:test";
import { createMark, waitUntil } from "../../support/processes.ts";
import { createProject } from "../../support/project.ts";
import { expectRt, RT, runRt, startRt } from "../../support/rt.ts";
import { type Row, testTranscripts } from "../../support/transcripts.ts";
import { packageWith as scripts } from "../../support/workspace.ts";

const CODES = [0, 1, 2, 3, 42, 126, 127, 128, 130, 255];

testTranscripts("the exit status", [
  ...CODES.flatMap((code): Row[] => [
    [
      `${code} is that of a script`,
      { files: scripts({ go: `exit ${code}` }), args: ["--silent", "go"], status: code },
    ],
    [
      `${code} is that of a script with a pre-hook`,
      { files: scripts({ prego: "true", go: `exit ${code}` }), args: ["--silent", "go"], status: code },
    ],
  ]),
  [
    "is that of a program that is started without a shell",
    {
      files: { ...scripts({ go: "seven" }), "node_modules/.bin/seven": "#!/bin/sh\nexit 7\n" },
      executable: ["node_modules/.bin/seven"],
      args: ["--silent", "go"],
      status: 7,
    },
  ],
  [
    "is 127 for a command that does not exist",
    {
      files: scripts({ go: "no-such-command-here" }),
      args: ["--silent", "go"],
      status: 127,
      stderr: /no-such-command-here: command not found/,
    },
  ],
  [
    "is 126 for a command that is not executable",
    {
      files: { ...scripts({ go: "./data" }), data: "x" },
      args: ["--silent", "go"],
      status: 126,
      stderr: /Permission denied/,
    },
  ],
  [
    "is 126 for a directory as a command",
    {
      files: { ...scripts({ go: "./data" }), "data/x": "" },
      args: ["--silent", "go"],
      status: 126,
      stderr: /Is a directory/,
    },
  ],
  [
    "is 1 for a missing script",
    {
      files: scripts({ hello: "true" }),
      args: ["run", "helo"],
      status: 1,
      stderr: 'error: Script not found "helo"\nhint: did you mean "hello"?\n',
    },
  ],
  [
    "is 1 for an empty script",
    {
      files: scripts({ gone: "" }),
      args: ["run", "gone"],
      status: 1,
      stderr: /^error: Script not found "gone"\n/,
    },
  ],
  [
    "is 1 for a script that is not text",
    { files: scripts({ gone: ["a"] }), args: ["run", "gone"], status: 1, stderr: /^error: .*"gone"/ },
  ],
  [
    "is 0 for a missing script with --if-present",
    { files: scripts({}), args: ["--if-present", "run", "gone"] },
  ],
  [
    "is 0 for a missing script with run --if-present",
    { files: scripts({}), args: ["run", "--if-present", "gone"] },
  ],
  ["is 0 for a missing file with --if-present", { args: ["--if-present", "./gone.ts"] }],
  [
    "is 1 for a missing script without a package.json",
    { args: ["run", "gone"], status: 1, stderr: /^error: Script not found "gone"\n/ },
  ],
  [
    "is that of a failing script with --if-present",
    { files: scripts({ go: "exit 4" }), args: ["--if-present", "--silent", "run", "go"], status: 4 },
  ],
]);

describe.concurrent("a signal", () => {
  const shapes: Record<string, Record<string, string>> = {
    "of a script": { go: "kill -SIGNAL $$" },
    "of a script with a post-hook": { go: "kill -SIGNAL $$", postgo: "echo post" },
    "of a program": { go: "suicide SIGNAL" },
  };
  for (const [shape, entries] of Object.entries(shapes)) {
    for (const signal of ["TERM", "KILL", "HUP", "INT", "SEGV", "USR1", "PIPE", "ABRT"] as const) {
      test(`${signal} ${shape} ends rt, too`, async () => {
        const named = Object.fromEntries(
          Object.entries(entries).map(([name, line]) => [name, line.replace("SIGNAL", signal)]),
        );
        await expectRt({
          files: { ...scripts(named), "node_modules/.bin/suicide": "#!/bin/sh\nulimit -c 0\nkill -$1 $$\n" },
          executable: ["node_modules/.bin/suicide"],
          args: ["--silent", "go"],
          status: `SIG${signal}`,
        });
      });
    }
  }

  test.each(["TERM", "PIPE", "XFSZ"])("%s of one of several scripts ends rt, too", (signal) =>
    expectRt({
      files: scripts({ go: `ulimit -c 0; kill -${signal} $$`, other: "true" }),
      args: ["--silent", "--parallel", "run", "go", "other"],
      stderr: /Killed by SIG/,
      status: `SIG${signal}`,
    }),
  );

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    for (const [shape, entries] of Object.entries({
      "a script": { go: "echo ready; exec sleep 1000" },
      "a pre-hook": { prego: "echo ready; exec sleep 1000", go: "echo not reached" },
      "a script with a post-hook": { go: "echo ready; exec sleep 1000", postgo: "echo not reached" },
      "a program": { go: "waits" },
    })) {
      test(`${signal} sent to rt ends ${shape}`, async () => {
        await using project = await createProject(
          { ...scripts(entries), "node_modules/.bin/waits": "#!/bin/sh\necho ready\nexec sleep 1000\n" },
          ["node_modules/.bin/waits"],
        );
        const child = startRt({ args: ["--silent", "go"], cwd: project.path });
        const reader = child.stdout.getReader();
        expect(new TextDecoder().decode((await reader.read()).value)).toBe("ready\n");
        child.kill(signal);
        await child.exited;
        expect({ status: child.signalCode, rest: (await reader.read()).done }).toEqual({
          status: signal,
          rest: true,
        });
      });
    }
  }

  test("keeps a script running that handles it, and the script's exit code counts", async () => {
    await using project = await createProject(
      scripts({
        go: "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.05; done",
        prego: "true",
        postgo: "echo post",
      }),
    );
    const child = startRt({ args: ["--silent", "go"], cwd: project.path });
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill("SIGTERM");
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("bye\n");
    expect(await child.exited).toBe(9);
  });

  test("still stops the run when a script handles it with exit code 0", async () => {
    await using project = await createProject(
      scripts({ go: "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done", postgo: "echo post" }),
    );
    const child = startRt({ args: ["--silent", "go"], cwd: project.path });
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill("SIGTERM");
    await child.exited;
    expect({ status: child.signalCode, rest: (await reader.read()).done }).toEqual({
      status: "SIGTERM",
      rest: true,
    });
  });

  test("stays ignored in the script when a shell ignores it", async () => {
    await using project = await createProject(scripts({ go: "trap" }));
    const { stdout } = await runRt({
      program: ["bash", "-c", `trap '' HUP USR1; exec ${RT} --silent go`],
      cwd: project.path,
    });
    expect(
      stdout
        .split("\n")
        .map((line) => line.split(" ").at(-1))
        .filter(Boolean),
    ).toEqual(["SIGHUP", "SIGUSR1"]);
  });

  test("never ends a run with hooks when a shell ignores it", async () => {
    const go = "kill -s HUP $PPID; kill -s HUP $PPID; echo lives";
    await using project = await createProject(scripts({ go, postgo: "echo after" }));
    const program = ["bash", "-c", `trap '' HUP; exec ${RT} --silent go`];
    expect(await runRt({ program, cwd: project.path })).toEqual({
      stdout: "lives\nafter\n",
      stderr: "",
      status: 0,
    });
  });

  test("gets its default action back in a script when the engine had changed it", async () => {
    await using project = await createProject(
      {
        ...scripts({ direct: "signals", shell: "signals && true" }),
        "node_modules/.bin/signals": "#!/bin/sh\ngrep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status\n",
      },
      ["node_modules/.bin/signals"],
    );
    const expected = await runRt({
      program: ["bash", "-c", "exec grep -E 'Sig(Blk|Ign)' /proc/self/status"],
    });
    for (const script of ["direct", "shell"]) {
      const { stdout } = await runRt({ args: ["--silent", script], cwd: project.path });
      expect(stdout).toStartWith(expected.stdout);
    }
  });
});

describe.skipIf(process.platform !== "linux").concurrent("rt run --shell rt", () => {
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const)
    test(`ends the program of the script when rt gets ${signal}`, async () => {
      await using project = await createProject(scripts({ go: "echo up && sleep 1017" }));
      const mark = createMark();
      const child = startRt({ args: ["run", "--shell", "rt", "go"], cwd: project.path, env: mark.env });
      await child.stdout.getReader().read();
      await waitUntil(() => mark.find().some(({ command }) => command.includes("sleep 1017")));
      child.kill(signal);
      await child.exited;
      expect(child.signalCode).toBe(signal);
      await waitUntil(() => mark.find().length === 0);
    });

  test("ends with the exit code of the script", async () => {
    await using project = await createProject(scripts({ go: "sh -c 'exit 7'" }));
    const { status } = await runRt({ args: ["run", "--shell", "rt", "go"], cwd: project.path });
    expect(status).toBe(7);
  });
});
