// `rt secrets check`: which values are credentials, and which comments take a finding back.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";

// Put together here, so that nobody's list finds them in this file.
const GITHUB = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
const VALUE = "hunter2+hunter2";

/** What it says of files, by lines, without the exit code that goes with it. */
async function findIn(files: Record<string, string>): Promise<string[]> {
  await using project = await createProject(files);
  const args = ["secrets", "check", ...Object.keys(files)];
  const { stdout, stderr, status } = await runRt({ args, cwd: project.path });
  const found = stdout.split("\n").slice(0, -1);
  expect({ stderr, status }).toEqual({ stderr: "", status: found.length > 0 ? 1 : 0 });
  for (const value of [GITHUB, VALUE]) expect(stdout.includes(value)).toBe(false);
  return found;
}

/** The names that are found in a file of variables. */
async function namesIn(text: string, file = ".env"): Promise<string[]> {
  return (await findIn({ [file]: text })).map((line) => line.replace(/^\S+: variable /, ""));
}

describe("a comment", () => {
  test("of secretlint's own takes nothing back", async () => {
    expect(
      await findIn({
        "a.js": `// secretlint-disable\nt = "${GITHUB}"\n`,
        "b.js": `t = "${GITHUB}" // secretlint-disable-line\n`,
        "c.txt": `# x secretlint-disable-next-line\nNPM=${GITHUB}\n`,
      }),
    ).toEqual(["a.js:2: github/GITHUB_TOKEN", "b.js:1: github/GITHUB_TOKEN", "c.txt:2: github/GITHUB_TOKEN"]);
  });

  test("behind something is for its own line", async () => {
    expect(await namesIn(`A_TOKEN=fake-${VALUE} # rt-ignore-secret\nB_TOKEN=${VALUE}\n`)).toEqual([
      "B_TOKEN",
    ]);
    expect(await namesIn(`PORT=3000 # rt-ignore-secret\nB_TOKEN=${VALUE}\n`)).toEqual(["B_TOKEN"]);
    expect(
      await findIn({
        ".npmrc": `//a.example/:_authToken=\${A} # rt-ignore-secret\n//b.example/:_password=${VALUE}\n`,
        "a.js": `/* rt-ignore-secret */ a = "${GITHUB}"\nb = "${GITHUB}"\n`,
      }),
    ).toEqual([".npmrc:2: npmrc _password", "a.js:2: github/GITHUB_TOKEN"]);
  });

  test.each([
    "# rt-ignore-secret",
    "\t## for tests: rt-ignore-secret, as said\r",
    "//rt-ignore-secret",
    "/// rt-ignore-secret",
    "/** rt-ignore-secret */",
    " * rt-ignore-secret",
    "<!-- rt-ignore-secret -->",
    "{/* rt-ignore-secret */}",
    "-- rt-ignore-secret",
    "; rt-ignore-secret",
    '"//": "rt-ignore-secret",',
    "rt-ignore-secret",
  ])("in a line of its own is for the next one: %s", async (comment) => {
    const line = `t = "${GITHUB}"`;
    expect(await findIn({ "a.txt": `${comment}\n${line}\n${line}\n` })).toEqual([
      "a.txt:3: github/GITHUB_TOKEN",
    ]);
  });
});
