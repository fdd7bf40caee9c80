// What a name means: scripts, source files, binaries of packages, commands of the system, in this order.
import { describe, expect, test } from "bun:test";
import { chmod, symlink } from "node:fs/promises";
import { createProject } from "../support/project.ts";
import { expectRt, RT, runRt, type Transcript } from "../support/rt.ts";

type Row = readonly [name: string, transcript: Transcript];

const each = (title: string, rows: readonly Row[]) => {
  describe.concurrent(title, () => {
    for (const [name, transcript] of rows)
      test(name, () => expectRt({ ...transcript, args: ["--silent", ...transcript.args!] }), 30_000);
  });
};

const pkg = (scripts: Record<string, string>, more: object = {}) => ({
  "package.json": { scripts, ...more },
});
const says = (text: string) => `console.log(${JSON.stringify(text)})`;
const program = (text: string) => `#!/bin/sh\necho ${text}\n`;

each("a script", [
  [
    "comes before a file of the same name with run",
    {
      files: { ...pkg({ "a.ts": "echo script" }), "a.ts": says("file") },
      args: ["run", "a.ts"],
      stdout: "script\n",
    },
  ],
  [
    "comes after a file of the same name without run",
    { files: { ...pkg({ "a.ts": "echo script" }), "a.ts": says("file") }, args: ["a.ts"], stdout: "file\n" },
  ],
  [
    "comes before a file with an extension that is left out",
    {
      files: { ...pkg({ tool: "echo script" }), "tool.ts": says("file") },
      args: ["tool"],
      stdout: "script\n",
    },
  ],
  [
    "comes before a binary",
    {
      files: { ...pkg({ tool: "echo script" }), "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool"],
      stdout: "script\n",
    },
  ],
  [
    "comes before a command of the system",
    { files: pkg({ ls: "echo script" }), args: ["run", "ls"], stdout: "script\n" },
  ],
  [
    "called like a built-in command runs with run",
    { files: pkg({ test: "echo script" }), args: ["run", "test"], stdout: "script\n" },
  ],
  [
    "is not meant by ./name",
    {
      files: { ...pkg({ "./a": "echo script", a: "echo script" }), "a.ts": says("file") },
      args: ["run", "./a"],
      stdout: "file\n",
    },
  ],
]);

