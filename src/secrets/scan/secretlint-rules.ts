// Applies secretlint's recommended rules, which its maintainers keep up to date with the tokens of services.
//
// Invariants:
// - A finding contains the rule and line only. secretlint's messages quote the credential and are dropped.
// - Rules that match by position rather than by format report placeholders too; these are filtered here.
import { lintSource } from "@secretlint/core";
import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import { isLoginValue } from "./context-rules.ts";
import type { LeakFinding, CheckedText } from "./finding.ts";

/** Excluded: comments of secretlint could suppress findings anywhere in a file. rt has its own ignore comment. */
const COMMENTS = "@secretlint/secretlint-rule-filter-comments";
const RULES = rules.flatMap((rule) => (rule.meta.id === COMMENTS ? [] : [{ id: rule.meta.id, rule }]));

const PASSWORD = /[^\s/]*\/\/[^\s/:]*:([^\s@]*)@/y;
/** Matches the value from the start of a finding, by message ID. */
const VALUE_PATTERNS: Readonly<Record<string, RegExp>> = {
  Npmrc_authToken: /_authToken=(.*)/y,
  BasicAuth: PASSWORD,
  MongoDBConnection: PASSWORD,
  MySQLConnection: PASSWORD,
  PostgreSQLConnection: PASSWORD,
};

export async function findBySecretlint({ file, text }: CheckedText): Promise<LeakFinding[]> {
  const { messages } = await lintSource({
    // Rules match on the file name too; the folder does not matter.
    source: { filePath: `/${file}`, content: text, contentType: "text" },
    options: { config: { rules: RULES }, noPhysicFilePath: true },
  });
  return messages
    .filter(({ messageId, range }) => isValue(text, messageId, range[0]))
    .map(({ ruleId, messageId, loc }) => ({
      file,
      line: loc.start.line,
      rule: `${ruleId.replace(/^.*secretlint-rule-/, "")}/${messageId}`,
    }));
}

function isValue(text: string, kind: string, start: number): boolean {
  const pattern = VALUE_PATTERNS[kind];
  if (!pattern) return true;
  pattern.lastIndex = start;
  const value = pattern.exec(text)?.[1];
  return value === undefined || isLoginValue(value.trim().replace(/^(["'])(.*)\1$/, "$2"));
}
