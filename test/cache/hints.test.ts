// Hints that contain configuration: the line is valid, and prevents the hint in the next run.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseConfig } from "../../src/config/rtfig.ts";
import { createProject } from "../support/project.ts";
import { waitUntil } from "../support/processes.ts";
import { REPOSITORY } from "../support/rt.ts";
import { CAN_TRACE, cachedProject } from "./cached-project.ts";

const HINT = /set its rule in \[run\.cache\] to: (("(?:[^"\\]|\\.)*"|[\w-]+) = .*)$/m;

/** Returns rtfig.toml with the hint's line instead of the rule of that name. */
function paste(config: string, output: string): string {
  const [, line, name] = HINT.exec(output) ?? [];
  if (line === undefined) throw new Error(`no hint in: ${output}`);
  const rest = config.split("\n").filter((each) => each !== "[run.cache]" && !each.startsWith(`${name} =`));
  return ["[run.cache]", line, ...rest].join("\n");
}

/** A script whose first run ends with a hint. */
interface Case {
  readonly script: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly rule?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that the hint says to set, too. */
  readonly set?: Readonly<Record<string, string>>;
  readonly message: RegExp;
  readonly isGit?: true;
  readonly name?: string;
}

const CASES: Readonly<Record<string, Case>> = {
  "a file outside the project that it wrote": {
    script: "echo x > $OUTSIDE/made",
    message: /outside the project/,
  },
  "a file that git ignores and it rewrote": {
    script: "echo x >> .tool && cat .tool > /dev/null",
    files: { ".tool": "", ".gitignore": ".tool\n" },
    rule: '{ env = ["A"], ignore = ["b c"] }',
    message: /it modified its own input/,
    isGit: true,
  },
  "the cache of a tool": {
    script: "echo x >> .next/cache/lint/.cache_1 && cat .next/cache/lint/.cache_1 > /dev/null",
    files: { ".next/cache/lint/.cache_1": "", ".gitignore": ".next\n" },
    message: /ignore = \["\.next\/cache\/\*\*"\]/,
    isGit: true,
  },
  "a source that it rewrote": {
    script: "echo x >> source && cat source > /dev/null",
    files: { source: "" },
    message: /git does not ignore it/,
    isGit: true,
  },
  "a file that it rewrote without git": {
    script: "echo x >> '[a].file' && cat '[a].file' > /dev/null",
    files: { "[a].file": "" },
    message: /it modified its own input/,
  },
  "a pipe that it made": { script: "rm -f p; mkfifo p", message: /neither a file nor a symlink/ },
  "a variable that it did not get when it failed": {
    script: 'echo x > out; test -n "$UNSEEN"',
    env: { UNSEEN: "1" },
    message: /did not get UNSEEN/,
  },
  "a variable that a build did not get": {
    script: "echo $VITE_URL > out",
    env: { VITE_URL: "x" },
    message: /did not get VITE_URL/,
    name: "web build",
  },
  "a tool whose telemetry used the network": {
    script: `cat node_modules/tool/telemetry.js; test -n "$TOOL_TELEMETRY_DISABLED" || bash -c 'echo > /dev/tcp/127.0.0.1/9' 2> /dev/null || true`,
    files: { "node_modules/tool/telemetry.js": "send(!process.env.TOOL_TELEMETRY_DISABLED)" },
    set: { TOOL_TELEMETRY_DISABLED: "1" },
    message: /network .*; tool\/telemetry\.js reads TOOL_TELEMETRY_DISABLED; to turn off telemetry, set that/,
  },
};

test.skipIf(!CAN_TRACE).each(Object.entries(CASES))(
  "the hint about %s can be pasted, and does not appear again",
  async (_, { script, files = {}, rule = "true", env, set, message, isGit, name = "t" }) => {
    await using outside = await createProject();
    const key = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
    const config = `[run.cache]\n${key} = ${rule}\nother = true\n`;
    await using project = await cachedProject(
      { [name]: script.replaceAll("$OUTSIDE", outside.path), other: "true" },
      { ...files, "rtfig.toml": config },
    );
    if (isGit) Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
    const first = (await project.rt(["run", name], env)).stderr;
    expect(first).toMatch(message);
    const pasted = paste(config, first);
    expect(parseConfig(pasted, "rtfig.toml").settings.length).toBeGreaterThan(1);
    await project.write({ "rtfig.toml": pasted });
    const second = await project.rt(["run", name], { ...env, ...set });
    expect(second.stderr).not.toMatch(message);
    expect({ status: second.status, stderr: second.stderr }).toMatchObject({ status: 0 });
  },
);

test.skipIf(!CAN_TRACE)(
  "the hint about names above the project can be pasted, and does not appear again",
  async () => {
    await using above = await createProject();
    await using project = await cachedProject(
      { t: "ls .. > seen; if test -e wait; then touch go; while test -e go; do sleep 0.05; done; fi" },
      { wait: "" },
      "t = true",
      above.path,
    );
    const run = async (number: number) => {
      const ran = project.rt(["--force", "run", "t"]);
      await waitUntil(async () => existsSync(project.join("go")));
      await above.write({ [`beside-${number}`]: "" });
      await Bun.file(project.join("go")).delete();
      return (await ran).stderr;
    };
    const first = await run(1);
    expect(first).toContain("another process added or removed files in ");
    await project.write({ "rtfig.toml": paste("[run.cache]\nt = true\n", first) });
    expect(await run(2)).not.toContain("was not cached");
  },
);

test("every hint of src/cache that names a key of [run.cache] is a line to paste", () => {
  const folder = join(REPOSITORY, "src/cache");
  const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .sort();
  const loose = texts.flatMap((name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .filter((line) =>
        /["'`].*\b(?:ignore|outputs|inputs|env|trace)\b[^"'`]*(?:in|of) \[run\.cache\]/.test(line),
      )
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(loose).toEqual([]);
});

test.skipIf(!CAN_TRACE)(
  "a hint names the row of [tasks] that sets the key, so that it takes effect",
  async () => {
    const rows = (...made: string[]) =>
      `[tasks.t]\ncache = true\nignore = ["x"]\n[tasks."web#t"]\noutputs = ${JSON.stringify(made)}\n`;
    await using project = await cachedProject(
      {},
      {
        "package.json": { name: "web", scripts: { t: "mkdir -p dist; echo x >> .tool; cat .tool > dist/a" } },
        ".tool": "",
        ".gitignore": ".tool\ndist\n",
        "rtfig.toml": rows("dist"),
      },
    );
    Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
    expect(await project.run("t")).toEndWith('set in [tasks."web#t"]: outputs = ["dist", ".tool"]');
    await project.write({ "rtfig.toml": rows("dist", ".tool") });
    expect(await project.run("t")).toBe("ran");
  },
);
