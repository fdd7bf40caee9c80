// A credential is lost, mixed up or damaged.
import type { MutantTable } from "../mutant.ts";

export default {
  "platform/secrets/linux/session.ts": [
    {
      fault: "a public key of 1 is accepted",
      text: "key <= 1n ||",
      becomes: "key < 1n ||",
      tests: ["secrets/linux/malformed-replies"],
    },
  ],
  "platform/secrets/linux/items.ts": [
    {
      fault: "the item that was read last is used, whatever the search found",
      text: "if (guessed && (item?.path !== guess || item?.isLocked)) {",
      becomes: "if (guessed && item === undefined) {",
      tests: ["secrets/linux/faulty-service", "secrets/linux/gnome-keyring"],
    },
  ],
  "platform/secrets/linux/item-search.ts": [
    {
      fault: "the oldest of several items is used",
      text: "Number(b.modified - a.modified)",
      becomes: "Number(a.modified - b.modified)",
      tests: ["secrets/linux/faulty-service", "secrets/linux/interop"],
    },
    {
      fault: "an item of another program is preferred to rt's own",
      text: "Number(b.isOwn) - Number(a.isOwn)",
      becomes: "Number(a.isOwn) - Number(b.isOwn)",
      tests: ["secrets/linux/faulty-service", "secrets/linux/interop"],
    },
  ],
  "platform/secrets/macos/keychain.ts": [
    {
      fault: "the Keychain search ignores the name",
      text: "if (name) entries.push([constants.kSecAttrAccount, scope.string(name)]);",
      becomes: "",
      tests: ["macos/keychain"],
    },
  ],
  "src/secrets/api/secrets.ts": [
    {
      fault: "a leading byte order mark is lost",
      text: "ignoreBOM: true",
      becomes: "ignoreBOM: false",
      tests: ["secrets/command"],
    },
  ],
  "src/secrets/command.ts": [
    {
      fault: "a failing store is reported as a missing credential",
      text: "const FAILED = 2;",
      becomes: "const FAILED = 1;",
      tests: ["secrets/command-faults"],
    },
    {
      fault: "an empty input is stored",
      text: "if (bytes.length === 0)",
      becomes: "if (bytes.length < 0)",
      tests: ["secrets/command", "secrets/command-faults"],
    },
  ],
  "src/secrets/grants/secret-fetch.ts": [
    {
      fault: "a value is cut at a NUL character",
      text: "if (value.includes(0))",
      becomes: "if (value.length < 0)",
      tests: ["secrets/grants/values"],
    },
  ],
  "src/secrets/import/destination.ts": [
    {
      fault: "import does not read a stored value again",
      text: "if ((await readValue(address)) === value) continue;",
      becomes: "if (value !== undefined) continue;",
      tests: ["secrets/import/import"],
    },
  ],
  "src/secrets/import/command.ts": [
    {
      fault: "import moves a declined value",
      text: String.raw`await print("No value was moved\n");
    return DECLINED;`,
      becomes: String.raw`await print("No value was moved\n");`,
      tests: ["secrets/import/import"],
    },
  ],
  "src/secrets/atomic-file-edit.ts": [
    {
      fault: "a file is replaced through a symbolic link",
      text: "if (named.isSymbolicLink())",
      becomes: "if (named === null)",
      tests: ["secrets/import/import"],
    },
    {
      fault: "a concurrent write to the file is lost",
      text: ".text !== file.text)",
      becomes: ".text === undefined)",
      tests: ["secrets/import/import"],
    },
  ],
  "platform/secrets/windows/chunked-credentials.ts": [
    {
      fault: "Windows: a new value overwrites the parts of the old one",
      text: `slot: old?.slot === "a" ? "b" : "a",`,
      becomes: `slot: "a",`,
      tests: ["windows/entries"],
    },
    {
      fault: "Windows: parts of another value are used",
      text: "part?.comment === describePart(head, index) &&",
      becomes: "part !== null &&",
      tests: ["windows/entries"],
    },
  ],
  "src/cli/upgrade/executable-swap.ts": [
    {
      fault: "a failed upgrade removes the program",
      text: `renameSync(previous, program);
    throw cannotReplace(program, error);`,
      becomes: "throw cannotReplace(program, error);",
      tests: ["upgrade/refusals"],
    },
  ],
  "src/cli/upgrade/staging-directory.ts": [
    {
      fault: "a full disk leaves half a program",
      text: "for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);",
      becomes: "writeSync(file, bytes);",
      tests: ["upgrade/refusals"],
    },
  ],
} satisfies MutantTable;