each("a file", [
  ...[".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"].map((extension): Row => [
    `with ${extension} runs without run`,
    { files: { [`a${extension}`]: says(extension) }, args: [`a${extension}`], stdout: `${extension}\n` },
  ]),
  [
    "in a folder is named without ./",
    { files: { "src/a.ts": says("file") }, args: ["src/a.ts"], stdout: "file\n" },
  ],
  [
    "may leave its extension out",
    { files: { "src/a.ts": says("file") }, args: ["run", "src/a"], stdout: "file\n" },
  ],
  [
    "comes before a binary",
    {
      files: { "tool.ts": says("file"), "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool"],
      stdout: "file\n",
    },
  ],
  [
    "comes before a command of the system",
    { files: { "ls.ts": says("file") }, args: ["run", "ls"], stdout: "file\n" },
  ],
  [
    "a directory with an index",
    { files: { "app/index.ts": says("index") }, args: ["run", "app"], stdout: "index\n" },
  ],
  [
    "a directory with a main",
    {
      files: { "app/package.json": { main: "start.js" }, "app/start.js": says("main") },
      args: ["./app"],
      stdout: "main\n",
    },
  ],
  [
    "run . takes the package's main",
    {
      files: { ...pkg({}, { main: "start.js" }), "start.js": says("main") },
      args: ["run", "."],
      stdout: "main\n",
    },
  ],
  [
    "in the directory above",
    { files: { "a.ts": says("above"), "sub/x": "" }, in: "sub", args: ["../a.ts"], stdout: "above\n" },
  ],
  [
    "by its absolute path",
    { files: { "a.ts": says("absolute") }, args: ["$PROJECT/a.ts"], stdout: "absolute\n" },
  ],
  [
    "by its absolute path, with run",
    { files: { "a.ts": says("absolute") }, args: ["run", "$PROJECT/a.ts"], stdout: "absolute\n" },
  ],
  [
    "called like a built-in command",
    { files: { "test.ts": says("mine"), "build.ts": says("mine") }, args: ["./test.ts"], stdout: "mine\n" },
  ],
  [
    "without an extension, after everything else",
    { files: { tool: says("file") }, args: ["tool"], stdout: "file\n" },
  ],
  [
    "without an extension does not take a command's place",
    { files: { echo: says("file") }, args: ["run", "echo", "command"], stdout: "command\n" },
  ],
  [
    "without an extension does not take a binary's place",
    {
      files: { tool: says("file"), "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["tool"],
      stdout: "binary\n",
    },
  ],
  [
    "with an extension that says nothing",
    { files: { "a.foo": says("foo") }, args: ["run", "a.foo"], stdout: "foo\n" },
  ],
  [
    "whose extension is in capitals",
    { files: { "A.TS": "const a: number = 1; console.log(a)" }, args: ["./A.TS"], stdout: "1\n" },
  ],
]);

each("a program given by its path", [
  [
    "a shell script gets its arguments",
    {
      files: { "s.sh": '#!/bin/bash\necho "$0" "$#" "$@"\n' },
      executable: ["s.sh"],
      args: ["./s.sh", "a b", "c"],
      stdout: "./s.sh 2 a b c\n",
    },
  ],
  [
    "a shell script without an extension",
    { files: { tool: program("tool") }, executable: ["tool"], args: ["./tool"], stdout: "tool\n" },
  ],
  ["a native program", { args: ["/bin/echo", "native", "--silent"], stdout: "native --silent\n" }],
  ["a native program with run", { args: ["run", "/bin/echo", "native"], stdout: "native\n" }],
  [
    "a script for another interpreter",
    {
      files: { "s.awk": '#!/usr/bin/awk -f\nBEGIN { print "awk" }\n' },
      executable: ["s.awk"],
      args: ["./s.awk"],
      stdout: "awk\n",
    },
  ],
  [
    "a file for rt by its #! line, without an extension",
    {
      files: { cli: `#!/usr/bin/env rt\nconst a: string = "typed"; console.log(a, import.meta.main);` },
      executable: ["cli"],
      args: ["./cli"],
      stdout: "typed true\n",
    },
  ],
  [
    "a file with source extension is source whatever its #! line",
    {
      files: { "cli.ts": "#!/usr/bin/env node\nconst a: string = 'typed'; console.log(a, typeof Bun)" },
      executable: ["cli.ts"],
      args: ["./cli.ts"],
      stdout: "typed object\n",
    },
  ],
  [
    "whose interpreter is missing",
    {
      files: { tool: "#!/nonexistent/interpreter\n" },
      executable: ["tool"],
      args: ["./tool"],
      status: 127,
      stderr: /^error: Cannot run ".*\/tool": the program that its #! line names is not there\n$/,
    },
  ],
  [
    "a native program that is not executable",
    {
      files: { tool: new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]) },
      args: ["./tool"],
      status: 1,
      stderr:
        /^error: Cannot run ".*\/tool"\nhint: it is a program, but not marked executable \(chmod \+x\)\n$/,
    },
  ],
  [
    "a program that the system cannot start",
    {
      files: { tool: new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]) },
      executable: ["tool"],
      args: ["./tool"],
      status: 126,
      stderr: /^error: Cannot run ".*\/tool": /,
    },
  ],
]);

