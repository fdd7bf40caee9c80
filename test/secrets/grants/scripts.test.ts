// [secrets] and [run.secrets] of rtfig.toml: which script gets which value, from which source, and errors for missing values.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Files, type Project } from "../../support/project.ts";
import { ABSENT, type RtResult, runRt } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";

const SHOW = 'echo "$npm_package_name $npm_lifecycle_event: $ONE|$TWO|$PRINTED|$MAYBE"';
const CONFIG = `
[secrets.ONE]
from = "acme/one"
[secrets.TWO]
from = { service = "acme/x", name = "two" }
[secrets.PRINTED]
from = { command = ["./print", "a word", "$HOME"] }
[secrets.MAYBE]
from = "acme/never"
optional = true
[secrets.GONE]
from = "acme/gone"
about = "of the old server"
[secrets.FAILING]
from.command = ["./fail"]
[run.secrets]
"show*" = ["ONE", "MAYBE"]
"web#show" = ["TWO"]
"pre*" = ["TWO"]
postshow = ["PRINTED"]
printed = ["PRINTED"]
broken = ["GONE", "FAILING", "ONE"]
"{a,b}*" = ["ONE"]
descriptors = ["ONE"]
reading = ["PRINTED"]
"[" = ["TWO"]
`;
const FILES: Files = {
  "rtfig.toml": CONFIG,
  "package.json": {
    name: "root",
    workspaces: ["packages/*"],
    scripts: {
      show: SHOW,
      preshow: SHOW,
      postshow: SHOW,
      "show:other": SHOW,
      hidden: SHOW,
      printed: SHOW,
      prepare: SHOW,
      broken: SHOW,
      apple: SHOW,
      reading: `${SHOW}; cat`,
      descriptors: "ls /proc/self/fd | sort -n | tr '\\n' ' '; echo",
      nested: "rt --silent --no-redact run show 2>&1; rt --silent run hidden",
    },
  },
  "packages/web/package.json": { name: "web", scripts: { show: SHOW, hidden: SHOW } },
  "packages/lib/package.json": { name: "lib", scripts: { show: SHOW } },
  print: "#!/bin/sh\nprintf '%s,%s\\r\\n' \"$@\"; cat",
  fail: "#!/bin/sh\necho never-shown; echo its own words >&2; exit 3",
};

