// Tests that arguments reach a program byte for byte, whatever shells and hooks rt uses to start it.
import { describe, expect, test } from "bun:test";
import { decodeWithSurrogates, encodeWithSurrogates } from "../../platform/native/posix/surrogate-escape.ts";
import { appendArguments, quoteArgument } from "../../src/shell-quoting.ts";
import { createProject } from "../support/project.ts";
import { createRandom } from "../support/random.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";

const AWKWARD = [
  "",
  " ",
  "  ",
  "\t",
  "\n",
  "\r",
  "\r\n",
  "a b",
  "'",
  '"',
  "''",
  "'\\''",
  "\\",
  "\\\\",
  "\\n",
  "$HOME",
  "${HOME}",
  "$(id)",
  "`id`",
  "*",
  "?",
  "[a-z]",
  "{a,b}",
  "{1..3}",
  "~",
  "~root",
  "a~",
  "!",
  "!!",
  "#",
  "# x",
  "a#b",
  "&",
  "&&",
  "|",
  "||",
  ";",
  ";;",
  "<",
  ">",
  ">>",
  "<(id)",
  "(",
  ")",
  "-",
  "--",
  "-x",
  "--flag=value",
  "a=b",
  "=",
  "%1",
  "$'x'",
  '$"x"',
  "\u0001\u0007\u001b[31m\u007f",
  "é",
  "日本語",
  "🙂",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "\ufffd",
  "e\u0301",
  "^",
  "%PATH%",
  ":",
  "@",
  ",",
  "x".repeat(5000),
  "-e",
  "-n",
  "\\c",
];

const CHARACTERS = [..." \t\n\r'\"\\$`*?[]{}~!#&|;<>()-=%^:@,./+_aZ09é日🙂\u0001\u007f\u00a0\ufffd"];

function randomArguments(seed: number, count: number): string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const length = random.below(12);
    const text = Array.from({ length }, () =>
      random.below(20) === 0 ? String.fromCharCode(0xdc80 + random.below(128)) : random.pick(CHARACTERS),
    ).join("");
    return decodeWithSurrogates(encodeWithSurrogates(text)); // adjacent surrogates may form a character
  });
}

const FUZZ = [...AWKWARD, ...randomArguments(1, 3000)];

