// Mutants of what is asked, allowed and fetched before scripts get secrets.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/secrets/trust/trust.ts": [
    {
      fault: "whether a value may be shown needs no other answer",
      text: "[name, asList(source), isRedacted] as const",
      becomes: "[name, asList(source)] as const",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "the order of rows needs another answer",
      text: ".sort(byName),\n    scripts",
      becomes: ",\n    scripts",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "a file of variables allows it",
      text: "host.originalVariable(VARIABLE)",
      becomes: "process.env[VARIABLE]",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "any file in the directory of what is allowed is listed",
      text: "names.filter((name) => HASH.test(name))",
      becomes: "names",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "what is allowed is not remembered",
      text: `    throw new Failure("Not allowed, so nothing was started"`,
      becomes: `    return; throw new Failure("Not allowed, so nothing was started"`,
      tests: ["secrets/mapping/trust"],
    },
  ],
  "src/secrets/trust/trust-command.ts": [
    {
      fault: "every folder is forgotten",
      text: "hash === what || folder === resolveFolder(what)",
      becomes: "hash !== folder",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "what is not there any more cannot be forgotten",
      text: "    return path;\n",
      becomes: '    return "";\n',
      tests: ["secrets/mapping/trust"],
    },
  ],
  "src/secrets/grants/env-command.ts": [
    {
      fault: "what is missing ends with 0",
      text: `!isOptional && states.get(name) === "missing"`,
      becomes: "false",
      tests: ["secrets/mapping/scripts"],
    },
    {
      fault: "an optional secret that is missing ends with 1",
      text: "!isOptional && states.get(name)",
      becomes: "states.get(name)",
      tests: ["secrets/mapping/scripts"],
    },
  ],
  "src/secrets/grants/mapping.ts": [
    {
      fault: "a script may name a secret that is not there",
      text: "if (missing !== undefined) {",
      becomes: "if (missing === null) {",
      tests: ["config/secrets"],
    },
    {
      fault: "a command may have a NUL character",
      text: 'if (argv.some((word) => word.includes("\\0")))',
      becomes: "if (argv.length === 0)",
      tests: ["config/secrets"],
    },
    {
      fault: "a service is parted at its last slash",
      text: `const slash = text.indexOf("/");`,
      becomes: `const slash = text.lastIndexOf("/");`,
      tests: ["config/secrets"],
    },
  ],
  "src/secrets/grants/secret-fetch.ts": [
    {
      fault: "values stay in memory where one cannot be a variable",
      text: "    for (const value of values.values()) value.fill(0);\n    throw error;",
      becomes: "    throw error;",
      tests: ["secrets/zeroing"],
    },
    {
      fault: "a value that is no UTF-8 is changed",
      text: "fatal: true",
      becomes: "fatal: false",
      tests: ["secrets/mapping/values"],
    },
    {
      fault: "a locked store is an optional secret that is not there",
      text: `(error as { kind?: string }).kind === "UNAVAILABLE"`,
      becomes: "(error as { kind?: string }).kind !== undefined",
      tests: ["secrets/mapping/missing"],
    },
    {
      fault: "an optional secret is needed where there is no store",
      text: "if (secret.isOptional && isUnavailable(answer.reason)) lacking",
      becomes: "if (!secret.isOptional && isUnavailable(answer.reason)) lacking",
      tests: ["secrets/mapping/missing"],
    },
  ],
  "src/secrets/grants/secret-provisioning.ts": [
    {
      fault: "a watched script gets what its secrets were at first",
      text: "        values.delete(name);\n",
      becomes: "",
      tests: ["secrets/mapping/scripts", "run/watch", "options/watch", "secrets/mapping/fetching"],
      why: "each value that is there is set below anew; it is deleted for those that are not there any more",
    },
    {
      fault: "--show-secrets hides",
      text: "found.isRedacted && !showsSecrets",
      becomes: "found.isRedacted",
      tests: ["options/secrets", "run/attended"],
    },
    {
      fault: "values stay in memory after the run",
      text: "for (const { value } of [...values.values(), ...replaced]) value.fill(0);",
      becomes: "void replaced;",
      tests: ["secrets/zeroing"],
      why: "rt ends, or becomes what it has started, right behind it; till then nobody else can look into it",
    },
  ],
  "src/secrets/grants/missing-secrets.ts": [
    {
      fault: "what was entered is not stored",
      text: "    if (!byAddress.has(address))\n",
      becomes: "    if (byAddress.has(address))\n",
      tests: ["secrets/mapping/missing"],
    },
    {
      fault: "a service that begins with a dash is an option in what is said",
      text: 'return [service, name].some((word) => word.startsWith("-")) ? `-- ${words}` : words;',
      becomes: "return words;",
      tests: ["secrets/mapping/missing"],
    },
  ],
  "src/secrets/trust/yes-no-prompt.ts": [
    {
      fault: "yes in the middle of a line is one",
      text: "/^\\s*y(?:es)?\\s*$/i",
      becomes: "/y(?:es)?/i",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "a question is asked where standard error is a file",
      text: "host.isTerminal(0) && host.isTerminal(2)",
      becomes: "host.isTerminal(0)",
      tests: ["secrets/mapping/trust", "secrets/mapping/missing"],
    },
  ],
  "src/secrets/hidden-prompt.ts": [
    {
      fault: "a key of a paste ends it",
      text: "else if (isPasting) text +=",
      becomes: `else if (isPasting && key >= " ") text +=`,
      tests: ["secrets/prompt"],
    },
    {
      fault: "Ctrl-D ends what was typed",
      text: 'else if (key === "\\x04" && text === "")',
      becomes: 'else if (key === "\\x04")',
      tests: ["secrets/prompt"],
    },
    {
      fault: "half a letter is deleted",
      text: `text.replace(/.$/su, "")`,
      becomes: "text.slice(0, -1)",
      tests: ["secrets/prompt"],
    },
    {
      fault: "what was typed before it was stopped goes on",
      text: "    typed = NOTHING_TYPED;\n    listen();",
      becomes: "    listen();",
      tests: ["secrets/prompt"],
      why: "Ctrl-Z forgets it as a key; of a SIGTSTP nobody can know that it came behind what was typed",
    },
    {
      fault: "keys stay in memory",
      text: "    keys.fill(0);\n",
      becomes: "",
      tests: ["secrets/zeroing", "secrets/prompt"],
      why: "a buffer of rt's own process, of which each next key writes over the last; the string that is made of it cannot be zeroed",
    },
    {
      fault: "a shell's settings show what is typed",
      text: '    process.on("SIGCONT", show);\n',
      becomes: "",
      tests: ["secrets/prompt"],
    },
  ],
} satisfies MutantTable;
