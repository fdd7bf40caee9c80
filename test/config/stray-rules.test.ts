// Rules of rtfig.toml that match no script: runs that read all packages warn, other runs do not.
import { expect, test } from "bun:test";
import { createProject, type Files, type Project } from "../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { scripts, workspace } from "../support/workspace.ts";

const PACKAGES = workspace(
  {
    web: { scripts: { build: "echo built", look: "test -t 1 && echo on a terminal" } },
    "@acme/lib": { scripts: { "test:unit": "true" } },
  },
  { workspaces: ["packages/**"] },
);
const cacheRules = (...names: string[]) => ({
  "rtfig.toml": `[run.cache]\n${names.map((name) => `${JSON.stringify(name)} = true\n`).join("")}`,
});

async function run(project: Project, args: readonly string[], folder = "") {
  const env = { XDG_CACHE_HOME: project.join("cache") };
  const { stderr, stdout, status } = await runRt({ args, cwd: project.join(folder), env });
  const warned = stderr.split("\n").filter((line) => line.startsWith("warning: "));
  return { warned: warned.map((line) => line.slice("warning: ".length)), stdout, status };
}

async function runIn(files: Files, args: readonly string[] = ["run", "--filter=web", "build"], folder = "") {
  await using project = await createProject({ ...PACKAGES, ...files });
  return await run(project, args, folder);
}

test("a run with --filter warns about unmatched rules with a suggestion, and continues", async () => {
  const config = cacheRules("build", "web#build", "@acme/lib#test:unit", "biuld", "web#biuld", "else\u001b");
  const expected = [
    '[run.cache]: no package has a script "biuld"; did you mean "build"?',
    '[run.cache]: no package has a script "web#biuld"; did you mean "web#build"?',
    '[run.cache]: no package has a script "else\\u001b"',
  ];
  const { warned, stdout, status } = await runIn(config);
  expect({ warned, status }).toEqual({ warned: expected, status: 0 });
  expect(stdout).toContain("built");
  expect((await runIn(config, undefined, "packages/web")).warned).toEqual(expected);
  const { stdout: plan } = await runIn(config, ["run", "--filter=*", "--dry-run=json", "build"]);
  expect(JSON.parse(plan)).toMatchObject({
    warnings: expected.map((line) => line.replace("\\u001b", "\u001b")),
  });
  expect((await runIn(cacheRules("a", "b", "c", "d", "e"))).warned.slice(2)).toEqual([
    '[run.cache]: no package has a script "c"',
    "[run.cache]: no package has 2 more of these scripts",
  ]);
});

test("rt reports no rule when all match a script or when packages are unreadable", async () => {
  expect((await runIn(cacheRules("build", "web#build", "test:unit", "@acme/lib#test:unit"))).warned).toEqual(
    [],
  );
  const config = cacheRules("biuld");
  const withoutFilter = ["run", "build"];
  expect((await runIn(config, withoutFilter, "packages/web")).warned).toEqual([]);
  expect((await runIn(config, ["--no-cache", "run", "--filter=web", "build"])).warned).toEqual([]);
  const otherConfig = { "shared/rtfig.toml": config["rtfig.toml"] };
  const named = ["--config=shared/rtfig.toml", "run", "--filter=web", "build"];
  expect((await runIn(otherConfig, named)).warned).toEqual([]);
  const unreadable = { ...config, "packages/other/package.json": "{" };
  expect((await runIn(unreadable)).warned).not.toContainEqual(expect.stringContaining("biuld"));
});

test("unmatched rows of [run.secrets] are reported", async () => {
  const rows = ["build", "b*", "web#*", "@acme/*#test:*", "shwo", "wbe#*"];
  const table = rows.map((row) => `"${row}" = ["TOKEN"]\n`).join("");
  const config = { "rtfig.toml": `[secrets.TOKEN]\nfrom = "a/b"\n[run.secrets]\n${table}` };
  const { stdout } = await runIn(config, ["run", "--filter=*", "--dry-run", "look"]);
  expect(stdout.split("\n").filter((line) => line.startsWith("warning: "))).toEqual([
    'warning: [run.secrets]: no package has a script "shwo"',
    'warning: [run.secrets]: no package has a script "wbe#*"',
  ]);
});

