// `rt config schema` and `rt config migrate`.
import { describe, expect, test } from "bun:test";
import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { KEYS } from "../../src/config/keys.ts";
import { createProject, type Files } from "../support/project.ts";
import { REPOSITORY, runRt } from "../support/rt.ts";
import { workspace } from "../support/workspace.ts";

const OLD = `# The shop.
preload = ["./setup.ts"] # early

[run]
silent = true

# What is cached.
[run.cache] # local
# the bundle
build = { env = ["API_URL"], outputs = ["dist/**"] } # slow
test.inputs = [
  "../schema/**", # shared
  "fixtures/#1",
]
"web#build" = true
lint = false

# secrets of scripts
[run.secrets]
release = ["NPM_TOKEN"]

[secrets.NPM_TOKEN]
from = "shop/npm"

[run.remote]
url = "grpcs://x.example"

# far away
[run.remote.scripts.build]
outputs = ["dist"]
remote = true
`;

const NEW = `# The shop.
preload = ["./setup.ts"] # early

[run]
silent = true

[secrets.NPM_TOKEN]
from = "shop/npm"

[run.remote]
url = "grpcs://x.example"

# What is cached.
# local
# far away
[tasks.build]
cache = true
# the bundle
env = ["API_URL"] # slow
outputs = ["dist/**"]
remote = true

[tasks.test]
cache = true
inputs = [
  "../schema/**", # shared
  "fixtures/#1",
]

[tasks."web#build"]
cache = true
env = []

[tasks.lint]
cache = false

# secrets of scripts
[tasks.release]
secrets = ["NPM_TOKEN"]
`;

async function migrate(files: Files, ...more: readonly string[]) {
  await using project = await createProject(files);
  const result = await runRt({ args: ["config", "migrate", ...more], cwd: project.path });
  return { ...result, text: await Bun.file(project.join("rtfig.toml")).text() };
}

describe("rt config migrate", () => {
  test("moves rules to [tasks] with their comments, and keeps everything else", async () => {
    await using project = await createProject({ "rtfig.toml": OLD });
    await chmod(project.join("rtfig.toml"), 0o640);
    const run = async (...args: string[]) => await runRt({ args: ["config", ...args], cwd: project.path });
    const text = async () => await Bun.file(project.join("rtfig.toml")).text();
    expect(await run("migrate", "--dry-run")).toEqual({ stdout: NEW, stderr: "", status: 0 });
    expect(await text()).toBe(OLD);
    expect((await run("migrate")).stdout).toBe(
      'Moved the rules of 5 scripts to [tasks] in rtfig.toml\nnote: "web#build" now also has outputs of [tasks.build]\n',
    );
    expect(await text()).toBe(NEW);
    expect((await stat(project.join("rtfig.toml"))).mode & 0o777).toBe(0o640);
    expect((await run("migrate")).stdout).toBe("rtfig.toml has no rules to move to [tasks]\n");
    expect(await text()).toBe(NEW);
  });

  test.each<[string, string, string]>([
    [
      "a table in one line",
      '[run]\ncache = { a = true, b = { env = ["X"] } }',
      '[run]\n\n[tasks.a]\ncache = true\n\n[tasks.b]\ncache = true\nenv = ["X"]\n',
    ],
    [
      "tables of scripts",
      '[run.cache.a]\ntrace = false\n[run.cache."p#b"]\nshared = false',
      '[tasks.a]\ncache = true\ntrace = false\n\n[tasks."p#b"]\ncache = true\nshared = false\n',
    ],
    [
      "dotted keys",
      'run.cache.a = true\nrun.secrets."a*" = []\nsmol = true',
      'smol = true\n\n[tasks.a]\ncache = true\n\n[tasks."a*"]\nsecrets = []\n',
    ],
    [
      "strings with quotes and brackets",
      '[run.cache]\na.outputs = [\'[#\', "\\"]#", """x"#"""] # c',
      '[tasks.a]\ncache = true\noutputs = [\'[#\', "\\"]#", """x"#"""] # c\n',
    ],
    ["a comment at the end", "[run.cache]\na = true\n# end", "# end\n\n[tasks.a]\ncache = true\n"],
  ])("understands %s", async (_, before, after) => {
    expect(await migrate({ "rtfig.toml": before })).toEqual({
      stdout: expect.any(String),
      stderr: "",
      status: 0,
      text: after,
    });
  });

  test.each<[string, string, string]>([
    [
      "different lists for the cache and a server",
      '[run.cache]\na = { env = ["X"] }\n[run.remote.scripts.a]\nenv = ["Y"]\n',
      'rtfig.toml: "a" has different env in [run.cache] and [run.remote.scripts]\n' +
        "hint: give both the same values first: [tasks] has one list for both",
    ],
    [
      "a task that exists",
      "[run.cache]\na = true\n[tasks.a]\nretries = 1\n",
      "rtfig.toml has [tasks.a] already\nhint: move its keys by hand",
    ],
    [
      "a table that has other keys in the same line",
      "run = { cache = { a = true }, silent = true }\n",
      "rtfig.toml cannot be rewritten\nhint: move the rules to [tasks] by hand: rt help tasks",
    ],
  ])("refuses %s, and changes nothing", async (_, text, error) => {
    expect(await migrate({ "rtfig.toml": text })).toEqual({
      stdout: "",
      stderr: `error: ${error}\n`,
      status: 1,
      text,
    });
  });

  test("keeps what each task gets", async () => {
    const files = workspace({ web: { scripts: { build: "true" } }, ui: { scripts: { build: "true" } } });
    const config =
      '[run.cache]\nbuild = { trace = false, outputs = ["o"] }\n"web#build" = { outputs = ["w"] }\n';
    await using project = await createProject({ ...files, "rtfig.toml": config });
    const env = { XDG_CACHE_HOME: project.join("cache") };
    const rt = async (...args: string[]) => await runRt({ args, cwd: project.path, env });
    await rt("run", "--filter=*", "build");
    await rt("config", "migrate");
    const { stdout } = await rt("run", "--filter=*", "build");
    expect(stdout.match(/Cached \(saved/g)).toHaveLength(2);
  });
});

type Schema = Readonly<{
  type?: string;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: Schema | false;
  items?: Schema;
  minimum?: number;
  maximum?: number;
}>;

/** The parts of JSON Schema that the schema of rtfig.toml uses. */
function accepts(schema: Schema, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((each) => accepts(each, value));
  if (schema.enum) return schema.enum.includes(value);
  if (schema.type === "array")
    return Array.isArray(value) && value.every((each) => accepts(schema.items!, each));
  if (schema.type === "integer") {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    return Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
  }
  if (schema.type !== "object") return typeof value === schema.type;
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    // A date is a Temporal object.
    [Object.prototype, null].includes(Object.getPrototypeOf(value) as null) &&
    Object.entries(value).every(([name, each]) => {
      const own = schema.properties?.[name] ?? schema.additionalProperties;
      return own !== undefined && own !== false && accepts(own, each);
    })
  );
}