describe.skipIf(process.platform !== "linux")("secrets of scripts", () => {
  let keyring: Keyring;
  let project: Project;
  let env: Record<string, string>;
  const store = async (service: string, account: string, value: string) =>
    await keyring.run(["secret-tool", "store", "--label=a", "service", service, "account", account], value);
  beforeAll(async () => {
    [keyring, project] = await Promise.all([startKeyring(), createProject(FILES, ["print", "fail"])]);
    await store("acme", "one", "value-1");
    await store("acme/x", "two", "value-2");
    env = { ...keyring.env, RT_TRUST: `x, ${await trustOf(project.path)}` };
  });
  afterAll(async () => {
    await keyring?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });
  const run = (args: string[], extra: Record<string, string> = {}, folder = "."): Promise<RtResult> =>
    runRt({
      args: ["--silent", "--no-redact", ...args],
      cwd: project.join(folder),
      env: { ...env, ...extra },
    });

  test("a script gets the secrets granted to it, and its hooks only those granted by their exact names", async () => {
    expect(await run(["run", "show"])).toEqual({
      stdout: "root preshow: |||\nroot show: value-1|||\nroot postshow: ||a word,$HOME|\n",
      stderr: "",
      status: 0,
    });
    expect((await run(["run", "show:other"])).stdout).toBe("root show:other: value-1|||\n");
    for (const args of [
      ["--shell=rt", "run", "show:other"],
      ["--shell=rt", "run", "--sequential", "show:other"],
    ])
      expect((await run(args)).stdout).toContain("root show:other: value-1|||\n");
    expect((await run(["run", "hidden"])).stdout).toBe("root hidden: |||\n");
    expect((await run(["apple"])).stdout).toBe("root apple: value-1|||\n");
    // A hook that is run by name is an ordinary script, which a glob matches.
    expect((await run(["run", "prepare"])).stdout).toBe("root prepare: |value-2||\n");
  });

  test("a package's script gets secrets granted to the package, also when rt runs in its folder", async () => {
    const web = "web show: value-1|value-2||\n";
    expect((await run(["run", "show"], {}, "packages/web")).stdout).toBe(web);
    expect((await run(["run", "show"], {}, "packages/lib")).stdout).toBe("lib show: value-1|||\n");
    expect((await run(["run", "hidden"], {}, "packages/web")).stdout).toBe("web hidden: |||\n");
  });

  test("every script of a run with several scripts gets its own secrets", async () => {
    const { stdout, status } = await run(["run", "--sequential", "show", "hidden", "printed"]);
    expect([stdout.split("\n").sort(), status]).toEqual([
      [
        "",
        "hidden  | root hidden: |||",
        "printed | root printed: ||a word,$HOME|",
        "show    | root postshow: ||a word,$HOME|",
        "show    | root preshow: |||",
        "show    | root show: value-1|||",
      ],
      0,
    ]);
    const filtered = await run(["--filter", "*", "run", "show"]);
    expect(filtered.stdout.split("\n").sort()).toEqual([
      "",
      "lib show: Exited with code 0",
      "lib show: lib show: value-1|||",
      "web show: Exited with code 0",
      "web show: web show: value-1|value-2||",
    ]);
    // --secret applies to the script, not to its hooks.
    const requested = await run(["--secret=TWO=acme/one", "run", "--sequential", "show"]);
    expect(requested.stdout).toContain("root show: value-1|value-1||");
    expect(requested.stdout).toContain("root preshow: |||");
  });

  test("plans and reports contain names and sources, but no values", async () => {
    const shown = [
      { name: "ONE", source: "acme/one" },
      { name: "MAYBE", source: "environment" },
    ];
    const plan = await run(["run", "--dry-run=json", "--sequential", "show"], { MAYBE: "value-0" });
    const [, main, post] = JSON.parse(plan.stdout).tasks[0].steps;
    expect([main.secrets, post.secrets]).toEqual([
      shown,
      [{ name: "PRINTED", source: 'command ["./print","a word","$HOME"]' }],
    ]);
    const text = await run(["run", "--dry-run", "--sequential", "show"], { MAYBE: "value-0" });
    expect(text.stdout).toContain("    ONE from acme/one\n    MAYBE from environment\n");
    const report = project.join("report.json");
    await run(["run", "--sequential", `--report=${report}`, "show"], { MAYBE: "value-0" });
    const written = await readFile(report, "utf8");
    expect(JSON.parse(written).tasks[0].steps[1].secrets).toEqual(shown);
    const page = project.join("run.html");
    await run(["run", "--sequential", `--report=${page}`, "show"], { MAYBE: "value-0" });
    const html = await readFile(page, "utf8");
    expect(html).toContain('"secrets":["ONE","MAYBE"]');
    const debug = await run(["run", "show"], { MAYBE: "value-0", RT_DEBUG: "plan" });
    expect(JSON.parse(debug.stderr).secrets).toContainEqual(shown[0]);
    for (const each of [plan.stdout, plan.stderr, text.stdout, written, debug.stderr])
      expect(each).not.toContain("value-");
  });

  test("--secret wins over the environment, the environment over the source, and the source over env files", async () => {
    await using files = await createProject({ "v.env": "ONE=file\nTWO=file\nPRINTED=file\n" });
    const options = [`--env-file=${files.join("v.env")}`, "--secret=TWO=acme/one"];
    const { stdout } = await run(["run", ...options, "printed"], { TWO: "inherited", ONE: "inherited" });
    expect(stdout).toBe("root printed: |value-1|a word,$HOME|\n");
    const given = await run(["run", ...options, "show:other"], { TWO: "inherited", ONE: "inherited" });
    expect(given.stdout).toBe("root show:other: inherited|value-1||\n");
    const empty = await run(["run", "show:other"], { ONE: "" });
    expect(empty.stdout).toBe("root show:other: |||\n");
  });

  test("scripts need neither a store nor trust when the environment has all secrets, as in CI", async () => {
    const given = { ONE: "a", MAYBE: "b", RT_TRUST: "", DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}` };
    expect((await run(["run", "show:other"], given)).stdout).toBe("root show:other: a|||b\n");
  });

  test("processes of a script inherit its secrets, and scripts that it starts get no others", async () => {
    const { RT_TRUST: _, ...untrusted } = env;
    const nested = await runRt({ args: ["run", "nested"], cwd: project.path, env: untrusted });
    expect(nested.stdout).toContain("is not allowed to read these secrets");
    expect(nested.stdout).toContain("root hidden: |||\n");
    const inherited = await run(["run", "--secret=ONE=acme/one", "nested"]);
    expect(inherited.stdout).toBe(
      "root preshow: value-1|||\nroot show: value-1|||\nroot postshow: value-1||a word,$HOME|\n" +
        "root hidden: value-1|||\n",
    );
  });

  test("missing secrets are reported at once with a hint for each, and no script starts", async () => {
    const { stdout, stderr, status } = await run(["run", "broken"]);
    expect([stdout, status]).toEqual(["", 1]);
    expect(stderr).toBe(
      "its own words\n" +
        "error: Missing secrets: GONE (of the old server), FAILING\n" +
        "hint: rt secrets set acme gone\n" +
        'hint: FAILING: The command "./fail" failed with exit code 3\n',
    );
    const many = await run(["run", "--sequential", "hidden", "broken"]);
    expect([many.stdout, many.stderr, many.status]).toEqual(["", stderr, 1]);
  });

  test("rt secrets env prints names, sources and missing secrets of all scripts or of one, but no values", async () => {
    const all = await runRt({ args: ["secrets", "env"], cwd: project.path, env: { ...env, TWO: "value-0" } });
    expect(all.stdout.split("\n").map((line) => line.trimEnd().replaceAll(/ {2,}/g, "  "))).toEqual([
      "ONE  stored  acme/one  show* broken {a,b}* descriptors",
      'TWO  in the environment  service "acme/x", name "two"  web#show pre* [',
      'PRINTED  unchecked  command ["./print","a word","$HOME"]  postshow printed reading',
      "MAYBE  missing, optional  acme/never  show*",
      "GONE  missing  acme/gone  broken  of the old server",
      'FAILING  unchecked  command ["./fail"]  broken',
      "",
      `${project.path} is allowed to read secrets`,
      "",
    ]);
    expect([all.stderr, all.status]).toEqual(["", 1]);
    const of = async (script: string, folder = ".") => {
      const options = { args: ["secrets", "env", "--json", script], cwd: project.join(folder), env };
      const { stdout, status } = await runRt(options);
      const { secrets } = JSON.parse(stdout) as { secrets: { name: string; state: string }[] };
      return [secrets.map(({ name, state }) => `${name} ${state}`).join(), status];
    };
    expect(await of("show")).toEqual(["ONE present,MAYBE missing", 0]);
    expect(await of("show", "packages/web")).toEqual(["ONE present,MAYBE missing,TWO present", 0]);
    expect(await of("web#show")).toEqual(["ONE present,MAYBE missing,TWO present", 0]);
    expect(await of("hidden")).toEqual(["", 0]);
    const unknown = await runRt({ args: ["secrets", "env", "hiden"], cwd: project.path, env });
    expect(unknown.stdout).toStartWith("hiden gets no secrets\n");
    expect([unknown.stderr, unknown.status]).toEqual([
      'warning: No script "hiden" in package.json\nhint: did you mean hidden?\n',
      0,
    ]);
    const known = await runRt({ args: ["secrets", "env", "hidden"], cwd: project.path, env });
    expect([known.stderr, known.status]).toEqual(["", 0]);
  });

  test("the error without a store names other sources for the values", async () => {
    const { stderr, status } = await run(["run", "show:other"], {
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}`,
    });
    expect([stderr.split("\n")[0], status]).toEqual([
      `error: Cannot read ONE from the credential store: No session bus answers at unix:path=${ABSENT} (ENOENT)`,
      1,
    ]);
    expect(stderr).toContain("or set the variables in the environment, as in CI");
    expect(stderr).toEndWith(
      "hint: on a machine without a store, keep the secrets in an age-encrypted file: rt help encrypted-file\n",
    );
  });

  test("a source command cannot read the script's standard input", async () => {
    const options = { args: ["--silent", "run", "reading"], cwd: project.path, env, stdin: "for the script" };
    expect((await runRt(options)).stdout).toBe("root reading: ||[PRINTED]|\nfor the script");
  });

  test("a script inherits no descriptor of the connection to the store", async () => {
    const list = ["--secret=ONE=acme/one", "run", "--"];
    const sh = ["sh", "-c", "ls /proc/self/fd | sort -n | tr '\\n' ' '"];
    const { stdout } = await run([...list, ...sh]);
    expect(stdout).toBe("0 1 2 3 ");
    const files = `console.log(require("fs").readdirSync("/proc/self/fd").filter((fd) => { if (fd < 3) return false; try { return require("fs").readlinkSync("/proc/self/fd/" + fd).startsWith("socket:") } catch { return false } }))`;
    expect((await run(["--secret=ONE=acme/one", "-e", files])).stdout).toBe("[]\n");
    const script = await run(["run", "descriptors"]);
    expect(script.stdout).toBe("0 1 2 3 \n");
  });

  test("a script without a grant needs neither a store nor trust", async () => {
    const without = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}`, RT_TRUST: "" };
    expect(await run(["run", "hidden"], without)).toEqual({
      stdout: "root hidden: |||\n",
      stderr: "",
      status: 0,
    });
  });
});
