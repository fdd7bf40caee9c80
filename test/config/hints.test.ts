// Pastes the configuration that hints print: the file stays valid, and the next run does not print the hint.
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";
import { parseConfig } from "../../src/config/rtfig.ts";
import { startLive } from "../options/live.ts";
import { createProject, type Files } from "../support/project.ts";
import { cleanEnvironment, type Environment, REPOSITORY, runRt } from "../support/rt.ts";

const HINT = /add to \[(.+?)\] of rtfig\.toml: ((?:"(?:[^"\\]|\\.)*"|[\w-]+) = .*)$/gm;

function hintsIn(output: string): RegExpExecArray[] {
  return [...output.matchAll(HINT)];
}

function keyOf(line: string): string | undefined {
  return Object.keys(Bun.TOML.parse(line))[0];
}

/** rtfig.toml with the line of each hint in its section, in the place of the line for the same key. */
function paste(config: string, output: string): string {
  const hints = hintsIn(output);
  if (hints.length === 0) throw new Error(`no hint in: ${output}`);
  const lines = config.split("\n");
  for (const [, section, line] of hints) {
    let at = lines.indexOf(`[${section}]`);
    if (at < 0) at = lines.push(`[${section}]`) - 1;
    const end = lines.findIndex((each, index) => index > at && each.startsWith("["));
    const own = lines.slice(at + 1, end < 0 ? undefined : end).filter((each) => keyOf(each) !== keyOf(line!));
    lines.splice(at + 1, (end < 0 ? lines.length : end) - at - 1, line!, ...own);
  }
  return lines.join("\n");
}

interface Case {
  readonly config: string;
  /** Arguments of rt; without them the script "t". */
  readonly args?: readonly string[];
  readonly env?: Environment;
  readonly files?: Files;
  readonly scripts?: Readonly<Record<string, string>>;
  /** Applies the rest of the hint. */
  readonly fix?: (config: string) => string;
  /** Whether the run writes rtfig.toml, as `rt cache import` does. */
  readonly isWritten?: true;
}

const without = (key: string) => (config: string) => config.replace(new RegExp(`^${key} = .*\n`, "m"), "");
const CACHED = "[run.cache]\nt = true\n";
const REMOTE = ["--remote", "run", "--dry-run", "t"];
const SHARE = ["--share=redis://127.0.0.1:1", "--share-id=1", "--workspaces", "run"];
const UNREACHABLE = "https://127.0.0.1:1";
const SOURCE = '[secrets.TOKEN]\nfrom = "acme/token"\n[run.secrets]\nt = ["TOKEN"]\n';
/** A script name with special characters of TOML, terminals and CI services. */
const ODD = 'od"d \\ \u0007\u009b\u202e::set ##[x] é';

const ODD_ROW = JSON.stringify(`*#${ODD}`).replace("\u009b", "\\u009b");

