// A command that is started without a shell must not be able to tell: random commands, each carried out as
// src/runner/script/shell.ts says and by a real bash, compared in arguments, environment, output and exit code.
import { describe, expect, test } from "bun:test";
import { createRandom } from "../../support/random.ts";
import {
  createStage,
  runBash,
  type Seen,
  shellIn,
  start,
  type Surroundings,
  surroundingsOf,
  WORDS,
} from "./bash-comparison.ts";

/** RT_FUZZ says another number, as in test/support/fuzz.ts. */
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

/** What the command does without a shell; undefined when a shell is needed. */
function runDirectly(command: string, surroundings: Surroundings): Seen | undefined {
  const { directory, env } = surroundings;
  const plan = shellIn(surroundings).start(command, directory, env.PATH!);
  if (!plan || plan.argv[1] === "-c") return undefined;
  return start(plan.program, plan.argv, directory, changedEnvironment(env, plan.environment));
}

/** As `replace` of platform/processes/process.ts makes it. */
function changedEnvironment(
  env: Surroundings["env"],
  changes: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const all = { ...env, ...changes };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

describe("a command that is started directly", () => {
  test("has the arguments, environment, output and exit code that bash would give it", async () => {
    await using project = await createStage();
    const random = createRandom(7);
    const all = surroundingsOf(project);
    let direct = 0;
    for (let round = 0; round < 40 * COUNT && direct < COUNT; round += 1) {
      const surroundings = random.below(2) ? all[0]! : random.pick(all);
      const command = randomCommand(random).replaceAll("$PROJECT", project.path);
      const ours = runDirectly(command, surroundings);
      if (!ours) continue;
      direct += 1;
      const theirs = runBash(command, surroundings);
      expect({ command, ...surroundings, ...ours }).toEqual({ command, ...surroundings, ...theirs });
    }
    expect(direct).toBe(COUNT);
  }, 120_000);

  test("keeps the directory's name as bash would, whichever link led to it", async () => {
    await using project = await createStage();
    for (const surroundings of surroundingsOf(project)) {
      const ours = runDirectly("show a", surroundings);
      if (!ours) continue;
      expect({ ...surroundings, ...ours }).toEqual({ ...surroundings, ...runBash("show a", surroundings) });
    }
  });
});
