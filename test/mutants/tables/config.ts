// Mutants of src/config.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/config/unmatched-rules.ts": [
    {
      fault: "rules are told as for none where a package cannot be read",
      text: "if (broken.length > 0) return [];",
      becomes: "",
      tests: ["config/stray-rules"],
    },
    {
      fault: "rules of a file that lies elsewhere are told as for none",
      text: "if (names.length === 0 || realPath(folder) !== root) return [];",
      becomes: "",
      tests: ["config/stray-rules"],
    },
    {
      fault: "rules of one package are told as for none",
      text: "return name.startsWith(start) && scriptOf(member.manifest, name.slice(start.length)) !== null;",
      becomes: "return false;",
      tests: ["config/stray-rules"],
    },
  ],
  "src/config/engine-config.ts": [
    {
      fault: "a password is no credential",
      text: "/(?:token|password)$/",
      becomes: "/(?:token)$/",
      tests: ["config/keys"],
    },
    {
      fault: "a token is no credential",
      text: "/(?:token|password)$/",
      becomes: "/(?:password)$/",
      tests: ["config/keys"],
    },
    {
      fault: "a credential in an address is copied",
      text: " || /\\/\\/[^/@]*:[^/@]*@/.test(value)",
      becomes: "",
      tests: ["config/keys"],
    },
    {
      fault: "the name of a variable is a credential",
      text: `if (value.startsWith("$")) return false;`,
      becomes: "",
      tests: ["config/keys"],
    },
    {
      fault: "preloads run before rt is there",
      text: `(name === "preload" && purpose === "code") || `,
      becomes: "",
      tests: ["config/running"],
    },
    {
      fault: "preloads of tests run before rt is there",
      text: "if (rest.test) delete rest.test.preload;",
      becomes: "",
      tests: ["config/testing"],
    },
    {
      fault: "plugins are looked for where the copy is",
      text: "  anchorPlugins(rest.serve, cwd);\n",
      becomes: "",
      tests: ["config/running"],
    },
  ],
  "src/config/rtfig.ts": [
    {
      fault: "the beginning of a key's name is that key",
      text: "key.name.startsWith(`${name}.`)",
      becomes: "key.name.startsWith(name)",
      tests: ["config/keys"],
    },
    {
      fault: "a name in quotes is parted at its dots",
      text: `if (name.includes(".")) return found;`,
      becomes: "",
      tests: ["config/keys"],
    },
    {
      fault: "the value of a credential is told",
      text: `if (typeof value === "string") return "a string";`,
      becomes: `if (typeof value === "string") return value;`,
      tests: ["config/keys"],
    },
    {
      fault: "negative numbers are whole numbers from 0",
      text: "Number.isSafeInteger(value) && (value as number) >= 0",
      becomes: "Number.isSafeInteger(value)",
      tests: ["config/keys"],
    },
    {
      fault: "the greatest number is refused",
      text: "value >= least && value <= greatest",
      becomes: "value >= least && value < greatest",
      tests: ["config/keys"],
    },
    {
      fault: "the least number is refused",
      text: "value >= least && value <= greatest",
      becomes: "value > least && value <= greatest",
      tests: ["config/keys"],
    },
    {
      fault: "a choice is not looked at",
      text: "|| choices.includes(value)) return;",
      becomes: "|| choices) return;",
      tests: ["config/keys"],
    },
    {
      fault: "a switch that is off is on",
      text: "if (value === false) return [];",
      becomes: "if (value === false) return [[as]];",
      tests: ["config/running", "config/testing"],
    },
  ],
  "src/config/toml-line.ts": [
    {
      fault: "lines count from 0",
      text: "[best, line] = [covered, index + 1]",
      becomes: "[best, line] = [covered, index]",
      tests: ["config/keys"],
    },
    {
      fault: "the last place that fits is told",
      text: "if (covered > best)",
      becomes: "if (covered >= best)",
      tests: ["config/keys"],
    },
    {
      fault: "keys of tables are looked for at the top",
      text: "name.isTable ? table : [...table, ...name.parts]",
      becomes: "name.isTable ? table : name.parts",
      tests: ["config/keys"],
    },
  ],
} satisfies MutantTable;
