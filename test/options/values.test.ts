// Invalid values of options and keys of rtfig.toml. The whole tables are parsed in this process. A few rows start rt, which shows
// that nothing runs.
import { describe, expect, test } from "bun:test";
import { KEYS } from "../../src/config/keys.ts";
import { parseConfig } from "../../src/config/rtfig.ts";
import { type Option, OPTIONS } from "../../src/options/options.ts";
import { parseCommandLine, UsageError } from "../../src/options/parse.ts";
import { LOADERS } from "../../src/options/values.ts";
import { UserError } from "../../src/user-error.ts";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { runIn } from "./prove.ts";

const FILES = { "package.json": { scripts: { s: "echo ran" } }, "a.ts": 'console.log("ran")' };

/** Returns the error message and hint of a command line or an rtfig.toml. */
function failureOf(parse: () => unknown): unknown {
  try {
    parse();
  } catch (error) {
    if (error instanceof UsageError || error instanceof UserError) return [error.message, error.hint];
    throw error;
  }
  throw new Error("was accepted");
}

const needsValue = OPTIONS.filter(({ value }) => value && value.kind !== "optional" && !value.isCode);
const formsOf = (name: string) => [[`--${name}=`], [`--${name}`, ""]];
const messageOf = ({ name, value }: Option) =>
  [`--${name} needs a value`, `write it as --${name}=<${value!.hint}>`] as const;

describe("empty values", () => {
  test("an empty value of every option that needs one is an error", () => {
    for (const option of needsValue)
      for (const words of formsOf(option.name))
        expect(failureOf(() => parseCommandLine([...words, "a.ts"], OPTIONS))).toEqual([
          ...messageOf(option),
        ]);
  });

  // One option for each part that acts on options.
  for (const part of ["engine", "runner", "both"] as const) {
    const option = needsValue.find(({ by }) => by === part)!;
    test(`an empty value of --${option.name} is an error, and nothing runs`, async () => {
      const [error, hint] = messageOf(option);
      const expected = { stdout: "", stderr: `error: ${error}\nhint: ${hint}\n`, status: 1 };
      for (const words of formsOf(option.name))
        expect(await runIn(FILES, [...words, "a.ts"])).toEqual(expected);
    });
  }

  test("an empty value of every key with such an option is an error with its line", () => {
    for (const { name, as, kinds, choices } of KEYS) {
      if (typeof as !== "string" || choices || !kinds.some((kind) => kind.startsWith("string"))) continue;
      const [section, key] = [name.split(".").slice(0, -1).join("."), name.split(".").at(-1)!];
      const line = `${key === "*" ? "A" : key} = ""`;
      const config = section === "" ? `\n${line}\n` : `[${section}]\n${line}\n`;
      expect(failureOf(() => parseConfig(config, "rtfig.toml"))).toEqual([
        expect.stringMatching(/^rtfig\.toml:2: \S+ needs ./),
        expect.stringMatching(/./),
      ]);
    }
  });
});

describe("an invalid value in rtfig.toml", () => {
  const cases = [
    [
      '[define]\n"1a" = "2"',
      'rtfig.toml:2: define.1a cannot substitute "1a": it is not an identifier',
      'for example "VERSION" = "1"',
    ],
    ['[define]\nA = ""', 'rtfig.toml:2: define.A needs a value for "A"', `write an empty string as '""'`],
    [
      '\n[define]\nA = "{"',
      'rtfig.toml:3: define.A needs JSON as the value of "A"',
      'for example "VERSION" = "1"',
    ],
    [
      '[loader]\n".c" = "nope"',
      'rtfig.toml:2: loader..c cannot load ".c" with "nope"',
      `use one of: ${LOADERS.join(", ")}`,
    ],
    [
      '[loader]\nc = "text"',
      'rtfig.toml:2: loader.c needs an extension that begins with a dot, not "c"',
      'for example ".svg" = "text"',
    ],
  ] as const;
  test("an invalid value in rtfig.toml is an error with its line and an example", () => {
    for (const [config, error, hint] of cases)
      expect(failureOf(() => parseConfig(config, "rtfig.toml"))).toEqual([error, hint]);
  });

  for (const [config, error, hint] of [
    cases[0],
    [
      '\npreload = ["./gone.ts"]',
      'rtfig.toml:2: preload: Module not found "./gone.ts"',
      "its path is relative to the working directory",
    ],
  ] as const)
    test(`${config.replaceAll("\n", " ")} is an error with its line, and nothing runs`, async () => {
      for (const args of [["a.ts"], ["-p", "1"]])
        expect(await runIn({ ...FILES, "rtfig.toml": config }, args)).toEqual({
          stdout: "",
          stderr: `error: ${error}\nhint: ${hint}\n`,
          status: 1,
        });
    });
});

test("a definition that is not JSON is reported without its value, which may be a credential", async () => {
  const { stderr } = await runIn({ ...FILES, "rtfig.toml": "[define]\nA = '{ secret-7'" }, ["a.ts"]);
  expect(stderr).toStartWith('error: rtfig.toml:2: define.A needs JSON as the value of "A"');
  expect(stderr).not.toContain("secret-7");
});

test("the engine accepts every loader of the table, and has no other", async () => {
  await using project = await createProject({ "a.js": 'console.log("ran")' });
  const start = async (...words: string[]) =>
    await runRt({ program: [process.execPath], args: [...words, "a.js"], cwd: project.path });
  const all = LOADERS.map((loader) => `--loader=.x${loader}:${loader}`);
  expect(await start(...all)).toEqual({ stdout: "ran\n", stderr: "", status: 0 });
  const { stderr } = await start("--loader=.x:none");
  const named = [...stderr.matchAll(/^- +(\w+)$/gm)].map(([, loader]) => loader!);
  expect(named.length).toBeGreaterThan(15);
  // The engine names it, but rejects it.
  expect(named.filter((loader) => !LOADERS.includes(loader))).toEqual(["bunsh"]);
});
