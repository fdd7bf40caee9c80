// Generates docs/reference/errors.md: error codes and exit codes, from the tables in the code.
import { EXIT_CODES } from "../../src/cli/help/exit-codes.ts";
import { MISUSE, SECRETS_FAILURES } from "../../src/errors.ts";
import { DOCTOR_EXIT_CODES, SECRETS_EXIT_CODES } from "../../src/secrets/commands.ts";
import { format, GENERATED_NOTE, renderTable } from "./markdown.ts";

const INTRODUCTION = `# Errors

${GENERATED_NOTE("src/errors.ts, src/cli/help/exit-codes.ts and src/secrets/commands.ts")}

Every error of \`rt.secrets\` and \`rt.CSRF\` has a \`code\`. A missing credential is not an error but \`null\`, and an
invalid token is \`false\`. No message contains a credential's value, a signing secret or a token. The stack trace begins
at the program's own call.`;

const MISUSE_SECTION = `## Wrong arguments

A wrong call is a \`TypeError\` or \`RangeError\` with a code of Node.js. \`rt.secrets\` rejects with it, \`rt.CSRF\`
throws it.`;

const STORE_SECTION = `## Failures of the credential store

\`rt.secrets\` rejects with a \`SecretsError\`. Its \`cause\` is the store's own code, if there is one: the name of a D-Bus
error, or a number of the operating system.`;

const COMMAND_LINE_SECTION = `## The command line

rt prints \`error:\` with the reason to standard error, and often \`hint:\` with a remedy:

\`\`\`sh
rt run biuld || echo "exit code $?"
\`\`\`

\`\`\`text
exit code 1
\`\`\``;

const LIMITATIONS_SECTION = `## Limitations

- Exit code 1 is ambiguous: rt failed, or the script exited with 1. Only an error of rt begins with \`error:\`.
- Messages may change between versions, so compare \`code\`.`;

export function renderErrors(): string {
  const text = [
    INTRODUCTION,
    MISUSE_SECTION,
    renderTable(
      ["`code`", "Meaning"],
      Object.entries(MISUSE).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
    STORE_SECTION,
    renderTable(
      ["`code`", "Meaning", "What to do"],
      Object.entries(SECRETS_FAILURES).map(([code, { meaning, remedy }]) => [
        `\`ERR_SECRETS_${code}\``,
        meaning,
        remedy,
      ]),
    ),
    COMMAND_LINE_SECTION,
    renderTable(
      ["Exit code", "Meaning"],
      EXIT_CODES.map(({ code, meaning }) => [code, meaning]),
    ),
    "`rt secrets` and `rt doctor` have more exit codes:",
    renderTable(
      ["Exit code", "`rt secrets`", "`rt doctor`"],
      Object.entries(SECRETS_EXIT_CODES).map(([code, meaning]) => [
        code,
        meaning,
        (DOCTOR_EXIT_CODES as Record<string, string>)[code] ?? "",
      ]),
    ),
    LIMITATIONS_SECTION,
  ];
  return format(`${text.join("\n\n")}\n`, "docs/reference/errors.md");
}
