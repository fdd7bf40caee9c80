// The rules of the list: secretlint's recommended preset, which is kept up to date with what services issue.
//
// Contract: a finding has the rule's name and the line. The list's own messages quote what was found and are dropped here.
// What the list takes from a place and not by its form, it takes whatever it is: a placeholder there is none.
import { lintSource } from "@secretlint/core";
import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import { isLoginValue } from "./context-rules.ts";
import type { LeakFinding, CheckedText } from "./finding.ts";

/** Takes findings back by comments of secretlint's own, from anywhere in a file; rt has one comment for that. */
const COMMENTS = "@secretlint/secretlint-rule-filter-comments";
const RULES = rules.flatMap((rule) => (rule.meta.id === COMMENTS ? [] : [{ id: rule.meta.id, rule }]));

const PASSWORD = /[^\s/]*\/\/[^\s/:]*:([^\s@]*)@/y;
/** By the kind of the finding: the value, from where the finding begins. */
const PLACES: Readonly<Record<string, RegExp>> = {
  Npmrc_authToken: /_authToken=(.*)/y,
  BasicAuth: PASSWORD,
  MongoDBConnection: PASSWORD,
  MySQLConnection: PASSWORD,
  PostgreSQLConnection: PASSWORD,
};

export async function findByList({ file, text }: CheckedText): Promise<LeakFinding[]> {
  const { messages } = await lintSource({
    // The list looks at names of files, too; where they are is nothing to it.
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
  const place = PLACES[kind];
  if (!place) return true;
  place.lastIndex = start;
  const value = place.exec(text)?.[1];
  return value === undefined || isLoginValue(value.trim().replace(/^(["'])(.*)\1$/, "$2"));
}