function batches(items: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Returns the arguments in the output of `printf '%s\\0'`. */
const argumentsIn = (output: Uint8Array) => decodeWithSurrogates(output).split("\0").slice(0, -1);

describe("quoteArgument()", () => {
  test.each(["bash", "sh", "zsh"])("quotes thousands of strings that %s reads back unchanged", (shell) => {
    for (const batch of batches(FUZZ, 250)) {
      const command = appendArguments("printf '%s\\0'", batch);
      const { stdout, stderr, exitCode } = Bun.spawnSync([shell, "-c", command], {
        env: { PATH: process.env.PATH!, LANG: "C.UTF-8" },
      });
      expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
      expect(argumentsIn(stdout)).toEqual(batch);
    }
  });

  test("leaves plain words unquoted", () => {
    for (const word of ["a", "a-b", "./x/y.ts", "--flag=value", "user@host:1,2+3%"])
      expect(quoteArgument(word)).toBe(word);
    expect(quoteArgument("a\n")).toBe("'a\n'");
    expect(quoteArgument("")).toBe("''");
  });
});

test("encodeWithSurrogates() reverses decodeWithSurrogates() for any bytes", () => {
  const random = createRandom(2);
  for (let round = 0; round < 500; round += 1) {
    const bytes = Uint8Array.from({ length: random.below(20) }, () =>
      random.below(2) ? 0x80 + random.below(128) : random.below(256),
    );
    expect(encodeWithSurrogates(decodeWithSurrogates(bytes))).toEqual(bytes);
  }
  const text = "plain é 日本 🙂 \ufeff\ufffd";
  expect(decodeWithSurrogates(new TextEncoder().encode(text))).toBe(text);
});

const SHOW = "printf '%s\\0'";
const PROJECT = {
  "package.json": {
    scripts: {
      show: SHOW,
      "show:bin": "show",
      waited: SHOW,
      postwaited: "true",
      hooked: SHOW,
      prehooked: "true",
    },
  },
  "node_modules/.bin/show": "#!/bin/sh\nprintf '%s\\0' \"$@\"\n",
  "show.sh": "#!/bin/sh\nprintf '%s\\0' \"$@\"\n",
  "show.ts": 'process.stdout.write(process.argv.slice(2).map((each) => each + "\\0").join(""))',
};
const EXECUTABLE = ["node_modules/.bin/show", "show.sh"];

const RUN_TARGETS: Readonly<Record<string, readonly string[]>> = {
  "a script": ["run", "show"],
  "a script without run": ["show"],
  "a script whose command is a package's binary": ["run", "show:bin"],
  "a script with a post-hook": ["run", "waited"],
  "a script with a pre-hook": ["run", "hooked"],
  "a script in the built-in shell": ["--shell", "rt", "run", "show"],
  "a package's binary": ["run", "show"],
  "an executable file": ["run", "./show.sh"],
  "a command of the system": ["run", "printf", "%s\\0"],
};

const SAMPLE = [...AWKWARD, ...randomArguments(3, 150)].filter((each) => each !== "--" || each.length > 2);

/** Starts rt through bash, which can pass bytes that a JavaScript string cannot hold. */
async function showThroughBash(
  args: readonly string[],
  given: readonly string[],
  cwd: string,
): Promise<string[]> {
  const command = appendArguments(quoteArgument(RT), ["--silent", ...args, ...given]);
  await Bun.write(
    `${cwd}/start-${args.length}${args.at(-1)!.length}.bash`,
    encodeWithSurrogates(`exec ${command}`),
  );
  const child = Bun.spawn(["bash", `${cwd}/start-${args.length}${args.at(-1)!.length}.bash`], {
    cwd,
    env: cleanEnvironment(),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).bytes(),
    new Response(child.stderr).text(),
  ]);
  expect({ stderr, status: await child.exited }).toEqual({ stderr: "", status: 0 });
  return argumentsIn(stdout);
}

describe("arguments of", () => {
  test.each(Object.entries(RUN_TARGETS))("%s reach it unchanged", async (_, args) => {
    await using project = await createProject(PROJECT, EXECUTABLE);
    expect(await showThroughBash(args, SAMPLE, project.path)).toEqual(SAMPLE);
  });

  test("a file reach it in the engine's decoding", async () => {
    await using project = await createProject(PROJECT);
    const wellFormed = SAMPLE.filter((each) => each.isWellFormed());
    for (const args of [["show.ts"], ["run", "show.ts"], ["--smol", "show.ts"], ["./show.ts"]]) {
      const { stdout } = await runRt({ args: [...args, ...wellFormed], cwd: project.path });
      expect(stdout.split("\0").slice(0, -1)).toEqual(wellFormed);
      expect(await showThroughBash(args, ["a\udcffb"], project.path)).toEqual(["a\ufffdb"]);
    }
  });

  test.each([
    [["--", "a"], ["a"]],
    [
      ["--", "--", "a"],
      ["--", "a"],
    ],
    [
      ["a", "--", "b"],
      ["a", "--", "b"],
    ],
    [
      ["--silent", "-F", "x", "--help"],
      ["--silent", "-F", "x", "--help"],
    ],
    [["--"], []],
    [[], []],
  ])("a script: %j reach it as %j", async (given, expected) => {
    await using project = await createProject(PROJECT, EXECUTABLE);
    const { stdout } = await runRt({ args: ["--silent", "run", "show:bin", ...given], cwd: project.path });
    expect(expected.length === 0 ? stdout : stdout.split("\0").slice(0, -1)).toEqual(
      expected.length === 0 ? "\0" : expected,
    );
  });

  test("a script reach it but not its hooks", async () => {
    await using project = await createProject({
      "package.json": { scripts: { prego: "echo pre", go: "echo main", postgo: "echo post" } },
    });
    const { stdout } = await runRt({ args: ["--silent", "go", "a", "b c"], cwd: project.path });
    expect(stdout).toBe("pre\nmain a b c\npost\n");
  });
});