test("unmatched rules of [run.remote.scripts] are reported", async () => {
  const config = `[run.remote]\nurl = "grpc://localhost:1"\nscripts.biuld.outputs = []\n`;
  await using project = await createProject({ ...PACKAGES, "rtfig.toml": config });
  Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
  const { stdout } = await run(project, ["--remote", "run", "--filter=*", "--dry-run", "look"]);
  expect(stdout).toStartWith(
    'warning: [run.remote.scripts]: no package has a script "biuld"; did you mean "build"?\n',
  );
});

test.skipIf(process.platform === "win32").each([
  ["the live view", []],
  ["--parallel", ["--parallel"]],
  ["--dry-run", ["--dry-run"]],
])("the label of a warning is yellow on a terminal with %s", async (_, options) => {
  const more = { "packages/more/package.json": { name: "more", scripts: { build: "true" } } };
  await using project = await createProject({ ...PACKAGES, ...more, ...cacheRules("biuld") });
  const words = [RT, "run", ...options, "--filter=*", "build"];
  const command = ["sh", "-c", '"$0" "$@"; echo "[over $?]"', ...words];
  await using terminal = startOnTerminal(command, cleanEnvironment(), { cwd: project.path });
  await terminal.awaitOutput("[over 0]");
  expect(terminal.shown.includes("\x1b[?2026h")).toBe(options.length === 0);
  expect(terminal.shown).toContain("\x1b[33mwarning:\x1b[39m [run.cache]: no package has");
});

test.skipIf(process.platform === "win32")(
  "the only script of a run has the terminal although a rule causes a warning",
  async () => {
    await using project = await createProject({ ...PACKAGES, ...cacheRules("biuld") });
    const words = [RT, "run", "--filter=web", "look"];
    const place = { cwd: project.path, isSessionLeader: true };
    await using terminal = startOnTerminal(words, cleanEnvironment(), place);
    await terminal.awaitOutput("\non a terminal\r\n");
    expect(await terminal.awaitExit()).toBe(0);
    expect(terminal.shown).toStartWith(
      `\x1b[33mwarning:\x1b[39m [run.cache]: no package has a script "biuld"; `,
    );
  },
);

test("a run that is replayed from the run memo repeats the warning", async () => {
  const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
  const packages = Object.fromEntries(names.map((name) => [name, scripts("true")]));
  await using project = await createProject({ ...workspace(packages), ...cacheRules("t", "tt") });
  for (const _ of [1, 2, 3, 4])
    expect((await run(project, ["run", "--filter=*", "t"])).warned).toContain(
      '[run.cache]: no package has a script "tt"; did you mean "t"?',
    );
});

test("rt doctor reports unmatched rules from every folder of the workspace", async () => {
  const doctor = async (files: Files) => {
    const { stdout } = await runIn(files, ["doctor", "--json"], "packages/web");
    const { installation } = JSON.parse(stdout) as { installation: { name: string }[] };
    return installation.filter(({ name }) => name === "rules");
  };
  expect(await doctor({})).toEqual([]);
  expect(await doctor(cacheRules("build"))).toEqual([
    expect.objectContaining({
      status: "ok",
      found: expect.stringMatching(/^Every rule in .*rtfig\.toml matches a script$/),
    }),
  ]);
  expect(await doctor(cacheRules("biuld", "web#\u001b"))).toEqual([
    expect.objectContaining({
      status: "warning",
      found:
        '[run.cache]: no package has a script "biuld"; did you mean "build"?; ' +
        '[run.cache]: no package has a script "web#\u001b"',
      remedy: expect.stringMatching(/^rename each rule in .*rtfig\.toml to a script's name, or remove it$/),
    }),
  ]);
});
