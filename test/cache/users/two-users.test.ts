// A result of one user is a hit for another user and for CI, but only where the script does not depend on the user.
import { expect, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import type { RtResult } from "../../support/rt.ts";
import { isRoot } from "../../support/users.ts";
import { CAN_TRACE } from "../cached-project.ts";
import { serveCache, variablesFor } from "../server/served-cache.ts";
import { type TestUser, twoUsers } from "./two-users.ts";

function manifest(scripts: Readonly<Record<string, string>>, rows: Readonly<Record<string, string>> = {}) {
  const tables = Object.keys(scripts).map((name) => `[tasks.${name}]\ncache = true\n${rows[name] ?? ""}\n`);
  return { "package.json": { name: "shop", scripts }, "rtfig.toml": tables.join("") };
}

/** The files of a folder with their contents. */
const contentOf = ({ checkout }: TestUser, folder: string) =>
  [...new Bun.Glob("**").scanSync(`${checkout}/${folder}`)]
    .toSorted()
    .map((name) => [name, readFileSync(`${checkout}/${folder}/${name}`, "utf8")]);

/** In npm's registry and in this repository. `npm run tools` tries others. */
const TOOLS = {
  tsc: "tsc",
  vite: "vite build --outDir vite",
  vitest: "vitest run --dir src",
};

const TOOL_FILES = {
  ...manifest(TOOLS),
  "index.html": '<script type="module" src="/src/a.ts"></script>\n',
  "src/a.ts": 'import { two } from "./b";\nexport const a: number = 1 + two;\n(globalThis as any).a = a;\n',
  "src/b.ts": "export const two = 2;\n",
  "src/b.test.js": `import { expect, test } from "vitest";
import { two } from "./b";
test("two is two", () => expect(two).toBe(2));
`,
  "tsconfig.json": {
    compilerOptions: { outDir: "tsc", rootDir: "src", types: [], lib: ["es5"] },
    include: ["src/*.ts"],
  },
};

test.skipIf(!CAN_TRACE || !isRoot)(
  "results of tools are hits for a user with another home, number, terminal, language and PATH, in CI",
  async () => {
    await using served = await serveCache();
    await using users = await twoUsers(TOOL_FILES, variablesFor(served), {
      ...{ typescript: "bin/tsc", vite: "bin/vite.js", vitest: "vitest.mjs" },
    });
    const run = async ({ rt }: TestUser) => await rt(["run", "--sequential", ...Object.keys(TOOLS)]);
    const outcomesOf = ({ stderr, stdout }: RtResult) =>
      Object.keys(TOOLS).map(
        (name) => new RegExp(`^${name} *\\| (Done|Cached)`, "m").exec(stdout + stderr)?.[1],
      );
    const first = await run(users.developer);
    expect(outcomesOf({ ...first, stderr: Bun.stripANSI(first.stderr) })).toEqual(Array(3).fill("Done"));
    const second = await run(users.ci);
    expect([outcomesOf(second), second.status]).toEqual([Array(3).fill("Cached"), 0]);
    expect(second.stdout).toMatch(new RegExp(` RUN .* ${users.ci.checkout}\n(?:.*\n)*.* 1 passed`));
    for (const folder of ["tsc", "vite"])
      expect(contentOf(users.ci, folder)).toEqual(contentOf(users.developer, folder));
  },
);

/** Scripts that depend on the user, or on what the user has set. */
const DEPENDENT = {
  home: "echo $HOME > out",
  user: "id -u > out",
  homeDeclared: "echo $HOME | wc -c > out",
  place: "pwd > out",
  setting: "cat ~/.setting > out",
  tool: "greet > out",
  declared: "echo $CI > out",
};
/** Scripts that do not, although they look at it. */
const INDEPENDENT = {
  variables: "echo $TERM $SHELL $LANG $USER $CI $SSH_AUTH_SOCK $GIT_DIR $LC_TIME $SHLVL > out",
  same: "cat ~/.same > out",
  missing: "cat ~/.config/none ~/none 2> /dev/null; echo > out",
  word: "echo shop work builds checkout ada > out",
  printed: "pwd; echo in $PWD/src, file://$PWD",
  colors: String.raw`printf '\033[1mbold\033[0m\n'`,
};

test.skipIf(!CAN_TRACE || !isRoot)(
  "a script that depends on its user runs for each user, and one that does not is a hit",
  async () => {
    await using served = await serveCache();
    const all = Object.entries({ ...DEPENDENT, ...INDEPENDENT });
    const named = all.map(([name, text]) => [name, text.replace("> out", `> ${name}.out`)] as const);
    await using users = await twoUsers(
      manifest(Object.fromEntries(named), { declared: 'env = ["CI"]', homeDeclared: 'env = ["HOME"]' }),
      variablesFor(served),
    );
    const greet = (text: string) => `#!/bin/sh\necho ${text}\n`;
    await users.write({
      "ada/.setting": "1\n",
      "runner/.setting": "2\n",
      "ada/.same": "1\n",
      "runner/.same": "1\n",
      "one/greet": greet("one"),
      "two/greet": greet("two"),
    });
    const pathOf = (name: string) => `${users.join(name)}:${process.env.PATH}`;
    for (const name of ["one", "two"]) chmodSync(users.join(`${name}/greet`), 0o755);
    const scripts = [...Object.keys(DEPENDENT), ...Object.keys(INDEPENDENT)];
    const args = ["run", "--why", ...scripts];
    await users.developer.rt(args, { PATH: pathOf("one") });
    const { stdout, stderr } = await users.ci.rt(args, { PATH: pathOf("two") });
    const outcomeOf = (name: string) =>
      new RegExp(`^${name}: cache (hit|miss): (.*)$`, "m").exec(stdout + stderr)?.slice(1);
    const outcomes = Object.fromEntries(scripts.map((name) => [name, outcomeOf(name)]));
    const hit = ["hit", expect.stringContaining("(from the shared cache)")];
    const miss = (what: string) => ["miss", what];
    // oxlint-disable-next-line typescript/no-deprecated -- there is no other way to read it
    const umask = process.umask().toString(8);
    const unshared = `no earlier run; no shared result has this command, row, umask (${umask}), user folders`;
    const manifestFields = "fields of package.json (npm_package_*)";
    expect(outcomes).toEqual({
      home: miss("home.out contains the value of HOME, so the result is valid only with that value"),
      homeDeclared: miss(`${unshared} (default), ${manifestFields} and HOME`),
      user: miss("it depends on its user, who was another one"),
      place: miss(
        `place.out contains ${JSON.stringify(users.developer.checkout)}, the path of the project, so the result is valid only there; use the same path for all checkouts`,
      ),
      setting: miss(`${users.ci.home}/.setting changed`),
      tool: ["miss", expect.stringContaining("the program greet is ")],
      declared: miss(`${unshared} (default), ${manifestFields} and CI`),
      ...Object.fromEntries(Object.keys(INDEPENDENT).map((name) => [name, hit])),
    });
    expect((await users.ci.rt(["run", "printed"])).stdout).toBe(
      `${users.ci.checkout}\nin ${users.ci.checkout}/src, file://${users.ci.checkout}\n`,
    );
    const moved = await users.ci.rt(["run", "--why", "declared"], { XDG_CACHE_HOME: `${users.ci.home}/own` });
    expect(moved.stderr).toContain(`${unshared} (XDG_CACHE_HOME), ${manifestFields} and CI`);
    const replayed = await users.ci.rt(["run", "colors"]);
    expect(replayed.stdout).toBe("bold\n");
    expect((await users.developer.rt(["run", "colors"])).stdout).toBe("\u001b[1mbold\u001b[0m\n");
  },
);
