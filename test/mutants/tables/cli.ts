// Mutants of src/cli.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/options/parse.ts": [
    {
      fault: "port 65536 is one",
      text: "Number(port) <= 65_535",
      becomes: "Number(port) <= 65_536",
      tests: ["cli/wrong-values", "cli/parse", "options/inspect"],
    },
    {
      fault: "port 65535 is none",
      text: "Number(port) <= 65_535",
      becomes: "Number(port) < 65_535",
      tests: ["cli/wrong-values", "cli/parse", "options/inspect"],
    },
    {
      fault: "the greatest number is refused",
      text: "Number(value) <= (max",
      becomes: "Number(value) < (max",
      tests: ["cli/wrong-values", "cli/parse", "cli/tables"],
    },
    {
      fault: "the first of a repeated option counts",
      text: "if (option.name === name) last = value;",
      becomes: "if (option.name === name) last ??= value;",
      tests: ["cli/parse", "options/general", "config/running"],
    },
    {
      fault: "a switch takes a value",
      text: "if (inline !== undefined) throw new UsageError(`${name} takes no value`, `write it as ${name}`);",
      becomes: "",
      tests: ["cli/parse", "cli/wrong-values", "cli/mistaken-options"],
    },
    {
      fault: "-F=x has the value =x",
      text: `inline = word[2] === "=" ? word.slice(3) : word.slice(2);`,
      becomes: "inline = word.slice(2);",
      tests: ["cli/parse"],
    },
    {
      fault: "a word behind -e is a target",
      text: "    if (evaluates) break;\n",
      becomes: "",
      tests: ["cli/parse", "options/general"],
    },
    {
      fault: "an option that nobody knows is the engine's",
      text: "if (!option && isOwnChild && ",
      becomes: "if (!option && ",
      tests: ["cli/parse", "cli/mistaken-options"],
    },
    {
      fault: "- is an option",
      text: `if (word.length > 1 && word.startsWith("-")) {`,
      becomes: `if (word.startsWith("-")) {`,
      tests: ["cli/parse"],
    },
  ],
  "src/run/target/suggestion.ts": [
    {
      fault: "with run, commands of rt's are suggested",
      text: "explicitRun ? [] : Object",
      becomes: "Object",
      tests: ["cli/mistaken-targets", "cli/mistaken-options"],
    },
    {
      fault: "a script that is no string is not told",
      text: "if (located && isMisdeclaredScript(located.manifest, name))",
      becomes: "if (false)",
      tests: ["cli/wrong-values"],
    },
  ],
  "src/cli/shadowed.ts": [
    {
      fault: "a script that means the command gets a hint",
      text: "if (script === null || [`rt ${command}`, `bun ${command}`].includes(script.trim())) return;",
      becomes: "if (script === null) return;",
      tests: ["cli/command-line"],
    },
    {
      fault: "options of runs are lost on commands",
      text: "  if (!lost) return;\n",
      becomes: "  return;\n",
      tests: ["cli/command-line", "cli/mistaken-options"],
    },
    {
      fault: "the command within its script gets a hint",
      text: "if (process.env.npm_lifecycle_event === command) return;",
      becomes: "",
      tests: ["cli/command-line"],
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
  "src/run/execution.ts": [
    {
      fault: "a hint is not printed",
      text: "if (hint) console.error(`hint: ${hint}`);",
      becomes: "",
      tests: ["cli/mistaken-targets"],
    },
    {
      fault: "a watched program watches itself",
      text: `if (process.env[SUPERVISED] === "1") return false;`,
      becomes: "",
      tests: ["options/watch"],
    },
    {
      fault: "a tsconfig that is not there is a success",
      text: "        requireTsconfig(invocation);\n",
      becomes: "",
      tests: ["cli/wrong-values", "options/resolution", "options/transpilation"],
    },
    {
      fault: "the screen is cleared although it must not",
      text: `!hasOption(invocation, "no-clear-screen")`,
      becomes: "true",
      tests: ["options/watch"],
    },
  ],
} satisfies MutantTable;
