// Tests commands that rt starts without a shell: random commands have the same arguments, environment, output and
// exit code as in bash.
import { describe, expect, test } from "bun:test";
import { createRandom } from "../../support/random.ts";
import {
  createComparisonProject,
  runBash,
  type CommandResult,
  shellIn,
  start,
  type ShellContext,
  contextsOf,
  WORDS,
} from "./bash-comparison.ts";

/** RT_FUZZ overrides the number, as in test/support/fuzz.ts. */
const COUNT = Number(process.env.RT_FUZZ ?? 500);

const PROGRAMS = ["show", "bin/show", "./show", "../show", "sub/../show", "other", "$PROJECT/bin/show"];
const NAMES = [
  ...PROGRAMS,
  ...PROGRAMS,
  ...PROGRAMS,
  "echo",
  "true",
  "false",
  "exit",
  "test",
  "[",
  "printf",
  "pwd",
  "kill",
  "command",
  "builtin",
  "exec",
  "eval",
  "source",
  ".",
  ":",
  "time",
  "!",
  "cd",
  "type",
  "set",
  "ulimit",
  "umask",
  "nosuch",
  "./nosuch",
  "bin",
  "./bin",
  "./plain",
  "plain",
  "text",
  "a=b",
  "=",
  "-x",
  "%1",
  "+x",
  "@x",
  ",",
  "..",
  "~",
  "if",
  "then",
  "function",
  "coproc",
  "select",
  "false,",
  "true/",
  "[[",
  "]]",
  "{",
  "}",
];

function randomCommand(random: ReturnType<typeof createRandom>): string {
  const words = [
    random.pick(NAMES),
    ...Array.from({ length: random.below(5) }, () =>
      random.pick(random.below(3) ? WORDS.slice(0, 25) : WORDS),
    ),
  ];
  const spaces = () => " ".repeat(1 + (random.below(5) === 0 ? random.below(3) : 0));
  return `${random.below(20) ? "" : " "}${words.map((word, index) => (index ? spaces() : "") + word).join("")}${random.below(20) ? "" : "  "}`;
}

/** Runs a command without a shell; returns undefined when it needs a shell. */
function runDirectly(command: string, context: ShellContext): CommandResult | undefined {
  const { directory, env } = context;
  const plan = shellIn(context).start(command, directory, env.PATH!);
  if (!plan || plan.argv[1] === "-c") return undefined;
  return start(plan.program, plan.argv, directory, changedEnvironment(env, plan.environment));
}

/** Applies the changes like `replace` of platform/processes/process.ts. */
function changedEnvironment(
  env: ShellContext["env"],
  changes: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const all = { ...env, ...changes };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

describe("a command that is started directly", () => {
  test("gets the arguments, environment, output and exit code of bash", async () => {
    await using project = await createComparisonProject();
    const random = createRandom(7);
    const all = contextsOf(project);
    let direct = 0;
    for (let round = 0; round < 40 * COUNT && direct < COUNT; round += 1) {
      const context = random.below(2) ? all[0]! : random.pick(all);
      const command = randomCommand(random).replaceAll("$PROJECT", project.path);
      const actual = runDirectly(command, context);
      if (!actual) continue;
      direct += 1;
      const expected = runBash(command, context);
      expect({ command, ...context, ...actual }).toEqual({ command, ...context, ...expected });
    }
    expect(direct).toBe(COUNT);
  }, 120_000);

  test("gets the directory name of bash for every link to the directory", async () => {
    await using project = await createComparisonProject();
    for (const context of contextsOf(project)) {
      const actual = runDirectly("show a", context);
      if (!actual) continue;
      expect({ ...context, ...actual }).toEqual({ ...context, ...runBash("show a", context) });
    }
  });
});
