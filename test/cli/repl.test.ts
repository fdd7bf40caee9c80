// `rt repl`: a REPL that has `rt`, on a terminal and from a pipe.
import { expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { testTranscripts } from "../support/transcripts.ts";

/** Returns the output for the given lines, without the banner. */
async function answersTo(lines: string, ...args: string[]): Promise<string> {
  await using project = await createProject({ "a.ts": "export const a: number = 7;\n" });
  const { stdout, stderr, status } = await runRt({ args, stdin: lines, cwd: project.path });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout.split("\n").slice(2).join("\n");
}

test("piped lines see what earlier lines awaited, imported and threw", async () => {
  const lines = `
    import { a } from "./a.ts"
    a + 1
    typeof rt.secrets.get
    await Promise.resolve("first")
    await Promise.reject("no")
    x.y
    function f(){
    return 2 as number }
    f()
    await new Promise((tell) => setTimeout(tell, 50, "late"))
    _
    process.execArgv.length
  `.replaceAll(/^ +/gm, "");
  const [imported, ...answers] = (await answersTo(lines.slice(1), "repl")).split("\n> ");
  expect(imported).toStartWith("> ");
  expect(answers).toEqual([
    "8",
    "'function'",
    "'first'",
    "Uncaught 'no'",
    "Uncaught ReferenceError: x is not defined",
    "| undefined",
    "2",
    "'late'",
    "'late'",
    "1",
    "",
  ]);
});

test("rt repl does not run lines after .exit", async () => {
  expect(await answersTo("await 1\n.exit\nconsole.log('ran')\n", "repl")).toBe("> 1\n> ");
  expect(await answersTo("1\n.exit\nconsole.log('ran')\n", "repl")).toBe("> 1\n> ");
});

testTranscripts("rt repl with words", [
  [
    "-p prints the value of code",
    { files: {}, args: ["repl", "-p", "typeof rt.secrets"], stdout: "object\n" },
  ],
  [
    "-e runs code, with words behind it",
    {
      files: {},
      args: ["repl", "--eval", "console.log(typeof rt, process.argv.slice(1).join())", "a", "b"],
      stdout: "object a,b\n",
    },
  ],
  [
    "it runs no file",
    {
      files: { "a.ts": "console.log(1)" },
      args: ["repl", "a.ts"],
      stderr: /^error: rt repl accepts options only, not "a.ts"\nhint: to run a file: rt <file>\n$/,
      status: 1,
    },
  ],
  [
    "options are the runner's",
    { files: {}, args: ["repl", "--smoll"], stderr: /^error: Unknown option "--smoll"/, status: 1 },
  ],
  ["help is of the command", { files: {}, args: ["repl", "--help"], stdout: /rt repl \[options\]/ }],
]);

test("the REPL continues incomplete lines, keeps a history and exits when the program exits", async () => {
  await using project = await createProject();
  await using terminal = startOnTerminal([RT, "repl"], cleanEnvironment({ HOME: project.path }));
  await terminal.awaitOutput("> ");
  terminal.type("const half = (x: number) => {\r");
  await terminal.awaitOutput("| ");
  terminal.type("return x / 2 }\r");
  terminal.type("half(await Promise.resolve(86)) + typeof rt.CSRF\r");
  await terminal.awaitOutput("43object");
  terminal.type(".exit\r");
  expect(await terminal.awaitExit()).toBe(0);
  expect(await Bun.file(`${project.path}/.node_repl_history`).text()).toContain("half(await");
});
