// Mutants of src/cli.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/cli/refusal.ts": [
    {
      fault: "options of runs are lost on commands",
      text: "  if (!lost) return;\n",
      becomes: "  return;\n",
      tests: ["cli/command-line", "cli/mistaken-options"],
    },
  ],
  "src/cli/completions.ts": [
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
      fault: "an option's value is taken for the target",
      text: '(word, index) => !word.startsWith("-") && !optionAwaitingValue(before.slice(0, index)),',
      becomes: '(word) => !word.startsWith("-"),',
      tests: ["cli/completions"],
    },
  ],
  "src/complaint.ts": [
    {
      fault: "a hint is not printed",
      text: "for (const line of hint ? [hint].flat() : []) console.error(`hint: ${oneLine(line)}`);",
      becomes: "",
      tests: ["cli/mistaken-targets"],
    },
  ],
} satisfies MutantTable;
