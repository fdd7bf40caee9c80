// Mutants of src/cli, src/cli/doctor and src/cli/picker.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/cli/answer.ts": [
    {
      fault: "an answer that cannot be written is a success",
      text: 'if (code !== "EPIPE") throw',
      becomes: 'if (code === "none") throw',
      tests: ["cli/answers"],
    },
  ],
  "src/cli/doctor/installation-checks.ts": [
    {
      fault: "any program called rt counts as this one",
      text: "return realpathSync(a) === realpathSync(b);",
      becomes: "return true;",
      tests: ["cli/doctor"],
    },
  ],
  "src/cli/doctor/command.ts": [
    {
      fault: "a broken configuration does not show in the exit code",
      text: "return ready && hasNoProblem(installation) ? 0 : 1;",
      becomes: "return ready || hasNoProblem(installation) ? 0 : 1;",
      tests: ["cli/doctor", "secrets/doctor"],
    },
  ],
  "src/cli/doctor/project-checks.ts": [
    {
      fault: "what a configuration sets is shown with its values",
      text: '.settings.map(({ path }) => path.join("."))',
      becomes: '.settings.map(({ path, value }) => path.join(".") + JSON.stringify(value))',
      tests: ["cli/doctor"],
    },
  ],
  "src/cli/picker/prompt.ts": [
    {
      fault: "Enter runs what is not there",
      text: "if (answer !== undefined && splitLine(answer.args) !== undefined) return true;",
      becomes: "if (answer !== undefined || this.userInput) return true;",
      tests: ["cli/pick"],
    },
    {
      fault: "a screen of another size keeps what was drawn before",
      text: "const onResize = () => picker.drawAnew();",
      becomes: "const onResize = () => {};",
      tests: ["cli/pick"],
    },
    {
      fault: "a signal does not end the picker",
      text: "ended.resolve(signal);",
      becomes: "void signal;",
      tests: ["cli/pick"],
    },
  ],
  "src/cli/picker/pick.ts": [
    {
      fault: "what was picked is forgotten",
      text: "remember(found.root, {",
      becomes: "void ({",
      tests: ["cli/pick"],
    },
  ],
  "src/cli/picker/line-prompt.ts": [
    {
      fault: "an answer after the first is lost",
      text: "found = search(choices, told);",
      becomes: "found = choices;",
      tests: ["cli/pick"],
    },
  ],
  "src/cli/misplaced-options.ts": [
    {
      fault: "options of runs are lost on commands",
      text: "  if (!lost) return;\n",
      becomes: "  return;\n",
      tests: ["cli/command-line", "cli/mistaken-options"],
    },
    {
      fault: "rt --config=other.toml secrets env tells of this project's own file",
      text: "  if (!config) return;\n",
      becomes: "  return;\n",
      tests: ["secrets/mapping/trust"],
    },
  ],
  "src/cli/completions/completions.ts": [
    {
      fault: "candidates are not narrowed to what is typed",
      text: "const startsWithTyped = ({ value }: Candidate) => value.startsWith(typed);",
      becomes: "const startsWithTyped = (_: Candidate) => true;",
      tests: ["cli/completions"],
    },
    {
      fault: "scripts of other packages are not offered",
      text: "before.some((word) => OF_PACKAGES.test(word)) ? scriptsOfPackages(cwd) : scriptsOf(cwd)",
      becomes: "scriptsOf(cwd)",
      tests: ["cli/completions"],
    },
    {
      fault: "a description breaks the line",
      text: `description.replaceAll(/\\s+/g, " ")`,
      becomes: "description",
      tests: ["cli/completions"],
    },
    {
      fault: "a value behind an option of a command of rt's is one of its words",
      text: "value && word === `--${name}`",
      becomes: "value && word === name",
      tests: ["cli/completions"],
    },
    {
      fault: "an option's value is taken for the target",
      text: '!word.startsWith("-") && !optionAwaitingValue(before.slice(0, index));',
      becomes: '!word.startsWith("-") && index >= 0;',
      tests: ["cli/completions"],
    },
  ],
  "src/error-output.ts": [
    {
      fault: "a hint is not printed",
      text: "for (const line of hint ? [hint].flat() : []) console.error(`hint: ${oneLine(line)}`);",
      becomes: "",
      tests: ["cli/mistaken-targets"],
    },
  ],
  "src/cli/pick-invocation.ts": [
    {
      fault: "a hang-up leaves the terminal without echo",
      text: "  for (const signal of SIGNALS) process.on(signal, hear);\n",
      becomes: "",
      tests: ["cli/pick"],
    },
  ],
} satisfies MutantTable;