each("a binary of a package", [
  [
    "runs with run",
    {
      files: { "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool"],
      stdout: "binary\n",
    },
  ],
  [
    "runs without run",
    {
      files: { "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["tool"],
      stdout: "binary\n",
    },
  ],
  [
    "of a directory above",
    {
      files: { "node_modules/.bin/tool": program("binary"), "a/b/c/x": "" },
      executable: ["node_modules/.bin/tool"],
      in: "a/b/c",
      args: ["run", "tool"],
      stdout: "binary\n",
    },
  ],
  [
    "of the nearest directory wins",
    {
      files: { "node_modules/.bin/tool": program("far"), "a/node_modules/.bin/tool": program("near") },
      executable: ["node_modules/.bin/tool", "a/node_modules/.bin/tool"],
      in: "a",
      args: ["run", "tool"],
      stdout: "near\n",
    },
  ],
  [
    "that is not executable is passed over",
    {
      files: { "node_modules/.bin/tool": program("far"), "a/node_modules/.bin/tool": program("near") },
      executable: ["node_modules/.bin/tool"],
      in: "a",
      args: ["run", "tool"],
      stdout: "far\n",
    },
  ],
  [
    "comes before a command of the system",
    {
      files: { "node_modules/.bin/ls": program("binary") },
      executable: ["node_modules/.bin/ls"],
      args: ["run", "ls"],
      stdout: "binary\n",
    },
  ],
  [
    "marked for Node.js runs with Node.js",
    {
      files: {
        "node_modules/.bin/tool": "#!/usr/bin/env node\nconsole.log(typeof Bun, process.argv.slice(2))\n",
      },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool", "x"],
      stdout: "undefined [ 'x' ]\n",
    },
  ],
  [
    "marked for Node.js runs with rt with --rt",
    {
      files: {
        "node_modules/.bin/tool": "#!/usr/bin/env node\nconsole.log(typeof rt.CSRF, process.argv.slice(2))\n",
      },
      executable: ["node_modules/.bin/tool"],
      args: ["--rt", "run", "tool", "x"],
      stdout: 'object [ "x" ]\n',
    },
  ],
  [
    "with run --rt",
    {
      files: { "node_modules/.bin/tool": "#!/usr/bin/env node\nconsole.log(typeof rt.CSRF)\n" },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "--rt", "tool"],
      stdout: "object\n",
    },
  ],
  [
    "marked for rt runs with rt, which need not be on PATH",
    {
      files: { "node_modules/.bin/tool": "#!/usr/bin/env rt\nconsole.log(typeof rt.CSRF)\n" },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool"],
      stdout: "object\n",
    },
  ],
  [
    "its exit code",
    {
      files: { "node_modules/.bin/tool": "#!/bin/sh\nexit 23\n" },
      executable: ["node_modules/.bin/tool"],
      args: ["tool"],
      status: 23,
    },
  ],
]);

each("a command of the system", [
  ["runs with run", { args: ["run", "echo", "hello"], stdout: "hello\n" }],
  ["needs run", { args: ["printenv"], status: 1, stderr: /^error: Script not found "printenv"\n/ }],
  ["its options are its own", { args: ["run", "printf", "%s-%s", "--silent", "-F"], stdout: "--silent--F" }],
  ["its exit code", { args: ["run", "sh", "-c", "exit 33"], status: 33 }],
  [
    "does not see values of .env files",
    { files: { ".env": "FROM_DOTENV=1" }, args: ["run", "printenv", "FROM_DOTENV"], status: 1 },
  ],
]);

