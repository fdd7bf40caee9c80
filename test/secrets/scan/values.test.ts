// `rt secrets check`: which values are credentials. References, placeholders and paths are not. Defaults and keys that begin with
// a slash are. Also the comments that suppress a finding.
import { describe, expect, test } from "bun:test";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";

// Assembled here, so that secret scanners do not report this file.
const GITHUB = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
const VALUE = "hunter2+hunter2";
const BASE64 = ["", "9sKq2vXz8pLw3nRt6yBu1mHc4jFd7gAe0oIx5TQUY="].join("/");

/** Returns the findings line by line, after checking the exit code. */
async function findIn(files: Record<string, string>): Promise<string[]> {
  await using project = await createProject(files);
  const args = ["secrets", "check", ...Object.keys(files)];
  const { stdout, stderr, status } = await runRt({ args, cwd: project.path });
  const found = stdout.split("\n").slice(0, -1);
  expect({ stderr, status }).toEqual({ stderr: "", status: found.length > 0 ? 1 : 0 });
  for (const value of [GITHUB, VALUE, BASE64]) expect(stdout.includes(value)).toBe(false);
  return found;
}

/** Returns the names of the findings in an env file. */
async function namesIn(text: string, file = ".env"): Promise<string[]> {
  return (await findIn({ [file]: text })).map((line) => line.replace(/^\S+: variable /, ""));
}

/** Returns the indexes of the scripts with findings. */
async function scriptsIn(...scripts: string[]): Promise<string[]> {
  const text = JSON.stringify({ scripts: { ...scripts } }, null, 2);
  return (await findIn({ "package.json": text })).map((line) => line.split(" ").at(-1)!);
}

describe("a comment", () => {
  test("a secretlint comment does not suppress a finding", async () => {
    expect(
      await findIn({
        "a.js": `// secretlint-disable\nt = "${GITHUB}"\n`,
        "b.js": `t = "${GITHUB}" // secretlint-disable-line\n`,
        "c.txt": `# x secretlint-disable-next-line\nNPM=${GITHUB}\n`,
      }),
    ).toEqual(["a.js:2: github/GITHUB_TOKEN", "b.js:1: github/GITHUB_TOKEN", "c.txt:2: github/GITHUB_TOKEN"]);
  });

  test("a comment at the end of a line applies to that line", async () => {
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
  ])("a comment on a separate line applies to the next line: %s", async (comment) => {
    const line = `t = "${GITHUB}"`;
    expect(await findIn({ "a.txt": `${comment}\n${line}\n${line}\n` })).toEqual([
      "a.txt:3: github/GITHUB_TOKEN",
    ]);
  });
});

describe("references", () => {
  test("a reference in an env file is not a finding", async () => {
    expect(
      await namesIn(
        [
          "A_TOKEN=$A",
          "B_TOKEN=`cat x`",
          'C_TOKEN="${A}${B}"',
          "D_TOKEN=$(cat $(which x) | head)",
          "E_AUTH='Bearer ${A}'",
          "F_KEY=$HOME/.ssh/id",
          "G_TOKEN=${A:?has to be set}",
          "H_TOKEN=encrypted:BGKx8pLw3nRt6",
          "DATABASE_URL=postgres://shop:${DB_PASSWORD}@localhost/shop",
          "REDIS_URL=redis://:$DB_PASSWORD@localhost",
        ].join("\n"),
      ),
    ).toEqual([]);
    expect(await namesIn("A_TOKEN=`get-token`\n", ".envrc")).toEqual([]);
  });

  test("a reference in a script is not a finding", async () => {
    expect(
      await scriptsIn(
        "NPM_TOKEN=$(rt secrets helper npm get https://registry.npmjs.org/) npm publish",
        "NPM_TOKEN=$(rt secrets get com.acme.release npm) rt install",
        'NPM_TOKEN="$(rt secrets get "a b" npm)" rt install',
        "deploy --token $(cat t) --password `cat p` --secret=${S}",
        "sh -c 'cd a && TOKEN=$TOKEN b' && c 'd'",
        'deploy --token "$@"',
        "deploy --token < token",
      ),
    ).toEqual([]);
  });

  test("literal text beside a reference is a finding", async () => {
    expect(
      await namesIn(
        [
          `A_TOKEN=\${A:-${VALUE}}`,
          `B_TOKEN=\${A-\${B:-"${VALUE}"}}`,
          `C_URL=postgres://shop:\${A:-${VALUE}}@localhost/shop`,
          `D_TOKEN=\${A}${VALUE}`,
          `E_TOKEN=$(${VALUE}`,
          "F_TOKEN=pa$$word3",
          "G_TOKEN=\\$word3",
          `H_TOKEN=\`${VALUE}\``,
          "I_TOKEN=${A:-change-me}",
          "J_TOKEN=${A:-}",
        ].join("\n"),
      ),
    ).toEqual(["A_TOKEN", "B_TOKEN", "C_URL", "D_TOKEN", "E_TOKEN", "F_TOKEN", "G_TOKEN", "H_TOKEN"]);
    expect(
      await scriptsIn(
        `TOKEN=\${TOKEN:-${VALUE}} a`,
        `a --token=\${TOKEN:-${VALUE}}`,
        "TOKEN=${TOKEN:-none} a",
        `A=$(TOKEN=${VALUE} a) b`,
      ),
    ).toEqual(["0", "1", "3"]);
  });

  test("a reference or placeholder in .npmrc is not a finding, a default is", async () => {
    expect(
      await findIn({
        ".npmrc": [
          "//a.example/:_authToken=<token>",
          "//b.example/:_authToken=change-me",
          '//c.example/:_authToken="${NPM_TOKEN}"',
          "//d.example/:_authToken=${NPM_TOKEN:-none}",
          "//e.example/:_password=<password>",
          `//f.example/:_authToken=\${NPM_TOKEN:-${VALUE}}`,
          `# //g.example/:_authToken=${VALUE}`,
          `//h.example/:_authToken="${VALUE}"`,
        ].join("\n"),
      }),
    ).toEqual([
      ".npmrc:6: npmrc _authToken",
      ".npmrc:7: npm/Npmrc_authToken",
      ".npmrc:8: npm/Npmrc_authToken",
    ]);
  });
});

test("a placeholder inside an address is not a finding", async () => {
  const urls = ["<password>", "change-me", VALUE].map((word) => `postgres://shop:${word}@db.acme.test/shop`);
  const found = await findIn({
    ".env": urls.map((url, index) => `URL_${index}=${url}\n`).join(""),
    "a.ts": urls.map((url) => `"${url}"\n`).join(""),
  });
  expect(found).toEqual([
    ".env:3: database-connection-string/PostgreSQLConnection",
    "a.ts:3: database-connection-string/PostgreSQLConnection",
  ]);
});

test("a key that begins with a slash is not taken for a path by check and import", async () => {
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
