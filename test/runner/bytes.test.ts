// Tests that variables and arguments that are not UTF-8 reach a script unchanged, however rt starts it. Scripts print
// them in hexadecimal, so that the test decodes nothing.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readLines, resultOf } from "../support/output.ts";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";
import { trustOf } from "../support/trusted.ts";

/** An invalid byte, an incomplete character, and the replacement character itself. */
const BYTES = "a\\xffb\\xe2\\x82\\xef\\xbf\\xbd";
const SHOWN = "61ff62e282efbfbd";

const hex = "od -An -tx1 | tr -d ' \\n'; echo";
const SHOW_VALUE = `printf '%s' "$BAD" | ${hex}`;
const SHOW = `show() { printf '%s' "$BAD$1" | ${hex}; }; show`;
const project = {
  "package.json": {
    name: "root",
    workspaces: ["p"],
    scripts: {
      show: SHOW,
      other: SHOW_VALUE,
      apart: `echo "\${UNDECLARED-withheld}"; ${SHOW_VALUE}`,
      prehooked: SHOW_VALUE,
      hooked: "true",
      posthooked: SHOW_VALUE,
      secret: `echo $KEY; ${SHOW}`,
      prereads: "cat <&9",
      reads: "true",
      ended: "exit 7",
      endless: "echo started; exec sleep 1000",
      killed: "kill -s KILL $$",
      names: `env | tr '\\377' '_' | grep -c '^N_ME=there$'`,
      input: `cat; echo; ${SHOW_VALUE}`,
    },
  },
  "p/package.json": { name: "p", scripts: { where: "basename $PWD" } },
};
const MAPPING =
  '[secrets.KEY]\nfrom = { command = ["echo", "a-long-value"] }\n[run.secrets]\nsecret = ["KEY"]\n';
const CACHED =
  '[run.cache]\nshow = { env = ["BAD"] }\nother = { env = ["BAD"], inputs = ["package.json"] }\n' +
  'apart = { env = ["BAD"], inputs = ["package.json"] }\n';

/** Starts rt through bash, with a variable and arguments in bytes. */
function start(line: string, cwd: string, value = BYTES) {
  const script = `export UNDECLARED=1 XDG_CACHE_HOME="$PWD/.cache" BAD=$'${value}'; exec "$0" ${line}`;
  return Bun.spawn(["bash", "-c", script, RT], {
    cwd,
    env: cleanEnvironment(),
    stdout: "pipe",
    stderr: "pipe",
  });
}

