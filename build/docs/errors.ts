// Generates docs/errors.md: error codes and exit codes, from the tables in the code.
import { EXIT_CODES } from "../../src/cli/help/exit-codes.ts";
import { MISUSE, SECRETS_FAILURES } from "../../src/errors.ts";
import { DOCTOR_EXIT_CODES, SECRETS_EXIT_CODES } from "../../src/secrets/commands.ts";
import { format, GENERATED_NOTE, renderTable } from "./markdown.ts";

const INTRODUCTION = `# Errors

${GENERATED_NOTE("src/errors.ts, src/cli/help/exit-codes.ts and src/secrets/commands.ts")}

A missing credential and a token that does not verify are answers, not errors: \`null\` and \`false\`. Everything else that
goes wrong has a \`code\`, so that a program need not read messages. No message contains a credential's value, a signing
secret or a token. The stack trace begins at the program's own call.`;

const MISUSE_SECTION = `## A call that is wrong

A \`TypeError\` or \`RangeError\` with one of Node's codes. \`rt.secrets\` rejects with it, \`rt.CSRF\` throws it.`;

const STORE_SECTION = `## A store that cannot

\`rt.secrets\` rejects with a \`SecretsError\`. Its \`cause\` is the store's own code, where it gave one: the name of a D-Bus
error, a number of the operating system.`;

const COMMAND_LINE_SECTION = `## The command line

rt writes \`error:\` and what is wrong to standard error, then, where it knows, \`hint:\` and what to do:

\`\`\`sh
rt run biuld || echo "exit code $?"
\`\`\`

\`\`\`text
exit code 1
\`\`\``;

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
    "`rt secrets` and `rt doctor` tell more apart:",
    renderTable(
      ["Exit code", "`rt secrets`", "`rt doctor`"],
      Object.entries(SECRETS_EXIT_CODES).map(([code, meaning]) => [
        code,
        meaning,
        (DOCTOR_EXIT_CODES as Record<string, string>)[code] ?? "",
      ]),
    ),
  ];
  return format(`${text.join("\n\n")}\n`, "docs/errors.md");
}