describe.concurrent("node", () => {
  const PATH_WITHOUT_NODE = "/rt-test-bin";

  async function withoutNode(
    files: Parameters<typeof createProject>[0],
    args: readonly string[],
    executable: readonly string[] = [],
  ) {
    await using project = await createProject({ ...files, "bin/x": "" }, executable);
    for (const name of ["bash", "sh", "env", "echo", "cat"])
      await symlink(Bun.which(name)!, project.join("bin", name));
    return await runRt({
      args: ["--silent", ...args],
      cwd: project.path,
      env: { PATH: project.join("bin"), HOME: PATH_WITHOUT_NODE },
    });
  }

  test("is rt where no node is installed: in a script", async () => {
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

  test("a project written for Bun finds its commands where Bun is not installed", async () => {
    const files = {
      ...pkg({
        go: "bun run --silent --bun inner && bunx tool a -b && bun a.ts c",
        inner: "node -p 'typeof rt'",
      }),
      "a.ts": "console.log(typeof rt.secrets, process.argv.slice(2))",
      "node_modules/.bin/tool": "#!/usr/bin/env bun\nconsole.log(typeof rt, process.argv.slice(2))\n",
    };
    expect(await withoutNode(files, ["go"], ["node_modules/.bin/tool"])).toEqual({
      stdout: 'object\nobject [ "a", "-b" ]\nobject [ "c" ]\n',
      stderr: "",
      status: 0,
    });
  });

  test("is rt where no node is installed: for a binary", async () => {
    expect(
      await withoutNode(
        { "node_modules/.bin/tool": "#!/usr/bin/env node\nconsole.log(typeof Bun, process.argv.slice(2))\n" },
        ["run", "tool", "y"],
        ["node_modules/.bin/tool"],
      ),
    ).toEqual({ stdout: 'object [ "y" ]\n', stderr: "", status: 0 });
  });

  test("is node where it is installed", async () => {
    await expectRt({
      files: pkg({ go: "node -p 'typeof Bun'" }),
      args: ["--silent", "go"],
      stdout: "undefined\n",
    });
  });

  test.each([["--rt"], ["-b"]])("is rt with %s, for everything below the script", async (flag) => {
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

  test("that is rt answers as node: version, options, standard input, arguments", async () => {
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
  }, 30_000);

  test("that is rt is what a script finds in NODE and npm_node_execpath", async () => {
    await expectRt({
      files: pkg({ go: '"$NODE" -p "typeof rt"; "$npm_node_execpath" -p "typeof rt"' }),
      args: ["-b", "--silent", "run", "go"],
      stdout: "object\nobject\n",
    });
  });

  test("that is rt reads nothing from an empty input, as node does", async () => {
    await expectRt({
      files: pkg({ go: "node < /dev/null; node - < /dev/null" }),
      args: ["-b", "--silent", "go"],
    });
  });
});

describe.concurrent("where a user may only read", () => {
  // Root may read everything, and so has to become somebody else.
  const isRoot = process.getuid?.() === 0;
  const nobody = isRoot
    ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    : ["sudo", "--non-interactive", "--preserve-env=TMPDIR", "--user=nobody"];
  const asUser = isRoot ? nobody : [];
  const user = isRoot ? 65534 : process.getuid?.();
  const canBeNobody = Bun.which(nobody[0]!) !== null && Bun.spawnSync([...nobody, "true"]).success;

  test("scripts, binaries and files run", async () => {
    await using project = await createProject(
      {
        ...pkg({ go: "echo $(id -u)" }),
        "a.ts": "console.log(process.getuid!())",
        "node_modules/.bin/tool": "#!/bin/sh\nid -u\n",
      },
      ["node_modules/.bin/tool"],
    );
    await chmod(project.path, 0o755);
    await chmod(project.join("package.json"), 0o444);
    for (const args of [
      ["go"],
      ["a.ts"],
      ["run", "tool"],
      ["-b", "run", "go"],
      ["--smol", "a.ts"],
      ["-p", "process.getuid()"],
    ]) {
      const result = await runRt({
        program: [...asUser, RT],
        args: ["--silent", ...args],
        cwd: project.path,
      });
      expect({ args, ...result }).toEqual({ args, stdout: `${user}\n`, stderr: "", status: 0 });
    }
  });

  test("a package.json that may not be read is named", async () => {
    await using project = await createProject(pkg({ go: "true" }));
    await chmod(project.path, 0o755);
    await chmod(project.join("package.json"), 0o000);
    const result = await runRt({ program: [...asUser, RT], args: ["go"], cwd: project.path });
    expect(result).toEqual({
      stdout: "",
      stderr: `error: Cannot read ${project.join("package.json")}: permission denied\n`,
      status: 1,
    });
  });

  test.skipIf(!canBeNobody)("a stand-in directory that somebody else has made is not trusted", async () => {
    await using project = await createProject(pkg({ go: "node -p 'typeof rt'" }));
    await chmod(project.path, 0o777);
    const env = { TMPDIR: project.path };
    await runRt({ args: ["-b", "--silent", "run", "go"], cwd: project.path, env });
    const result = await runRt({
      program: [...nobody, RT],
      args: ["-b", "--silent", "run", "go"],
      cwd: project.path,
      env,
    });
    expect(result.stdout === "object\n" || result.stderr.startsWith("error: ")).toBe(true);
  });
});