describe("rt config schema", () => {
  const read = async () => JSON.parse((await runRt({ args: ["config", "schema"] })).stdout) as Schema;

  test("accepts the example of every key, and no other key or value", async () => {
    const schema = await read();
    const example = await Bun.file(join(REPOSITORY, "rtfig.toml.example")).text();
    let section = "";
    let count = 0;
    for (const line of example.split("\n")) {
      if (line.startsWith("[")) section = line;
      const assignment = /^# (["\w.-]+ = .+)$/.exec(line)?.[1];
      if (!assignment) continue;
      count += 1;
      const accepted = (text: string) => accepts(schema, Bun.TOML.parse(`${section}\n${text}\n`));
      expect([assignment, accepted(assignment)]).toEqual([assignment, true]);
      expect([assignment, accepted(assignment.replace(/ = .*/, " = { no = 1979-05-27 }"))]).toEqual([
        assignment,
        false,
      ]);
    }
    expect(count).toBe(KEYS.length);
    for (const wrong of [
      "smoll = true",
      "[tasks.a]\ncash = true",
      "[tasks.a]\nretries = -1",
      '[tasks.a]\nwhen = "x"',
    ])
      expect([wrong, accepts(schema, Bun.TOML.parse(wrong))]).toEqual([wrong, false]);
  });
});

test("an editor's TOML checker accepts a file with the schema, and names a wrong key and a wrong value", async () => {
  const { stdout } = await runRt({ args: ["config", "schema"] });
  const tasks = (lines: string) => `#:schema ./schema.json\n[tasks."web#test"]\n${lines}\n`;
  await using project = await createProject({
    "schema.json": stdout,
    "good.toml": tasks(
      'depends-on = ["^build"]\ntimeout = "10m"\nsecrets = ["TOKEN"]\n[run.secrets]\n"*" = ["KEY"]',
    ),
    "key.toml": tasks('dependson = ["^build"]'),
    "value.toml": tasks("timeout = 5"),
  });
  const taplo = Bun.resolveSync("@taplo/cli/dist/cli.js", import.meta.dir);
  const args = [taplo, "check", "good.toml", "key.toml", "value.toml"];
  const { status, stderr } = await runRt({ program: ["node"], args, cwd: project.path });
  expect(status).toBe(1);
  const places = stderr.matchAll(/^error: (.*)\n.*?(\w+\.toml):/gm);
  const found = Array.from(places, ([, message, file]) => `${file}: ${message}`);
  expect(new Set(found)).toEqual(
    new Set([
      "key.toml: Additional properties are not allowed ('dependson' was unexpected)",
      'value.toml: 5 is not of type "string"',
    ]),
  );
});

test.each([
  [["config"], "rt config needs a word", "rt config schema, or rt config migrate"],
  [["config", "schem"], 'rt config has no "schem"', 'did you mean "schema"?'],
  [["config", "schema", "x"], 'Unexpected argument "x"', "see rt help config"],
])("rt %p is an error", async (args, error, hint) => {
  expect(await runRt({ args })).toEqual({
    stdout: "",
    stderr: `error: ${error}\nhint: ${hint}\n`,
    status: 1,
  });
});