describe.skipIf(process.platform === "win32")("bytes that are not UTF-8", () => {
  let shared: Project;
  beforeAll(async () => {
    shared = await createProject(project);
  });
  afterAll(async () => await shared?.[Symbol.asyncDispose]());
  const run = async (line: string, cwd = shared.path, value = BYTES) =>
    await resultOf(start(line, cwd, value));

  const argument = `$'${BYTES}'`;
  test.each([
    ["a script", `--silent run show ${argument}`, [SHOWN + SHOWN]],
    ["a script in the built-in shell", `--silent --shell rt run other`, [SHOWN]],
    ["a script with hooks", "--silent run hooked", [SHOWN, SHOWN]],
    ["a filtered script", `--filter root run show ${argument}`, [SHOWN + SHOWN]],
    ["parallel scripts", "run --parallel show other", [SHOWN, SHOWN]],
    ["sequential scripts", "run --sequential show other", [SHOWN, SHOWN]],
    ["a hook of sequential scripts", "run --sequential hooked other", [SHOWN, SHOWN, SHOWN]],
  ])("reach %s", async (_, line, expected) => {
    const { stdout, stderr, status } = await run(line);
    expect({ stderr, status }).toMatchObject({ status: 0 });
    expect([...(stdout.match(/[0-9a-f]{8,}/g) ?? [])]).toEqual(expected);
  });

  test("reach a redacted script, also among several scripts", async () => {
    await using mapped = await createProject({ ...project, "rtfig.toml": MAPPING });
    const trust = await trustOf(mapped.path);
    for (const line of [`--silent run secret ${argument}`, `--filter root run secret ${argument}`]) {
      const { stdout, status } = await resultOf(
        Bun.spawn(["bash", "-c", `export RT_TRUST=${trust} BAD=$'${BYTES}'; exec "$0" ${line}`, RT], {
          cwd: mapped.path,
          env: cleanEnvironment(),
          stdout: "pipe",
          stderr: "pipe",
        }),
      );
      expect(stdout).toContain("[KEY]");
      expect([stdout.match(/[0-9a-f]{8,}/g), status]).toEqual([[SHOWN + SHOWN], 0]);
    }
  });

  test("reach a cached script, traced or with declared inputs, and are part of its cache key", async () => {
    await using cached = await createProject({ ...project, "rtfig.toml": CACHED });
    for (const name of ["show", "other"]) {
      for (const [value, shown] of [
        [BYTES, SHOWN],
        ["\\xfe", "fe"],
        ["\\xff", "ff"],
        ["\\xef\\xbf\\xbd", "efbfbd"],
      ] as const) {
        const first = await run(`run ${name}`, cached.path, value);
        expect([first.stdout.match(/\b(?:[0-9a-f]{2})+$/m)?.[0], first.stderr]).toEqual([
          shown,
          expect.not.stringContaining("Cached (saved"),
        ]);
        const again = await run(`run ${name}`, cached.path, value);
        expect(again.stdout.match(/\b(?:[0-9a-f]{2})+$/m)?.[0]).toBe(shown);
        expect(again.stdout + again.stderr).toContain("Cached (saved");
      }
    }
  });

  test("reach a cached script that gets only declared variables", async () => {
    await using cached = await createProject({ ...project, "rtfig.toml": CACHED });
    expect((await run("run apart", cached.path)).stdout).toBe(`withheld\n${SHOWN}\n`);
  });

  test("reach a watched script, with its arguments and its standard input", async () => {
    const watched = start(`--watch run show ${argument}`, shared.path);
    expect((await readLines(watched.stdout).next()).value).toBe(SHOWN + SHOWN);
    watched.kill();
    await watched.exited;
    const code = "echo 'console.log(6 * 7)' |";
    const fed = Bun.spawn(
      ["bash", "-c", `export BAD=$'${BYTES}'; ${code} exec "$0" --watch run - ${argument}`, RT],
      { cwd: shared.path, env: cleanEnvironment(), stdout: "pipe", stderr: "pipe", detached: true },
    );
    expect((await readLines(fed.stdout).next()).value).toBe("42");
    process.kill(-fed.pid, "SIGTERM");
    await fed.exited;
  });

  test("cause an error for a remote script, because its protocol takes only text", async () => {
    const remote =
      '[run.remote]\nurl = "grpc://127.0.0.1:1"\n[run.remote.scripts]\nother = { env = ["BAD"] }\n';
    await using far = await createProject({ ...project, "rtfig.toml": remote });
    await Bun.spawn(["git", "init", "--quiet"], { cwd: far.path, env: cleanEnvironment() }).exited;
    const { stderr, status } = await run("--remote --dry-run run other", far.path);
    expect(stderr).toStartWith("error: BAD is not valid UTF-8, so it cannot be sent to another machine");
    expect(status).toBe(1);
    expect((await run("--remote --dry-run run other", far.path, "text")).status).toBe(0);
  });

  test("reach a script when they are in a variable's name or in PATH", async () => {
    const named = `exec env $'N\\xffME=there' "$0" run --sequential names other`;
    const env = cleanEnvironment({ BAD: "x" });
    const first = Bun.spawn(["bash", "-c", named, RT], {
      cwd: shared.path,
      env,
      stdout: "pipe",
      stderr: "pipe",
    });
    expect((await resultOf(first)).stdout).toMatch(/^names +\| 1$/m);
    await shared.write({
      "package.json": { ...project["package.json"], scripts: { path: `printf %s "$PATH" | ${hex}` } },
    });
    for (const options of ["--silent run path", "--filter root run path"]) {
      const command = `PATH=$PATH:$'/x\\xff'; exec "$0" ${options}`;
      const child = Bun.spawn(["bash", "-c", command, RT], {
        cwd: shared.path,
        env,
        stdout: "pipe",
        stderr: "pipe",
      });
      expect((await resultOf(child)).stdout).toMatch(/3a2f78ff$/m);
    }
    await shared.write({ "package.json": project["package.json"] });
  });

  test("change neither the directory of a script nor its exit status nor its standard input", async () => {
    expect((await run("--filter p run where")).stdout).toMatch(/\bp$/m);
    expect(await run("--filter root run ended")).toMatchObject({ status: 7 });
    const line = "--silent run reads 9< p/package.json";
    expect((await run(line)).stdout).toBe(await Bun.file(shared.join("p/package.json")).text());
    const killed = await run("run --sequential killed other");
    expect([killed.stdout.includes(SHOWN), killed.status]).toEqual([false, "SIGKILL"]);
    const fed = await run("run --parallel input other < package.json");
    expect([fed.stdout.includes("workspaces"), fed.status]).toEqual([false, 0]);
    const endless = start("run --parallel endless other", shared.path);
    for await (const line of readLines(endless.stdout)) if (line.includes("started")) break;
    endless.kill();
    await endless.exited;
    expect(endless.signalCode).toBe("SIGTERM");
  });
});
