// A secret's value is visible to someone else.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/redaction/pattern-matcher.ts": [
    {
      fault: "a value in the middle of a text is not found",
      text: "let far = middle;",
      becomes: "let far = middle + 1;",
      tests: ["redaction/filter"],
    },
    {
      fault: "a value is held back only from its second byte on",
      text: "return last >= from && this.#isFirst[text[last]!] === 1 ? last : length;",
      becomes: "return length;",
      tests: ["redaction/filter"],
    },
  ],
  "src/redaction/value-variants.ts": [
    {
      fault: "base64 is found only when it begins with the value",
      text: "for (const lead of [0, 1, 2]) {",
      becomes: "for (const lead of [0]) {",
      tests: ["redaction/filter"],
    },
  ],
  "src/redaction/filter.ts": [
    {
      fault: "a value that is interrupted by colour sequences is not held back",
      text: "if (visible) keep = Math.min(keep, this.#visibleBeginning(piece, visible));",
      becomes: "",
      tests: ["redaction/filter"],
    },
  ],
  "src/runner/script/launch.ts": [
    {
      fault: "a hook without secrets shows those of its script",
      text: "await runStep(step, shown, descriptors!, next, early)",
      becomes: "await runStep(step, secretsFor(step.event), descriptors!, next, early)",
      tests: ["runner/redacted/terminal-and-pipes"],
    },
  ],
  "src/secrets/trust/trust.ts": [
    {
      fault: "the consent shows a password in a registry's address",
      text: `url.username = url.password = "";`,
      becomes: "",
      tests: ["secrets/registry-tokens"],
    },
  ],
  "src/secrets/command-arguments.ts": [
    {
      fault: "an error message repeats a value that is in the wrong place",
      text: `word.startsWith("--") ? word.split("=", 1)[0]! : word.slice(0, 2)`,
      becomes: "word",
      tests: ["secrets/command", "cli/wrong-values", "secrets/linux/damaged-messages"],
    },
  ],
  "src/secrets/grants/secret-provisioning.ts": [
    {
      fault: "other processes can read rt's memory while it has values",
      text: "if (all.length > 0) host.hideMemory?.();",
      becomes: "",
      tests: ["secrets/grants/values"],
    },
  ],
  "src/secrets/hidden-prompt.ts": [
    {
      fault: "shell settings make typed characters visible",
      text: `process.on("SIGCONT", show);`,
      becomes: "",
      tests: ["secrets/prompt"],
    },
  ],
  "src/secrets/command.ts": [
    {
      fault: "a credential's name controls the terminal",
      text: "`${printable(service)}\\t${printable(name)}\\n`",
      becomes: "`${service}\\t${name}\\n`",
      tests: ["secrets/command", "secrets/command-faults"],
    },
  ],
  "platform/files/private-file.ts": [
    {
      fault: "other users can read the user's private files",
      text: "{ mode: 0o600 }",
      becomes: "{ mode: 0o644 }",
      tests: ["runner/path-ownership"],
    },
    {
      fault: "other users can list a private directory",
      text: "mkdirSync(directory, { mode: 0o700 });",
      becomes: "mkdirSync(directory, { mode: 0o755 });",
      tests: ["runner/path-ownership", "cache/server/server", "cache/store/cache-store"],
    },
  ],
  "platform/files/state-directory.ts": [
    {
      fault: "other users can read the stored consents",
      text: `{ mode: 0o600, flag: "wx" }`,
      becomes: `{ mode: 0o644, flag: "wx" }`,
      tests: ["secrets/grants/trust"],
    },
  ],
} satisfies MutantTable;
