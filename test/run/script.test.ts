// package.json scripts: what is printed, in which order things run, and how the run ends.
import { describe, expect, test } from "bun:test";
import { constants } from "node:os";
import { createProject } from "../support/project.ts";
import { expectRt, RT, runRt, startRt, type Transcript } from "../support/rt.ts";

const scripts = (entries: Record<string, unknown>, more: object = {}) => ({
  "package.json": { name: "project", version: "1.2.3", scripts: entries, ...more },
});

type Row = readonly [name: string, transcript: Transcript];

const each = (title: string, rows: readonly Row[]) => {
  describe.concurrent(title, () => {
    for (const [name, transcript] of rows) test(name, () => expectRt(transcript), 30_000);
  });
};

each("a script", [
  ["runs and is shown first", { files: scripts({ hello: "echo hi" }), args: ["hello"], stdout: "hi\n", stderr: "$ echo hi\n" }],
  ["runs with run", { files: scripts({ hello: "echo hi" }), args: ["run", "hello"], stdout: "hi\n", stderr: "$ echo hi\n" }],
  ["is shown with its arguments", { files: scripts({ hello: "echo hi" }), args: ["hello", "a b", "c", "it's"], stdout: "hi a b c it's\n", stderr: "$ echo hi 'a b' c 'it'\\''s'\n" }],
  ["is not shown with --silent", { files: scripts({ hello: "echo hi" }), args: ["--silent", "hello"], stdout: "hi\n" }],
  ["is not shown with run --silent", { files: scripts({ hello: "echo hi" }), args: ["run", "--silent", "hello"], stdout: "hi\n" }],
  ["leaves --silent behind its name alone", { files: scripts({ hello: "echo hi" }), args: ["hello", "--silent"], stdout: "hi --silent\n", stderr: "$ echo hi --silent\n" }],
  ["is shown in colour when colours are forced", { files: scripts({ hello: "echo hi" }), args: ["hello"], env: { FORCE_COLOR: "1" }, stdout: "hi\n", stderr: /\x1b\[0;35m\$\x1b\[0m \x1b\[2m\x1b\[1mecho hi\x1b\[0m/ }],
  ["runs in the directory of its package.json", { files: { ...scripts({ where: "pwd" }), "a/b/x": "" }, in: "a/b", args: ["--silent", "where"], stdout: "$PROJECT\n" }],
  ["of a nearer package.json is the one", { files: { ...scripts({ where: "echo outer" }), "a/package.json": { scripts: { where: "echo inner" } } }, in: "a", args: ["--silent", "where"], stdout: "inner\n" }],
  ["of a package.json further up is not looked for", { files: { ...scripts({ where: "echo outer" }), "a/package.json": {} }, in: "a", args: ["run", "where"], status: 1, stderr: 'error: Script not found "where"\nhint: there are no scripts in package.json\n' }],
  ["may be called anything", { files: scripts({ "a b": "echo spaced", 日本: "echo unicode", "foo.js": "echo dotted", "build:all": "echo colon" }), args: ["--silent", "run", "日本"], stdout: "unicode\n" }],
  ["with a space in its name", { files: scripts({ "a b": "echo spaced" }), args: ["--silent", "a b"], stdout: "spaced\n" }],
  ["named like a property of every object", { files: scripts({ constructor: "echo mine", __proto__: "x" }), args: ["--silent", "constructor"], stdout: "mine\n" }],
  ["that is no property of its own", { files: scripts({}), args: ["toString"], status: 1, stderr: /^error: Script not found "toString"\n/ }],
  ["is written in a package.json with comments, commas and a byte order mark", { files: { "package.json": '\uFEFF// c\n{ "scripts": { /* d */ "x1": "echo ok", }, }\n' }, args: ["--silent", "x1"], stdout: "ok\n" }],
  ["with shell syntax runs in bash", { files: scripts({ go: "a=(1 2 3); [[ ${a[1]} == 2 ]] && echo ${a[@]:1} | cat; echo $0 | sed s,.*/,,; exit 4" }), args: ["--silent", "go"], stdout: "2 3\nbash\n", status: 4 }],
  ["with --shell rt runs in the built-in shell", { files: scripts({ go: "echo $RT_X && echo a > out.txt && cat out.txt; exit 6" }), env: { RT_X: "var" }, args: ["--silent", "--shell", "rt", "run", "go"], stdout: "var\na\n", status: 6 }],
  ["with --shell=rt and arguments", { files: scripts({ go: "echo" }), args: ["--silent", "--shell=rt", "go", "a  b", "$HOME", "*", "'\""], stdout: "a  b $HOME * '\"\n" }],
  ["with --shell rt and hooks", { files: scripts({ prego: "echo pre", go: "echo go", postgo: "echo post" }), args: ["--silent", "--shell", "rt", "go"], stdout: "pre\ngo\npost\n" }],
  ["with --shell system", { files: scripts({ go: "echo sys" }), args: ["--silent", "--shell", "system", "go"], stdout: "sys\n" }],
  ["without a shell on PATH says what to do", { files: scripts({ go: "echo $X" }), env: { PATH: "/nonexistent" }, args: ["go"], status: 1, stderr: "error: No shell was found to run the script in\nhint: install bash or sh, or use --shell rt\n" }],
  ["reads standard input", { files: scripts({ up: "tr a-z A-Z" }), args: ["--silent", "up"], stdin: "some text\n", stdout: "SOME TEXT\n" }],
  ["reads standard input after a pre-hook that does not", { files: scripts({ preup: "true", up: "tr a-z A-Z", postup: "true" }), args: ["--silent", "up"], stdin: "some text\n", stdout: "SOME TEXT\n" }],
  ["shares standard input with its hooks", { files: scripts({ pretake: "head -c 2", take: "cat" }), args: ["--silent", "take"], stdin: "abcd", stdout: "abcd" }],
  ["writes to both outputs", { files: scripts({ both: "echo out; echo err >&2; echo out again" }), args: ["--silent", "both"], stdout: "out\nout again\n", stderr: "err\n" }],
  ["that calls rt finds it", { files: { ...scripts({ go: "rt x.ts a" }), "x.ts": "console.log(process.argv.slice(2), import.meta.main)" }, args: ["--silent", "go"], stdout: '[ "a" ] true\n' }],
  ["that calls another script", { files: scripts({ a: "rt --silent run b", b: "echo $npm_lifecycle_event" }), args: ["--silent", "run", "a"], stdout: "b\n" }],
]);

each("hooks", [
  ["run before and after", { files: scripts({ prego: "echo pre", go: "echo go", postgo: "echo post" }), args: ["go"], stdout: "pre\ngo\npost\n", stderr: "$ echo pre\n$ echo go\n$ echo post\n" }],
  ["a failing pre-hook stops everything", { files: scripts({ prego: "exit 3", go: "echo go", postgo: "echo post" }), args: ["go"], status: 3, stderr: '$ exit 3\nerror: script "prego" exited with code 3\n' }],
  ["a failing script skips its post-hook", { files: scripts({ go: "exit 5", postgo: "echo post" }), args: ["go"], status: 5, stderr: '$ exit 5\nerror: script "go" exited with code 5\n' }],
  ["a failing post-hook decides the exit code", { files: scripts({ go: "true", postgo: "exit 7" }), args: ["go"], status: 7, stderr: "$ true\n$ exit 7\n" }],
  ["with --silent a failure is silent too", { files: scripts({ prego: "exit 3", go: "echo go" }), args: ["--silent", "go"], status: 3 }],
  ["empty ones and ones that are no text are passed over", { files: scripts({ prego: "", go: "echo go", postgo: 5 }), args: ["--silent", "go"], stdout: "go\n" }],
  ["of hooks are not looked for", { files: scripts({ preprego: "echo no", prego: "echo pre", go: "echo go" }), args: ["--silent", "go"], stdout: "pre\ngo\n" }],
  ["run for a script that is called like a hook", { files: scripts({ preprego: "echo prepre", prego: "echo pre", go: "echo go" }), args: ["--silent", "run", "prego"], stdout: "prepre\npre\n" }],
  ["each see their own name", { files: scripts({ prego: "echo $npm_lifecycle_event $npm_lifecycle_script", go: "echo $npm_lifecycle_event", postgo: "echo $npm_lifecycle_event" }), args: ["--silent", "go"], stdout: "prego echo $npm_lifecycle_event $npm_lifecycle_script\ngo\npostgo\n" }],
  ["a pre-hook that is killed ends the run the same way", { files: scripts({ prego: "kill -TERM $$", go: "echo go" }), args: ["go"], status: "SIGTERM", stderr: '$ kill -TERM $$\nerror: script "prego" was terminated by signal SIGTERM\n' }],
  ["a script that is interrupted says nothing", { files: scripts({ go: "kill -INT $$", postgo: "echo post" }), args: ["go"], status: "SIGINT", stderr: "$ kill -INT $$\n" }],
]);

const CODES = [0, 1, 2, 3, 42, 126, 127, 128, 130, 255];

each("the exit code", [
  ...CODES.flatMap((code): Row[] => [
    [`${code} of a script`, { files: scripts({ go: `exit ${code}` }), args: ["--silent", "go"], status: code }],
    [`${code} of a script with a pre-hook`, { files: scripts({ prego: "true", go: `exit ${code}` }), args: ["--silent", "go"], status: code }],
  ]),
  ["of a program that is started without a shell", { files: { ...scripts({ go: "seven" }), "node_modules/.bin/seven": "#!/bin/sh\nexit 7\n" }, executable: ["node_modules/.bin/seven"], args: ["--silent", "go"], status: 7 }],
  ["of a command that is not found", { files: scripts({ go: "no-such-command-here" }), args: ["--silent", "go"], status: 127, stderr: /no-such-command-here: command not found/ }],
  ["of a command that is not executable", { files: { ...scripts({ go: "./data" }), data: "x" }, args: ["--silent", "go"], status: 126, stderr: /Permission denied/ }],
  ["of a directory as a command", { files: { ...scripts({ go: "./data" }), "data/x": "" }, args: ["--silent", "go"], status: 126, stderr: /Is a directory/ }],
  ["of a script that is missing", { files: scripts({ hello: "true" }), args: ["run", "helo"], status: 1, stderr: 'error: Script not found "helo"\nhint: did you mean "hello"?\n' }],
  ["of an empty script", { files: scripts({ go: "" }), args: ["run", "go"], status: 1, stderr: /^error: Script not found "go"\n/ }],
  ["of a script that is no text", { files: scripts({ go: ["a"] }), args: ["run", "go"], status: 1, stderr: /^error: .*"go"/ }],
  ["of a missing script with --if-present", { files: scripts({}), args: ["--if-present", "run", "gone"] }],
  ["of a missing script with run --if-present", { files: scripts({}), args: ["run", "--if-present", "gone"] }],
  ["of a missing file with --if-present", { args: ["--if-present", "./gone.ts"] }],
  ["of a missing script where there is no package.json", { args: ["run", "gone"], status: 1, stderr: /^error: Script not found "gone"\n/ }],
  ["of a failing script with --if-present", { files: scripts({ go: "exit 4" }), args: ["--if-present", "--silent", "run", "go"], status: 4 }],
]);

describe.concurrent("a signal", () => {
  const shapes: Record<string, Record<string, string>> = {
    "of a script": { go: "kill -SIGNAL $$" },
    "of a script with a post-hook": { go: "kill -SIGNAL $$", postgo: "echo post" },
    "of a program": { go: "suicide SIGNAL" },
  };
  for (const [shape, entries] of Object.entries(shapes)) {
    for (const signal of ["TERM", "KILL", "HUP", "INT", "SEGV", "USR1", "PIPE", "ABRT"] as const) {
      test(`${signal} ${shape} is rt's own end`, async () => {
        const named = Object.fromEntries(Object.entries(entries).map(([name, line]) => [name, line.replace("SIGNAL", signal)]));
        await expectRt({
          files: { ...scripts(named), "node_modules/.bin/suicide": "#!/bin/sh\nulimit -c 0\nkill -$1 $$\n" },
          executable: ["node_modules/.bin/suicide"],
          args: ["--silent", "go"],
          status: `SIG${signal}`,
        });
      }, 30_000);
    }
  }

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    for (const [shape, entries] of Object.entries({
      "a script": { go: "echo ready; exec sleep 1000" },
      "a pre-hook": { prego: "echo ready; exec sleep 1000", go: "echo not reached" },
      "a script with a post-hook": { go: "echo ready; exec sleep 1000", postgo: "echo not reached" },
      "a program": { go: "waits" },
    })) {
      test(`${signal} that is sent to rt ends ${shape}`, async () => {
        await using project = await createProject({ ...scripts(entries), "node_modules/.bin/waits": "#!/bin/sh\necho ready\nexec sleep 1000\n" }, ["node_modules/.bin/waits"]);
        const child = startRt({ args: ["--silent", "go"], cwd: project.path });
        const reader = child.stdout.getReader();
        expect(new TextDecoder().decode((await reader.read()).value)).toBe("ready\n");
        child.kill(signal);
        await child.exited;
        expect({ status: child.signalCode, rest: (await reader.read()).done }).toEqual({ status: signal, rest: true });
      }, 30_000);
    }
  }

  test("is handled by a script that handles it, and its exit code stands", async () => {
    await using project = await createProject(scripts({ go: "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.01; done", prego: "true", postgo: "echo post" }));
    const child = startRt({ args: ["--silent", "go"], cwd: project.path });
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill("SIGTERM");
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("bye\n");
    expect(await child.exited).toBe(9);
  }, 30_000);

  test("that is handled with success still stops the run", async () => {
    await using project = await createProject(scripts({ go: "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done", postgo: "echo post" }));
    const child = startRt({ args: ["--silent", "go"], cwd: project.path });
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill("SIGTERM");
    await child.exited;
    expect({ status: child.signalCode, rest: (await reader.read()).done }).toEqual({ status: "SIGTERM", rest: true });
  }, 30_000);

  test("that a shell ignores stays ignored", async () => {
    await using project = await createProject(scripts({ go: "trap" }));
    const { stdout } = await runRt({ program: ["bash", "-c", `trap '' HUP USR1; exec ${RT} --silent go`], cwd: project.path });
    expect(stdout.split("\n").map((line) => line.split(" ").at(-1)).filter(Boolean)).toEqual(["SIGHUP", "SIGUSR1"]);
  });

  test("is at its default again where the engine had changed it", async () => {
    await using project = await createProject({ ...scripts({ direct: "signals", shell: "signals && true" }), "node_modules/.bin/signals": "#!/bin/sh\ngrep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status\n" }, ["node_modules/.bin/signals"]);
    const expected = await runRt({ program: ["bash", "-c", "exec grep -E 'Sig(Blk|Ign)' /proc/self/status"] });
    for (const script of ["direct", "shell"]) {
      const { stdout } = await runRt({ args: ["--silent", script], cwd: project.path });
      expect(stdout).toStartWith(expected.stdout);
    }
  });

  test("numbers of the system are the ones this file thinks of", () => {
    expect([constants.signals.SIGINT, constants.signals.SIGTERM]).toEqual([2, 15]);
  });
});

describe.concurrent("what a script inherits", () => {
  const throughBash = async (line: string, entries: Record<string, string>) => {
    await using project = await createProject({ ...scripts(entries), "three.txt": "three\n" });
    return await runRt({ program: ["bash", "-c", line.replaceAll("rt ", `${RT} --silent `)], cwd: project.path });
  };

  test.each([
    ["3<file", "rt go 3< three.txt", { go: "cat <&3" }, "three\n"],
    ["9<file", "rt go 9< three.txt", { go: "cat <&9" }, "three\n"],
    ["a descriptor to write to", "rt go 3> out.txt; cat out.txt", { go: "echo written >&3" }, "written\n"],
    ["<(...)", "rt go <(echo substituted)", { go: "cat" }, "substituted\n"],
    ["two <(...)", "rt go <(echo one) <(echo two)", { go: "cat" }, "one\ntwo\n"],
    [">(...)", "rt go >(cat) | cat", { go: "tee" }, ""],
    ["3<file with hooks", "rt go 3< three.txt", { prego: "true", go: "cat <&3" }, "three\n"],
    ["a closed standard input", "rt go <&-", { go: "echo runs" }, "runs\n"],
    ["a pipe on both sides", "echo x | rt go | tr x y", { go: "cat" }, "y\n"],
  ])("%s", async (_, line, entries, expected) => {
    const { stdout, stderr } = await throughBash(line, entries as unknown as Record<string, string>);
    expect({ stdout: expected === "" ? "" : stdout, stderr }).toEqual({ stdout: expected, stderr: "" });
  });

  test("3<file in a script that has something after it", async () => {
    expect(await throughBash("rt go 3< three.txt", { go: "cat <&3", postgo: "echo post" })).toEqual({ stdout: "three\npost\n", stderr: "", status: 0 });
  });

  test("a file, a program and an engine's process get descriptors as well", async () => {
    await using project = await createProject({ "read.ts": "console.log(require('fs').readFileSync(3, 'utf8'))", "three.txt": "three" });
    for (const args of ["read.ts", "run read.ts", "--smol read.ts", "run cat /dev/fd/3"]) {
      const { stdout, stderr } = await runRt({ program: ["bash", "-c", `${RT} ${args} 3< three.txt`], cwd: project.path });
      expect({ args, stdout: stdout.trim(), stderr }).toEqual({ args, stdout: "three", stderr: "" });
    }
  });

  test("no descriptor of rt's own", async () => {
    await using project = await createProject({ ...scripts({ go: "fds", hooked: "fds", prehooked: "true", shell: "fds && true", post: "fds", postpost: "true" }), "node_modules/.bin/fds": "#!/bin/sh\nfor fd in /proc/$$/fd/*; do readlink $fd; done\n", "fds.ts": "" }, ["node_modules/.bin/fds"]);
    const plain = await runRt({ program: ["node_modules/.bin/fds"], cwd: project.path });
    const kinds = (text: string) => text.split("\n").map((line) => line.replace(/\d+/g, "N")).toSorted().join();
    for (const script of ["go", "shell", "hooked", "post"]) {
      const { stdout } = await runRt({ args: ["--silent", script], cwd: project.path });
      expect({ script, kinds: kinds(stdout) }).toEqual({ script, kinds: kinds(plain.stdout) });
    }
  });

  test("umask, limits and the process group", async () => {
    const { stdout } = await throughBash("umask 027; ulimit -n 123; rt go; echo $$ | tr -d '0-9'", { go: "umask; ulimit -n; [ $(ps -o pgid= $$) = $(ps -o pgid= $PPID) ] && echo same group" });
    expect(stdout).toStartWith("0027\n123\nsame group\n");
  });

  test("a broken pipe ends it: yes | head", async () => {
    for (const entries of [{ go: "yes" }, { go: "yes | cat" }, { prego: "true", go: "yes" }, { go: "yes", postgo: "true" }]) {
      const { stdout, status } = await throughBash("set -o pipefail; rt go | head -1; echo ${PIPESTATUS[0]}", entries as unknown as Record<string, string>);
      expect({ stdout, status }).toEqual({ stdout: "y\n141\n", status: 0 });
    }
  });

  test("the same process: the script has rt's process id", async () => {
    await using project = await createProject(scripts({ go: "echo $$; exec sleep 0", pid: "printenv PPID_OF; echo $PPID" }));
    const child = startRt({ args: ["--silent", "go"], cwd: project.path });
    expect((await new Response(child.stdout).text()).trim()).toBe(`${child.pid}`);
    await child.exited;
  });
});

describe.concurrent("a script that calls itself", () => {
  test("without end is stopped with its name", async () => {
    await expectRt({
      files: scripts({ again: `${RT} --silent run again` }),
      args: ["--silent", "run", "again"],
      status: 1,
      stderr: /^error: The script "again" calls itself without end: again -> again\n$/,
    });
  }, 30_000);

  test("through another script is stopped with both names", async () => {
    await expectRt({
      files: scripts({ one: `${RT} --silent run two`, two: `${RT} --silent run one` }),
      args: ["--silent", "run", "one"],
      status: 1,
      stderr: /calls itself without end: (one -> two -> one|two -> one -> two)\n$/,
    });
  }, 30_000);

  test("a few times is let", async () => {
    await expectRt({
      files: scripts({ down: `[ "$DEPTH" = xxx ] && echo bottom || DEPTH=x$DEPTH ${RT} --silent run down` }),
      args: ["--silent", "run", "down"],
      stdout: "bottom\n",
    });
  }, 30_000);
});
