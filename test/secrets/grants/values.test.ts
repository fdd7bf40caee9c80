// Which values a variable can have, errors for other values, and places where a value must not appear.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { startLive } from "../../options/live.ts";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Project } from "../../support/project.ts";
import { RT, type RtResult, runRt } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../../support/users.ts";

const CONFIG = `[secrets.TOKEN]
from.command = ["sh", "./value"]
[secrets.STORED]
from = "acme/stored"
[run.secrets]
show = ["TOKEN"]
stored = ["STORED"]
`;

describe.skipIf(process.platform !== "linux")("values", () => {
  let keyring: Keyring;
  let project: Project;
  let env: Record<string, string>;
  const show = 'printf %s "$TOKEN" | sha256sum';
  beforeAll(async () => {
    const stored = 'echo "started with $STORED."; read line';
    const environ = "tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/$PPID/cmdline; echo; echo own ${#TOKEN}";
    const kept = "cat /proc/$PPID/environ /proc/$PPID/cmdline > kept; echo own ${#TOKEN} >> kept";
    [keyring, project] = await Promise.all([
      startKeyring(),
      createProject({
        "rtfig.toml": CONFIG,
        "package.json": { scripts: { show, stored, environ, kept, other: "sleep 0.01; env" } },
      }),
    ]);
    env = { ...keyring.env, RT_TRUST: await trustOf(project.path) };
  });
  afterAll(async () => {
    await keyring?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });
  const run = (args: string[]): Promise<RtResult> =>
    runRt({ args: ["--silent", ...args], cwd: project.path, env });
  const hash = (text: string) => `${new Bun.CryptoHasher("sha256").update(text).digest("hex")}  -\n`;

  test.each([
    ["64 KiB", "printf %065536d 7", `${"0".repeat(65_535)}7`],
    [
      "the last line break taken off, and no other",
      "printf 'a\\n\\r\\nb-and-more\\n\\n'",
      "a\n\r\nb-and-more\n",
    ],
    ["the line end of Windows", "printf 'x-and-more\\r\\n'", "x-and-more"],
    ["a byte order mark", "printf '\\357\\273\\277x-and-more\\n'", "\ufeffx-and-more"],
  ])("%s", async (_what, command, value) => {
    await project.write({ value: command });
    expect(await run(["run", "show"])).toEqual({ stdout: hash(value), stderr: "", status: 0 });
  });

  test("a source command runs in the folder of its rtfig.toml, wherever rt was started", async () => {
    await project.write({ value: "echo x-and-more", "below/value": "echo another-value" });
    const cwd = project.join("below");
    const result = await runRt({ args: ["--silent", "run", "show"], cwd, env });
    expect(result).toEqual({ stdout: hash("x-and-more"), stderr: "", status: 0 });
  });

  test.each([
    ["a NUL character", "printf 'a-value-1\\0b'", "The value of TOKEN has a NUL character in it"],
    ["bytes that are not UTF-8", "printf 'a-value-1\\377'", "The value of TOKEN is not text in UTF-8"],
    ["a line break alone", "echo", 'The command "sh" wrote nothing'],
    ["nothing", "true", 'The command "sh" wrote nothing'],
    [
      "a byte more than a megabyte",
      "head -c 1048577 /dev/zero | tr '\\0' x",
      'The command "sh" wrote more than 1048576 bytes',
    ],
    ["more than a megabyte", "yes a-value-1", 'The command "sh" wrote more than 1048576 bytes'],
    [
      "more than a megabyte, without an end and whatever happens",
      "trap '' TERM PIPE; while :; do echo a-value-1; done 2> /dev/null",
      'The command "sh" wrote more than 1048576 bytes',
    ],
    ["an exit by signal", "printf a-value-1; kill -TERM $$", 'The command "sh" was ended by SIGTERM'],
    ["a failure after the value", "printf a-value-1; exit 9", 'The command "sh" failed with exit code 9'],
  ])("rejected without repeating the value: %s", async (_what, command, message) => {
    await project.write({ value: command });
    const { stdout, stderr, status } = await run(["run", "show"]);
    expect([stdout, stderr.includes(message) ? message : stderr, status]).toEqual(["", message, 1]);
    expect(stderr).not.toContain("a-value-1");
  });

  test("a source command does not run a program of the project by its bare name", async () => {
    await using other = await createProject(
      {
        "rtfig.toml": CONFIG.replace('["sh", "./value"]', '["print-value"]'),
        "package.json": { scripts: { show } },
        "print-value": "#!/bin/sh\necho a-value-1\n",
      },
      ["print-value"],
    );
    const { stderr, status } = await runRt({
      args: ["--silent", "run", "show"],
      cwd: other.path,
      env: { ...keyring.env, RT_TRUST: await trustOf(other.path) },
    });
    expect([stderr.includes('The command "print-value" is not on PATH'), status]).toEqual([true, 1]);
  });

  test("a value is complete when its program has ended, even if a child process keeps running", async () => {
    const value = "a-large-1".repeat(7000); // more than the capacity of a pipe
    await project.write({
      text: value,
      value: "sleep 1000 2> /dev/null & echo $! > left-behind; exec cat text",
    });
    const result = await run(["run", "show"]);
    process.kill(Number(await Bun.file(project.join("left-behind")).text()), "SIGKILL");
    expect(result).toEqual({ stdout: hash(value), stderr: "", status: 0 });
  });

  test("errors of the script are reported only after its secrets were found", async () => {
    const running = Array(8).fill(`show in ${project.path}`).join("\n");
    const runAgain = () =>
      runRt({ args: ["run", "show"], cwd: project.path, env: { ...env, RT_SCRIPTS: running } });
    // The command takes longer than everything that rt does in parallel.
    await project.write({ value: "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit 9" });
    expect((await runAgain()).stderr).toStartWith("error: Missing secret: TOKEN\n");
    await project.write({ value: "echo a-value-1" });
    expect((await runAgain()).stderr).toStartWith("error: Script recursion");
  });

  test("a value that exceeds the system's limit is reported with its size", async () => {
    await project.write({ value: "printf %0200000d 7" });
    const { stdout, stderr, status } = await run(["run", "show"]);
    expect([stdout, stderr, status]).toEqual([
      "",
      'error: Cannot run the script "show": its arguments and variables are too long for this system\n' +
        "hint: the value of TOKEN has 200000 bytes; keep large ones in a file\n",
      126,
    ]);
    const many = await run(["run", "--parallel", "show", "other"]);
    expect(many.stdout + many.stderr).toContain("too long for this system");
    expect(many.status).toBe(126);
  });

  test("a value is not in rt's environment or arguments, nor in another script of the run", async () => {
    await project.write({ value: "printf a-value-1" });
    const { stdout } = await run(["--no-redact", "--secret", "TOKEN", "run", "--parallel", "environ"]);
    expect(stdout).toContain("environ | own 9");
    expect(stdout).toContain("--parallel");
    expect(stdout).not.toContain("a-value-1");
    // Also when rt redacts the output. Output alone would not prove it, so the script writes a file.
    expect(await run(["run", "--secret", "TOKEN", "kept"])).toMatchObject({ stderr: "", status: 0 });
    const kept = await Bun.file(project.join("kept")).text();
    expect(kept).toMatch(/\bkept\0own 9\n$/);
    expect(kept).not.toContain("a-value-1");
    const both = await run(["--no-redact", "run", "--parallel", "show", "other"]);
    expect(both.stdout).toContain(`show  | ${hash("a-value-1").trimEnd()}`);
    expect(both.stdout).not.toContain("a-value-1");
  });

  test("other processes of the user cannot read the memory of rt while it holds a value", async () => {
    const owners = 'stat -c "rt %u" /proc/$PPID/environ; stat -c "script %u" /proc/self/environ';
    await using open = await createProject({
      "rtfig.toml":
        '[secrets.TOKEN]\nfrom.command = ["echo", "a-value-1"]\n[run.secrets]\nowners = ["TOKEN"]',
      "package.json": { scripts: { owners, plain: owners } },
    });
    await chmod(open.path, 0o755);
    const own = isRoot ? OTHER_USER_ID : process.getuid!();
    const as = async (...args: string[]) => {
      const env = { RT_TRUST: await trustOf(open.path) };
      const program = [...AS_OTHER_USER, RT, "--silent"];
      return (await runRt({ program, args, cwd: open.path, env })).stdout;
    };
    expect(await as("run", "--parallel", "owners")).toBe(`owners | rt 0\nowners | script ${own}\n`);
    expect(await as("run", "--parallel", "plain")).toBe(`plain | rt ${own}\nplain | script ${own}\n`);
    expect(await as("run", "owners")).toEndWith(`script ${own}\n`);
  });

  test("a crash of rt shows no value and leaves no core file", async () => {
    await using own = await createProject({
      "rtfig.toml":
        '[secrets.TOKEN]\nfrom.command = ["echo", "a-value-of-nobody"]\n[run.secrets]\ncrash = ["TOKEN"]',
      "package.json": { scripts: { crash: "echo up $TOKEN; kill -SEGV $PPID" } },
    });
    const trust = { ...env, RT_TRUST: await trustOf(own.path) };
    for (const options of [[], ["--parallel"]]) {
      const args = ["--silent", "run", ...options, "crash"];
      const program = ["sh", "-c", 'ulimit -c unlimited; "$0" "$@"; echo "ended by $?" >&2', RT, ...args];
      const { stdout, stderr } = await runRt({ program, cwd: own.path, env: trust });
      expect(stderr).toEndWith("ended by 139\n");
      expect(stdout + stderr).not.toContain("a-value");
      expect(readdirSync(own.path).toSorted()).toEqual(["package.json", "rtfig.toml"]);
    }
  });

  test("--watch uses a changed value from the next start of a script on", async () => {
    const store = (value: string) =>
      keyring.run(["secret-tool", "store", "--label=a", "service", "acme", "account", "stored"], value);
    await store("one");
    await project.write({ "a.ts": "1" });
    await using live = startLive({
      args: ["--no-redact", "--watch", "run", "stored"],
      cwd: project.path,
      env,
    });
    await live.see("started with one.");
    await store("two");
    await project.write({ "a.ts": "2" });
    await live.see("started with two.");
  });

  test("--watch run warns about a common value once, not at each restart", async () => {
    await using own = await createProject({
      "package.json": { scripts: { show: "rt run inner; cat word.ts; sleep 1000", inner: "true" } },
      "rtfig.toml":
        '[secrets.MODE]\nfrom = { command = ["echo", "production"] }\n[run.secrets]\nshow = ["MODE"]\ninner = ["MODE"]\n',
      "word.ts": "first.",
    });
    const env = { ...keyring.env, RT_TRUST: await trustOf(own.path) };
    await using live = startLive({ args: ["--watch", "run", "show"], cwd: own.path, env });
    await live.see("first.");
    for (const word of ["second.", "third."]) {
      await own.write({ "word.ts": word });
      await live.see(word);
    }
    // One of the watched script, and one of each rt that it starts.
    expect(live.output.match(/warning: The value of MODE is a common word/g)).toHaveLength(1 + 3);
  });

  test("--watch uses a changed value from the next start of a file on", async () => {
    const store = (value: string) =>
      keyring.run(["secret-tool", "store", "--label=a", "service", "acme", "account", "watched"], value);
    await using own = await createProject({
      "package.json": {},
      "server.ts":
        'import { word } from "./word.ts"; console.log(`${word} with ${process.env.W}.`); setInterval(() => {}, 1e6);',
      "word.ts": 'export const word = "started";',
    });
    await store("the first value");
    await using live = startLive({
      args: ["--no-redact", "--watch", "--secret", "W=acme/watched", "server.ts"],
      cwd: own.path,
      env: keyring.env,
    });
    await live.see("started with the first value.");
    await store("the second value");
    await own.write({ "word.ts": 'export const word = "started again";' });
    await live.see("started again with the second value.");
  });

  test("--watch uses a changed value for a script of many packages that restarts while others run", async () => {
    const store = (value: string) =>
      keyring.run(["secret-tool", "store", "--label=a", "service", "acme", "account", "stored"], value);
    const dev = (name: string) => ({ name, scripts: { stored: `echo "${name} has $STORED."; sleep 1000` } });
    await using many = await createProject({
      "rtfig.toml": CONFIG,
      "package.json": { name: "root", workspaces: ["packages/*"] },
      "packages/web/package.json": dev("web"),
      "packages/lib/package.json": dev("lib"),
    });
    await store("one");
    await using live = startLive({
      args: ["--no-redact", "--watch", "run", "--filter=*", "--parallel", "stored"],
      cwd: many.path,
      env: { ...keyring.env, RT_TRUST: await trustOf(many.path) },
    });
    await live.see(/(?:(?:web|lib) has one\.[^]*){2}/);
    await store("two");
    await many.write({ "packages/web/a.ts": "1" });
    await live.see("web has two.");
    await many.write({ "packages/lib/a.ts": "1" });
    await live.see("lib has two.");
    expect(live.output.match(/has \w+\./g)).toHaveLength(4);
  });

  test("when one of several scripts restarts, its output still redacts the values of the others", async () => {
    const source = (value: string) => `from = { command = ["echo", "${value}"] }`;
    await using many = await createProject({
      "rtfig.toml": `[secrets.A]\n${source("a-first-value")}\n[secrets.B]\n${source("b-other-value")}
[run.secrets]\n"web#dev" = ["A"]\n"lib#dev" = ["B"]\n`,
      "package.json": { name: "root", workspaces: ["packages/*"] },
      "packages/web/package.json": {
        name: "web",
        scripts: { dev: 'echo "web read $(cat ../../b.txt)."; sleep 1000' },
      },
      "packages/lib/package.json": { name: "lib", scripts: { dev: "sleep 1000" } },
      "b.txt": "b-other-value",
    });
    await using live = startLive({
      args: ["--watch", "run", "--filter=*", "--parallel", "dev"],
      cwd: many.path,
      env: { ...keyring.env, RT_TRUST: await trustOf(many.path) },
    });
    await live.see("web read [B].");
    await many.write({ "packages/web/a.ts": "1" });
    await live.see("web read [B].");
    expect(live.output).not.toContain("b-other-value");
  });

  test("rt leaves no file with a value behind", async () => {
    await using own = await createProject();
    await project.write({ value: "printf a-value-1" });
    const places = { HOME: own.path, TMPDIR: own.path, XDG_RUNTIME_DIR: own.path, XDG_STATE_HOME: own.path };
    for (const args of [
      ["run", "show"],
      ["--rt", "run", "show"],
      ["run", "--parallel", "show", "other"],
    ]) {
      const result = await runRt({
        args: ["--silent", ...args],
        cwd: project.path,
        env: { ...env, ...places },
      });
      expect(result.stdout).toContain(hash("a-value-1").trimEnd());
    }
    const { stdout } = await runRt({ program: ["grep", "-r", "a-value-1", own.path, project.path] });
    expect(stdout).toBe(`${project.join("value")}:printf a-value-1\n`);
  });
});
