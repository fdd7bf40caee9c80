// Tests `node` and `bun` in a script: the installed programs, or rt through a shim directory.
import { describe, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { findProgram } from "../../build/system-programs.ts";
import { createProject } from "../support/project.ts";
import { expectRt, runRt } from "../support/rt.ts";

const pkg = (scripts: Record<string, string>, more: object = {}) => ({
  "package.json": { scripts, ...more },
});

describe.concurrent("`node` in a script", () => {
  async function withoutNode(
    files: Parameters<typeof createProject>[0],
    args: readonly string[],
    executable: readonly string[] = [],
  ) {
    await using project = await createProject({ ...files, "bin/x": "" }, executable);
    await using home = await createProject();
    for (const name of ["bash", "sh", "env", "echo", "cat"])
      await symlink(findProgram(name), project.join("bin", name));
    return await runRt({
      args: ["--silent", ...args],
      cwd: project.path,
      env: { PATH: project.join("bin"), HOME: home.path },
    });
  }

  test("runs rt when Node.js is not installed", async () => {
    expect(
      await withoutNode(
        {
          ...pkg({ go: "node a.ts x && node -p 1+1" }),
          "a.ts": "console.log(typeof rt.secrets, process.argv.slice(2))",
        },
        ["go"],
      ),
    ).toEqual({ stdout: 'object [ "x" ]\n2\n', stderr: "", status: 0 });
  });

  test("runs rt, like `bun`, when neither is installed", async () => {
    const files = {
      ...pkg({
        go: "bun run --silent --bun inner && bunx tool a -b && bun a.ts c && bun --version",
        inner: "node -p 'typeof rt'",
      }),
      "a.ts": "console.log(typeof rt.secrets, process.argv.slice(2))",
      "node_modules/.bin/tool": "#!/usr/bin/env bun\nconsole.log(typeof rt, process.argv.slice(2))\n",
    };
    expect(await withoutNode(files, ["go"], ["node_modules/.bin/tool"])).toEqual({
      stdout: `object\nobject [ "a", "-b" ]\nobject [ "c" ]\n${Bun.version}\n`,
      stderr: "",
      status: 0,
    });
  });

  test.each([
    { args: ["go"], title: "a script" },
    { args: ["run", "turbo"], title: "the binary" },
  ])("has a `bun` for turbo, which starts scripts with it: $title", async ({ args }) => {
    const files = {
      ...pkg({ go: "turbo", inner: "echo inner" }),
      "node_modules/.bin/turbo": "#!/bin/sh\nbun run --silent inner\n",
    };
    expect(await withoutNode(files, args, ["node_modules/.bin/turbo"])).toEqual({
      stdout: "inner\n",
      stderr: "",
      status: 0,
    });
  });

  test("comes without a `bun` or `rt` that would replace an installed one", async () => {
    const files = {
      ...pkg({ go: "bun a && bunx b && rt c" }),
      ...Object.fromEntries(
        ["bun", "bunx", "rt"].map((name) => [`bin/${name}`, `#!/bin/sh\necho own ${name} $1\n`]),
      ),
    };
    expect(await withoutNode(files, ["go"], ["bin/bun", "bin/bunx", "bin/rt"])).toEqual({
      stdout: "own bun a\nown bunx b\nown rt c\n",
      stderr: "",
      status: 0,
    });
  });

  test("runs rt, like `bun`, in the scripts of an installation", async () => {
    const files = {
      ...pkg({
        preinstall: "node -p 'typeof rt'",
        postinstall: "rt a.ts b",
        prepare: "bun a.ts c; bunx tool d",
      }),
      "a.ts": "console.log(typeof rt.secrets, process.argv.slice(2))",
      "node_modules/.bin/tool": "#!/usr/bin/env bun\nconsole.log(typeof rt, process.argv.slice(2))\n",
    };
    const { stdout, status } = await withoutNode(files, ["install"], ["node_modules/.bin/tool"]);
    expect(stdout.match(/^object.*/gm)).toEqual([
      "object",
      ...["b", "c", "d"].map((it) => `object [ "${it}" ]`),
    ]);
    expect(status).toBe(0);
  });

  test("runs rt for a binary when Node.js is not installed", async () => {
    expect(
      await withoutNode(
        { "node_modules/.bin/tool": "#!/usr/bin/env node\nconsole.log(typeof Bun, process.argv.slice(2))\n" },
        ["run", "tool", "y"],
        ["node_modules/.bin/tool"],
      ),
    ).toEqual({ stdout: 'object [ "y" ]\n', stderr: "", status: 0 });
  });

  test("runs the installed Node.js", async () => {
    await expectRt({
      files: pkg({ go: "node -p 'typeof Bun'" }),
      args: ["--silent", "go"],
      stdout: "undefined\n",
    });
  });

  test.each([["--rt"], ["-b"]])("runs rt with %s, in all processes below the script", async (flag) => {
    await expectRt({
      files: {
        ...pkg({
          prego: "node -p 'typeof Bun'",
          go: "sh -c \"node -e 'console.log(process.argv.length)' a b\"; npx-like",
          postgo: "node main.cjs",
        }),
        "node_modules/.bin/npx-like": "#!/usr/bin/env node\nconsole.log(typeof Bun)",
        "main.cjs":
          "console.log(typeof rt.CSRF, require.main === module, process.versions.node.split('.').length)",
      },
      executable: ["node_modules/.bin/npx-like"],
      args: [flag, "--silent", "run", "go"],
      stdout: "object\n3\nobject\nobject true 3\n",
    });
  });

  test("supports node's version, options, standard input and arguments when it is rt", async () => {
    const lines = [
      "node --version | cut -c1",
      "node -v | cut -c1",
      "node -p '[process.argv.length, process.argv0.length > 0]'",
      "echo 'console.log(5)' | node",
      "echo 'console.log(6)' | node -",
      "node -e 'console.log(process.argv.slice(1))' x -y",
      "node -r ./pre.cjs -p 'globalThis.pre'",
      "node --max-old-space-size=200 -p 7",
      "node ./a.js --version",
    ];
    await expectRt({
      files: {
        ...pkg({ go: lines.join("; ") }),
        "pre.cjs": "globalThis.pre = 1",
        "a.js": "console.log(process.argv.slice(2))",
      },
      args: ["-b", "--silent", "run", "go"],
      stdout: 'v\nv\n[ 1, true ]\n5\n6\n[ "x", "-y" ]\n1\n7\n[ "--version" ]\n',
    });
  });

  test("appears in NODE and npm_node_execpath when it is rt", async () => {
    await expectRt({
      files: pkg({ go: '"$NODE" -p "typeof rt"; "$npm_node_execpath" -p "typeof rt"' }),
      args: ["-b", "--silent", "run", "go"],
      stdout: "object\nobject\n",
    });
  });

  test("reads nothing from an empty standard input when it is rt", async () => {
    await expectRt({
      files: pkg({ go: "node < /dev/null; node - < /dev/null" }),
      args: ["-b", "--silent", "go"],
    });
  });
});
