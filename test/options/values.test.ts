// Invalid values of options and keys of rtfig.toml, over the whole tables.
import { describe, expect, test } from "bun:test";
import { KEYS } from "../../src/config/keys.ts";
import { OPTIONS } from "../../src/options/options.ts";
import { LOADERS } from "../../src/options/values.ts";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { runIn } from "./prove.ts";

const FILES = { "package.json": { scripts: { s: "echo ran" } }, "a.ts": 'console.log("ran")' };

describe.concurrent("empty values", () => {
  for (const { name, value } of OPTIONS) {
    if (!value || value.kind === "optional" || value.isCode) continue;
    test(`an empty value of --${name} is an error, and nothing runs`, async () => {
      for (const words of [[`--${name}=`], [`--${name}`, ""]]) {
        const { stdout, stderr, status } = await runIn(FILES, [...words, "a.ts"]);
        expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
        expect(stderr).toBe(`error: --${name} needs a value\nhint: write it as --${name}=<${value.hint}>\n`);
      }
    });
  }

  for (const { name, as, kinds, choices } of KEYS) {
    if (typeof as !== "string" || choices || !kinds.some((kind) => kind.startsWith("string"))) continue;
    test(`an empty value of the key ${name} is an error with its line, and nothing runs`, async () => {
      const [section, key] = [name.split(".").slice(0, -1).join("."), name.split(".").at(-1)!];
      const line = `${key === "*" ? "A" : key} = ""`;
      const config = section === "" ? `\n${line}\n` : `[${section}]\n${line}\n`;
      const { stdout, stderr, status } = await runIn({ ...FILES, "rtfig.toml": config }, ["a.ts"]);
      expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
      expect(stderr).toMatch(/^error: rtfig\.toml:2: \S+ needs .+\nhint: .+\n$/);
    });
  }
});

describe.concurrent("an invalid value in rtfig.toml", () => {
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
    [
      '\npreload = ["./gone.ts"]',
      'rtfig.toml:2: preload: Module not found "./gone.ts"',
      "its path is relative to the working directory",
    ],
  ] as const;
  for (const [config, error, hint] of cases)
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
  const start = async (loader: string) =>
    await runRt({ program: [process.execPath], args: [`--loader=.x:${loader}`, "a.js"], cwd: project.path });
  for (const loader of LOADERS)
    expect({ loader, ...(await start(loader)) }).toMatchObject({ loader, status: 0 });
  const { stderr } = await start("none");
  const named = [...stderr.matchAll(/^- +(\w+)$/gm)].map(([, loader]) => loader!);
  expect(named.length).toBeGreaterThan(15);
  // The engine names it, but rejects it.
  expect(named.filter((loader) => !LOADERS.includes(loader))).toEqual(["bunsh"]);
});
