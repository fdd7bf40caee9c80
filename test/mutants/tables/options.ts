// Mutants of src/options and src/config/settings: what the user wrote, and what it means.
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
      text: "      last: value,\n",
      becomes: "      last: before ? before.last : value,\n",
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
  "src/config/settings/watch.ts": [
    {
      fault: "the screen is cleared although it must not",
      text: `clearsScreen: !given.has("no-clear-screen")`,
      becomes: "clearsScreen: true",
      tests: ["options/watch"],
    },
  ],
  "src/runner/option-files.ts": [
    {
      fault: "a file of --env-file that is not there is not told",
      text: `code === "ENOENT" ? "missing" : "other"`,
      becomes: `code === "ENOENT" ? "other" : "other"`,
      tests: ["options/context", "cli/mistaken-options", "cli/wrong-values"],
    },
    {
      fault: "a directory as a file of --env-file is not told",
      text: `state.isDirectory() ? "directory" : "other"`,
      becomes: `"other"`,
      tests: ["options/env-pipes"],
    },
    {
      fault: "a pipe of --env-file is opened before it is read",
      text: `state.isFIFO() ? "pipe" : `,
      becomes: "",
      tests: ["options/env-pipes"],
    },
  ],
  "src/config/settings/code.ts": [
    {
      fault: "a list of conditions is one name",
      text: 'const values = given.value.split(",")',
      becomes: "const values = [given.value]",
      tests: ["options/resolution"],
    },
    {
      fault: "no code at all is a call for help",
      text: `[flag, value || " "]`,
      becomes: "[flag, value!]",
      tests: ["differential/evaluate", "cli/mistaken-options", "options/general"],
    },
  ],
} satisfies MutantTable;