const CASES: Readonly<Record<string, Case>> = {
  "a shared cache without an address": { config: `${CACHED}[cache.remote]\ntimeout = 1\n` },
  "a token in plain text": {
    config: `${CACHED}[cache.remote]\nurl = "${UNREACHABLE}"\ntoken = "x"\n`,
  },
  "a signature key in plain text": {
    config: `${CACHED}[cache.remote]\nurl = "${UNREACHABLE}"\nsignature-key = "x"\n`,
  },
  "a token for the Remote Execution API": {
    config: `${CACHED}[cache.remote]\nurl = "grpcs://localhost:1"\ntoken = "$X"\n`,
    fix: without("token"),
  },
  "headers for turbo's protocol": {
    config: `${CACHED}[cache.remote]\nurl = "${UNREACHABLE}"\nheaders = { a = "b" }\n`,
    fix: without("headers"),
  },
  "a token that is not set": { config: `${CACHED}[cache.remote]\nurl = "${UNREACHABLE}"\n` },
  "a signature key that is not set": {
    config: `${CACHED}[cache.remote]\ntimeout = 1\n`,
    env: { TURBO_API: UNREACHABLE, TURBO_TOKEN: "x" },
  },
  "a shared run without caches": {
    config: "",
    args: [...SHARE, ODD],
    scripts: { [ODD]: "true" },
  },
  "a shared run without a shared cache": { config: CACHED, args: [...SHARE, "t"] },
  "--remote without a server": { config: "", args: REMOTE },
  "a password in the address of a server": {
    config: '[run.remote]\nurl = "grpcs://me:secret@localhost:1"\n',
    args: REMOTE,
    fix: (config) => config.replace("me:secret@", ""),
  },
  "headers that would be sent unencrypted": {
    config: '[run.remote]\nurl = "grpc://remote.example.com:1"\n[run.remote.headers]\na = "b"\n',
    args: REMOTE,
  },
  "a server of another system": {
    config: '[run.remote]\nurl = "grpc://localhost:1"\nsystem = "plan9-mips"\n',
    args: ["--remote", "run", "t"],
  },
  "a grant of a secret that is not declared": { config: '[run.secrets]\nt = ["TOKEN"]\n' },
  "a grant of a name that no variable can have": {
    config: `[run.secrets]\nt = [${ODD_ROW}]\n`,
  },
  "a secret without a source": { config: '[secrets.TOKEN]\nabout = "x"\n[run.secrets]\nt = ["TOKEN"]\n' },
  "a secret that is a common word": { config: SOURCE, env: { TOKEN: "production" } },
  "a secret that is too short": { config: SOURCE, env: { TOKEN: "7654321" } },
  "a secret that the script around does not get": {
    config: `[secrets.OTHER]\nfrom = "acme/other"\noptional = true\n${SOURCE}${ODD_ROW} = ["OTHER"]\n`,
    args: ["run", ODD],
    env: { TOKEN: "a-value-of-the-environment", OTHER: "another-value-of-it" },
    scripts: { [ODD]: "rt --silent run t", t: "true" },
  },
  "a credential beside a setting that only rt reads": {
    config: 'preload = "./p.ts"\n[install.registry]\nurl = "http://127.0.0.1:9/"\ntoken = "secret-7"\n',
    args: ["a.ts"],
    files: { "a.ts": "", "p.ts": "" },
  },
  "a file of turbo without the server's address": {
    config: "",
    args: ["cache", "import", "turbo.json"],
    files: { "turbo.json": { tasks: { t: {} }, remoteCache: { teamId: "team_x" } } },
    isWritten: true,
  },
};

test.skipIf(process.platform === "win32").each(Object.entries(CASES))(
  "the hint about %s can be pasted, and does not come again",
  async (_, { config, args = ["run", "t"], env, files = {}, scripts = { t: "true" }, fix, isWritten }) => {
    await using project = await createProject({
      "package.json": { name: "project", workspaces: ["web"], scripts },
      "web/package.json": { name: "web", scripts },
      ...files,
      "rtfig.toml": config,
    });
    const run = async () => {
      const { stdout, stderr } = await runRt({ args, cwd: project.path, env });
      return stdout + stderr;
    };
    const first = await run();
    const written = isWritten ? await Bun.file(project.join("rtfig.toml")).text() : config;
    const pasted = paste(fix?.(written) ?? written, first);
    expect(parseConfig(pasted, "rtfig.toml").settings.length).toBeGreaterThan(0);
    expect(first).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
    await project.write({ "rtfig.toml": pasted });
    const again = hintsIn(await run()).map(([hint]) => hint);
    expect(again).not.toContainAnyValues(hintsIn(first).map(([hint]) => hint));
  },
);

test.skipIf(process.platform === "win32")(
  "the hint of an import without --script gives the moved secrets to the first script",
  async () => {
    await using project = await createProject({
      "package.json": { name: "shop", scripts: { [ODD]: "echo $NPM_TOKEN $OLD" } },
      "rtfig.toml": `[secrets.OLD]\nfrom.command = ["echo", "the-old-value"]\n[run.secrets]\n${ODD_ROW} = ["OLD"]\n`,
      ".env": "NPM_TOKEN=the-new-value\n",
    });
    const rt = async (args: readonly string[], env: Environment = {}) =>
      await runRt({ args, cwd: project.path, env });
    const { stdout: key } = await rt(["secrets", "share", "new-key"]);
    const env = { RT_AGE_KEY: /^AGE-SECRET-KEY-.*$/m.exec(key)![0] };
    const words = ["secrets", "import", ".env", "NPM_TOKEN", "--to=age:secrets.age", "--yes"];
    const { stdout, stderr } = await rt(words, env);
    expect(stderr).toContain("warning: Added the project identifier");
    const file = Bun.file(project.join("rtfig.toml"));
    await project.write({ "rtfig.toml": paste(await file.text(), stdout) });
    const [, trust] = /RT_TRUST=([0-9a-f,]{64,})$/m.exec((await rt(["trust"], env)).stderr)!;
    const args = ["--silent", "run", "--no-redact", ODD];
    expect(await rt(args, { ...env, RT_TRUST: trust })).toEqual({
      stdout: "the-new-value the-old-value\n",
      stderr: "",
      status: 0,
    });
  },
);

