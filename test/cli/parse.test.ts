// Splitting a command line into options, command, target and arguments.
import { describe, expect, test } from "bun:test";
import { OPTIONS } from "../../src/options/options.ts";
import { collectOptions, mentionsOption, parseCommandLine, UsageError } from "../../src/options/parse.ts";

const parse = (line: readonly string[]) => {
  const { options, command, target, args } = parseCommandLine(line, OPTIONS);
  const given = options.map(({ option, value }) =>
    value === undefined ? option.name : `${option.name}=${value}`,
  );
  return { options: given, command, target, args };
};

const failure = (line: readonly string[]): UsageError => {
  try {
    parseCommandLine(line, OPTIONS);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error(`${line.join(" ")} was understood`);
};

describe("parseCommandLine()", () => {
  test.each([
    ["file.ts a -b", [], undefined, "file.ts", ["a", "-b"]],
    ["run file.ts a", [], "run", "file.ts", ["a"]],
    ["run", [], "run", undefined, []],
    ["--smol file.ts --smol", ["smol"], undefined, "file.ts", ["--smol"]],
    ["--smol run --silent dev --silent -x", ["smol", "silent"], "run", "dev", ["--silent", "-x"]],
    ["run run", [], "run", "run", []],
    ["run test", [], "run", "test", []],
    ["test --watch x", [], "test", undefined, ["--watch", "x"]],
    ["--smol test x", ["smol"], "test", undefined, ["x"]],
    ["secrets get a b", [], "secrets", undefined, ["get", "a", "b"]],
    ["- a", [], undefined, "-", ["a"]],
    ["run - -x", [], "run", "-", ["-x"]],
    ["-- dev --x", [], undefined, "dev", ["--x"]],
    ["run -- --odd", [], "run", "--odd", []],
    ["dev -- -x", [], undefined, "dev", ["--", "-x"]],
    ["-e code a b", ["eval=code"], undefined, undefined, ["a", "b"]],
    ["-e code -- -x", ["eval=code"], undefined, undefined, ["-x"]],
    ["-p code run", ["print=code"], undefined, undefined, ["run"]],
    ["--eval=a=b", ["eval=a=b"], undefined, undefined, []],
    ["-ecode", ["eval=code"], undefined, undefined, []],
    ["-e -1", ["eval=-1"], undefined, undefined, []],
    [
      "-F pkg -Fother -F=third --filter=fourth dev",
      ["filter=pkg", "filter=other", "filter=third", "filter=fourth"],
      undefined,
      "dev",
      [],
    ],
    ["-r ./a.ts -r./b.ts x.ts", ["preload=./a.ts", "preload=./b.ts"], undefined, "x.ts", []],
    ["--inspect x.ts", ["inspect"], undefined, "x.ts", []],
    ["--inspect=9229 x.ts", ["inspect=9229"], undefined, "x.ts", []],
    ["--inspect= x.ts", ["inspect="], undefined, "x.ts", []],
    ["--define A:1 x.ts", ["define=A:1"], undefined, "x.ts", []],
    ["-d A:1 x.ts", ["define=A:1"], undefined, "x.ts", []],
    ["--port 0 x.ts", ["port=0"], undefined, "x.ts", []],
    ["--shell rt dev", ["shell=rt"], undefined, "dev", []],
    ["-b -i dev", ["rt", "auto-install"], undefined, "dev", []],
    ["constructor", [], undefined, "constructor", []],
    ["__proto__", [], undefined, "__proto__", []],
  ] as const)("%s", (line, options, command, target, args) => {
    expect(parse(line.split(" "))).toEqual({
      options: [...options],
      command,
      target,
      args: [...args],
    } as never);
  });

  test("takes an empty word as target, and an empty value when the value is optional", () => {
    expect(parse([""])).toEqual({ options: [], command: undefined, target: "", args: [] });
    expect(parse(["--affected=", "y"])).toMatchObject({ options: ["affected="], target: "y" });
  });

  test("takes the first and the last port, and none beyond", () => {
    for (const port of ["0", "65535"])
      for (const option of ["--port", "--inspect"])
        expect(parse([`${option}=${port}`, "x"])).toMatchObject({ options: [`${option.slice(2)}=${port}`] });
    for (const option of ["--port", "--inspect", "--inspect-wait", "--inspect-brk"])
      expect(failure([`${option}=65536`, "x"]).message).toEndWith('not "65536"');
    expect(failure(["--inspect=localhost:65536/path", "x"]).message).toEndWith('not "localhost:65536/path"');
    expect(parse(["--inspect=localhost:65535/path", "x.ts"]).target).toBe("x.ts");
  });

  test.each([
    [["--wach", "x.ts"], 'Unknown option "--wach"'],
    [["run", "--sillent", "x"], 'Unknown option "--sillent"'],
    [["-Z"], 'Unknown option "-Z"'],
    [["-bx", "dev"], 'Unknown option "-bx"'],
    [["--no-such=1"], 'Unknown option "--no-such"'],
    [["--smol=1", "x"], "--smol takes no value"],
    [["--preload"], "--preload needs a value"],
    [["-e"], "--eval needs a value"],
    [["--console-depth", "two", "x"], '--console-depth needs a whole number, not "two"'],
    [["--console-depth=-1", "x"], '--console-depth needs a whole number, not "-1"'],
    [["--port=", "x"], "--port needs a value"],
    [["--install=never", "x"], '--install cannot be "never"'],
    [["--shell", "fish", "x"], '--shell cannot be "fish"'],
    [["--unhandled-rejections=maybe", "x"], '--unhandled-rejections cannot be "maybe"'],
    [["--Smol"], 'Unknown option "--Smol"'],
  ])("rejects %j", (line, message) => {
    const error = failure(line);
    expect(error.message).toBe(message);
    expect(error.hint).toBeString();
  });

  test("leaves all words after the target unparsed", () => {
    const odd = ["--wach", "-Z", "--", "--smol=1", "-e", "", "--preload"];
    expect(parse(["dev", ...odd]).args).toEqual(odd);
    expect(parse(["--silent", "run", "dev", ...odd]).args).toEqual(odd);
  });
});

test("mentionsOption() finds every word that may be an option", () => {
  expect(mentionsOption(["a", "-"])).toBe(false);
  expect(mentionsOption(["a", "-x"])).toBe(true);
  expect(mentionsOption([])).toBe(false);
});

test("collectOptions() collects repeated options and aliases, and whether they are on the command line", () => {
  const { options } = parseCommandLine(
    ["--port=1", "--port=2", "-r", "a", "--require=b", "--import", "c", "--silent", "x.ts"],
    OPTIONS,
  );
  const [port, , , , , silent] = options;
  const given = collectOptions([
    { ...port!, isConfigured: true },
    ...options.slice(1, -1),
    { ...silent!, isConfigured: true },
  ]);
  expect(given.get("port")).toEqual({ last: "2", all: ["1", "2"], isOnLine: true });
  expect(given.get("preload")?.all).toEqual(["a", "b", "c"]);
  expect(given.get("silent")).toEqual({ last: undefined, all: [], isOnLine: false });
  expect(given.has("title")).toBe(false);
});
