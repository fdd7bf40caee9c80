// Mutants of src/secrets, and of what all stores share.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/secrets/api/secrets.ts": [
    {
      fault: "the bytes of a stored value stay in memory",
      text: "await perform(options, (store) => store.set(service, name, bytes, options));\n      } finally {\n        bytes.fill(0);",
      becomes:
        "await perform(options, (store) => store.set(service, name, bytes, options));\n      } finally {",
      tests: ["secrets/secrets"],
    },
    {
      fault: "the bytes of a value that was read stay in memory",
      text: "    );\n  } finally {\n    bytes.fill(0);",
      becomes: "    );\n  } finally {",
      tests: ["secrets/secrets"],
    },
    {
      fault: "a stored byte order mark is lost",
      text: "ignoreBOM: true",
      becomes: "ignoreBOM: false",
      tests: ["secrets/command"],
    },
    {
      fault: "a store that could not be opened is never tried again",
      text: "      provider = undefined; // the next operation may have more luck\n",
      becomes: "",
      tests: ["secrets/secrets"],
    },
    {
      fault: "255 characters are too many",
      text: "if (length > MAX_LENGTH)\n",
      becomes: "if (length >= MAX_LENGTH)\n",
      tests: ["secrets/secrets"],
    },
    {
      fault: "code units are counted, not characters",
      text: "text.length > MAX_LENGTH ? [...text].length : text.length",
      becomes: "text.length",
      tests: ["secrets/secrets"],
    },
    {
      fault: "a name with a NUL is cut",
      text: `  if (text.includes("\\0"))\n    throw typeError("ERR_INVALID_ARG_VALUE", \`\${field} must not contain a NUL character\`);\n`,
      becomes: "",
      tests: ["secrets/secrets"],
    },
    {
      fault: "a time-out of 0 is one",
      text: "!(timeout > 0)",
      becomes: "!(timeout >= 0)",
      tests: ["secrets/secrets"],
    },
    {
      fault: "a value in the options wins over the second argument",
      text: "second === undefined ? value : second",
      becomes: "value === undefined ? second : value",
      tests: ["secrets/secrets"],
    },
  ],
  "src/secrets/command.ts": [
    {
      fault: "what was read from standard input stays in memory",
      text: "  } finally {\n    bytes.fill(0);\n  }",
      becomes: "  }",
      tests: ["secrets/linux-product"],
    },
    {
      fault: "an empty input is stored",
      text: "if (bytes.length === 0)\n",
      becomes: "if (bytes.length < 0)\n",
      tests: ["secrets/command", "secrets/command-faults"],
    },
    {
      fault: "a value in a pipe gets a line break",
      text: "(await isTerminal(1)) ? `${value}\\n` : value",
      becomes: "`${value}\\n`",
      tests: ["secrets/command"],
    },
    {
      fault: "a credential that is not there is a success",
      text: "const ABSENT = 1;",
      becomes: "const ABSENT = 0;",
      tests: ["secrets/command"],
    },
    {
      fault: "a failing store is an absent credential",
      text: "const FAILED = 2;",
      becomes: "const FAILED = 1;",
      tests: ["secrets/command-faults"],
    },
    {
      fault: "names steer the terminal",
      text: "`${printable(service)}\\t${printable(name)}\\n`",
      becomes: "`${service}\\t${name}\\n`",
      tests: ["secrets/command", "secrets/command-faults"],
    },
    {
      fault: "names that are no UTF-8 are one",
      text: "if (!host.exactArguments(args).every((word) => word.isWellFormed()))",
      becomes: "if (false)",
      tests: ["secrets/command-faults"],
    },
    {
      fault: "names come in the store's order",
      text: "found.sort((a, b) => compare(a.service, b.service) || compare(a.name, b.name))",
      becomes: "found",
      tests: ["secrets/command"],
    },
    {
      fault: "a value is taken as an argument",
      text: `  if (count <= most) return;\n`,
      becomes: `  if (count <= most || word === "set") return;\n`,
      tests: ["secrets/command"],
    },
  ],
  "src/secrets/hidden-prompt.ts": [
    {
      fault: "bracketed paste is left on",
      text: 'canMark ? `${LEAVE_PASTES}\\n` : "\\n"',
      becomes: `"\\n"`,
      tests: ["secrets/prompt"],
    },
    {
      fault: "bracketed paste is not asked for",
      text: "canMark ? MARK_PASTES + question : question",
      becomes: "question",
      tests: ["secrets/prompt"],
    },
    {
      fault: "the terminal stays raw",
      text: "    terminal.setRawMode(false);\n  };\n  const listen",
      becomes: "  };\n  const listen",
      tests: ["secrets/prompt"],
    },
    {
      fault: "what is typed after fg is shown",
      text: "    terminal.setRawMode(false); // or the stream believes that nothing has to be done\n",
      becomes: "",
      tests: ["secrets/prompt"],
    },
    {
      fault: "Ctrl-D gives up in the middle of a line",
      text: `key === "\\x04" && text === ""`,
      becomes: `key === "\\x04"`,
      tests: ["secrets/prompt"],
    },
    {
      fault: "backspace takes half a character",
      text: 'text.replace(/.$/su, "")',
      becomes: "text.slice(0, -1)",
      tests: ["secrets/prompt"],
    },
    {
      fault: "control characters and arrow keys are characters",
      text: 'else if (key >= " ") text += key;',
      becomes: "else text += key;",
      tests: ["secrets/prompt"],
    },
    {
      fault: "the second line of a paste ends the value",
      text: "if (key === PASTE_BEGINS) isPasting = true;",
      becomes: "if (key === PASTE_BEGINS) isPasting = false;",
      tests: ["secrets/prompt"],
    },
  ],
  "platform/secrets/credential-operations.ts": [
    {
      fault: "operations on one pair overtake each other",
      text: `const isFree = !before || (kind === "read" && before.write === NOTHING);`,
      becomes: "const isFree = true;",
      tests: ["secrets/linux-service", "macos/keychain"],
    },
    {
      fault: "an operation that was given up is carried out later",
      text: `if (over) throw new ProviderFailure("CANCELED", "The operation was given up");`,
      becomes: "",
      tests: ["macos/keychain"],
      why: "each store looks too before it changes anything; this spares it the look",
    },
    {
      fault: "a listener is left on the caller's signal",
      text: `    signal?.removeEventListener("abort", abort);\n`,
      becomes: "",
      tests: ["secrets/store-operations"],
    },
    {
      fault: "what has ended is kept by its key",
      text: "if (isIdle && this.#queues.get(key) === queue) this.#queues.delete(key);",
      becomes: "",
      tests: ["secrets/linux-service", "macos/keychain"],
      why: "memory that grows with the pairs that a program uses, by a map's entry each",
    },
  ],
  "src/secrets/streams.ts": [
    {
      fault: "a key of many lines loses its last line break",
      text: "/^[^\\n]*?(?=\\r?\\n$)/",
      becomes: "/^[^]*?(?=\\r?\\n$)/",
      tests: ["secrets/command"],
    },
    {
      fault: "standard input is read without a bound",
      text: "if (bytes.length > LARGEST_INPUT)",
      becomes: "if (bytes.length < 0)",
      tests: ["secrets/helper-git"],
    },
  ],
  "src/secrets/helpers/git.ts": [
    {
      fault: "git is given a line break that somebody else has stored",
      text: "if (/[\\0\\r\\n]/.test(value))",
      becomes: "if (/[\\0]/.test(value))",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "an expired password is handed out",
      text: "const isExpired = Number(",
      becomes: "const isExpired = !Number(",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "a rejection removes a newer password",
      text: "stored.get(key!) !== old",
      becomes: "stored.get(key!) === undefined",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "one of several users is guessed",
      text: "if (users.length < 2) return users[0];",
      becomes: "return users[0];",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "a host with a path is taken for a host",
      text: "[/\\\\?#@\\s]/",
      becomes: "[\\\\?#@\\s]/",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "a git that does not know other credentials is given one",
      text: "if (isToken && !asked.has(CAPABLE)) return 0;\n",
      becomes: "",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "a password is printed to a terminal",
      text: '  if (action === "get") await requireReader("A password");\n',
      becomes: "",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "what is for this moment only is stored",
      text: '  if (asked.get("ephemeral") === "1") return 0;\n',
      becomes: "",
      tests: ["secrets/helper-git"],
    },
  ],
  "src/secrets/helpers/git-config.ts": [
    {
      fault: "other programs' helpers are taken for rt's",
      text: "/^!.*\\brt(?:\\.exe)?['\"]? secrets helper git$/s",
      becomes: "/./s",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "a path with a quote breaks the shell's line",
      text: "path.replaceAll(\"'\", `'\\\\''`)",
      becomes: "path",
      tests: ["secrets/helper-git"],
    },
  ],
  "src/secrets/helpers/docker.ts": [
    {
      fault: "a new login leaves the old one",
      text: "if (name !== user) await secrets.delete(service, name);",
      becomes: 'if (name === "") await secrets.delete(service, name);',
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "no login is told in other words",
      text: 'const NOT_FOUND = "credentials not found in native keychain"',
      becomes: 'const NOT_FOUND = "no such login"',
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "a password is printed to a terminal",
      text: '  await requireReader("A password");\n',
      becomes: "",
      tests: ["secrets/helper-docker"],
    },
  ],
  "src/secrets/helpers/docker-config.ts": [
    {
      fault: "another program's store is replaced",
      text: 'if (store !== undefined && store !== "" && store !== OWN)',
      becomes: "if (store === null)",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "a link to the configuration becomes a file",
      text: "const place = realpathSync(path);",
      becomes: "const place = path;",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "the file's permissions are lost",
      text: "return { place, mode: statSync(place).mode & 0o777 };",
      becomes: "return { place, mode: 0o644 };",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "another program of that name is removed",
      text: "lstatSync(link).isSymbolicLink() && ",
      becomes: "lstatSync(link).isFile() || ",
      tests: ["secrets/helper-docker"],
    },
  ],
  "src/secrets/helpers/aws.ts": [
    {
      fault: "expired keys are handed out",
      text: "<= Date.now()",
      becomes: "<= 0",
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "a message quotes what was given",
      text: "`${what} is no JSON`",
      becomes: "`${what} is no JSON: ${text}`",
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "keys are printed to a terminal",
      text: '  await requireReader("An access key");\n',
      becomes: "",
      tests: ["secrets/helper-tools"],
    },
  ],
  "src/secrets/helpers/npm.ts": [
    {
      fault: "a token with a line break is handed out",
      text: 'const token = checkToken(stored, "What is stored");',
      becomes: "const token = stored;",
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "a token is printed to a terminal",
      text: '  await requireReader("A token");\n',
      becomes: "",
      tests: ["secrets/helper-tools"],
    },
  ],
} satisfies MutantTable;
