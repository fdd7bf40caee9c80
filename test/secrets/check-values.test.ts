// `rt secrets check`: which values are credentials, and which comments take a finding back.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";

// Put together here, so that nobody's list finds them in this file.
const GITHUB = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
const VALUE = "hunter2+hunter2";
const BASE64 = ["", "9sKq2vXz8pLw3nRt6yBu1mHc4jFd7gAe0oIx5TQUY="].join("/");

/** What it says of files, by lines, without the exit code that goes with it. */
async function findIn(files: Record<string, string>): Promise<string[]> {
  await using project = await createProject(files);
  const args = ["secrets", "check", ...Object.keys(files)];
  const { stdout, stderr, status } = await runRt({ args, cwd: project.path });
  const found = stdout.split("\n").slice(0, -1);
  expect({ stderr, status }).toEqual({ stderr: "", status: found.length > 0 ? 1 : 0 });
  for (const value of [GITHUB, VALUE, BASE64]) expect(stdout.includes(value)).toBe(false);
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

test("a key that begins with a slash is no path, to check and to import", async () => {
  const paths = [
    "/var/run/app/token",
    "/etc/ssl/key.pem",
    "/run/secrets/9f86d081884c7d659a2feaa0c55ad015",
    "/Users/Ann2b/Keys3c/Token4d",
    "~/keys/one",
    "./K1aB2cD3eF4gH5iJ6kL7",
  ];
  const text = `${paths.map((path, index) => `P${index}_TOKEN=${path}\n`).join("")}JWT_SECRET=${BASE64}\n`;
  expect(await namesIn(text)).toEqual(["JWT_SECRET"]);
  await using project = await createProject({ ".env": text, "package.json": { name: "shop" } });
  const args = ["secrets", "import", ".env", "--dry-run"];
  const { stdout } = await runRt({ args, cwd: project.path });
  expect(stdout.split("\n").filter((line) => line.startsWith("move "))).toEqual([
    expect.stringMatching(/^move {2}JWT_SECRET +shop\/JWT_SECRET$/),
  ]);
});