test("the hint of an import into [project] without an identifier can be pasted", async () => {
  const config = "[project]\n";
  await using project = await createProject({
    "package.json": { name: "shop" },
    "rtfig.toml": config,
    ".env": "NPM_TOKEN=the-new-value\n",
  });
  const rt = async (args: readonly string[], env: Environment = {}) =>
    await runRt({ args, cwd: project.path, env });
  const { stdout: key } = await rt(["secrets", "share", "new-key"]);
  const env = { RT_AGE_KEY: /^AGE-SECRET-KEY-.*$/m.exec(key)![0] };
  const words = ["secrets", "import", ".env", "NPM_TOKEN", "--to=age:secrets.age", "--yes"];
  const { stderr } = await rt(words, env);
  await project.write({ "rtfig.toml": paste(config, stderr) });
  expect(await rt(words, env)).toMatchObject({ stderr: "", status: 0 });
});

test.skipIf(process.platform === "win32").each([
  ["stamp.ts", "stamp.ts"],
  ["a name with quotes, globs and control characters", "!{it's} \\[a]*?\u0007\n\".ts"],
])("the hint about a file that a watched script writes can be pasted (%s)", async (_, name) => {
  const written = `"src/$NAME"; echo "started $(cat poke.json)."`;
  const config = '[watch]\nignore = ["*.gen"]\n';
  await using project = await createProject({
    "package.json": { scripts: { dev: `date +%N > ${written}` } },
    "rtfig.toml": config,
    "poke.json": "0",
    "src/other.ts": "",
  });
  const start = (...options: string[]) =>
    startLive({
      args: ["--watch", ...options, "run", "dev"],
      cwd: project.path,
      env: { NO_COLOR: "1", NAME: name },
    });
  let output: string;
  {
    await using live = start();
    await live.see(/which it watches.*\nhint: .*\n/);
    output = live.output;
  }
  const pasted = paste(config, output);
  const { watch } = parseConfig(pasted, "rtfig.toml").content as { watch: { ignore: string[] } };
  expect(watch.ignore).toEqual(["*.gen", expect.any(String)]);
  const [, word] = /hint: add (--watch-ignore=.*), or add to \[/.exec(output)!;
  const shell = Bun.spawnSync(["sh", "-c", `printf %s ${word}`], { env: cleanEnvironment() });
  expect(shell.stdout.toString()).toBe(`--watch-ignore=${watch.ignore[1]}`);
  await project.write({ "rtfig.toml": pasted, "poke.json": "1" });
  await using live = start();
  await live.see("started 1.");
  for (const poke of ["2", "3", "4"]) {
    await project.write({ "poke.json": poke });
    await live.see(new RegExp(`rt: poke\\.json changed[^]*started ${poke}\\.`));
  }
  expect(live.output).not.toContain("which it watches");
});

test("a written file outside the working directory gets no hint, because an ignore pattern cannot match it", async () => {
  await using project = await createProject({
    "app/package.json": { scripts: { dev: "date +%N > ../lib/stamp.ts; cat ../lib/poke.ts" } },
    "lib/stamp.ts": "",
    "lib/poke.ts": "poke 0.",
  });
  await using live = startLive({
    args: ["--watch", "--watch-path=../lib", "run", "dev"],
    cwd: project.join("app"),
    env: { NO_COLOR: "1" },
  });
  await live.see("which it watches; ignoring it from now on");
  await project.write({ "lib/poke.ts": "poke 1." });
  await live.see("poke 1.");
  expect(live.output).not.toContain("hint:");
});

test("every hint of the source that names a section of rtfig.toml is made by configHint()", async () => {
  const hint =
    /["'`][^"'`]*\b(?:add|set|write|give|declare|put)\b.*(?:\[(?:run|cache|watch|secrets|install|project)\b|rtfig\.toml)/i;
  const loose: string[] = [];
  for (const path of [...new Glob("src/**/*.ts").scanSync(REPOSITORY)].toSorted()) {
    const lines = (await Bun.file(join(REPOSITORY, path)).text()).split("\n");
    if (lines.some((line) => hint.test(line) && !/^\s*(?:\/\/|\*|\/\*)/.test(line))) loose.push(path);
  }
  expect(loose).toEqual([
    "src/cache/import/command.ts", // the table as a whole
    "src/cache/import/pnpm.ts", // the table as a whole
    "src/cache/key/rule-line.ts", // the complete rule, which replaces the present one
    "src/secrets/import/mapping-editor.ts", // to write sections instead of inline tables
  ]);
});
