// The rules of the list: secretlint's recommended preset, which is kept up to date with what services issue.
//
// Contract: a finding has the rule's name and the line. The list's own messages quote what was found and are dropped here.
import { lintSource } from "@secretlint/core";
import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import type { Finding, Source } from "./finding.ts";

/** Takes findings back by comments of secretlint's own, from anywhere in a file; rt has one comment for that. */
const COMMENTS = "@secretlint/secretlint-rule-filter-comments";
const RULES = rules.flatMap((rule) => (rule.meta.id === COMMENTS ? [] : [{ id: rule.meta.id, rule }]));

export async function findByList({ file, text }: Source): Promise<Finding[]> {
  const { messages } = await lintSource({
    // The list looks at names of files, too; where they are is nothing to it.
    source: { filePath: `/${file}`, content: text, contentType: "text" },
    options: { config: { rules: RULES }, noPhysicFilePath: true },
  });
  return messages.map(({ ruleId, messageId, loc }) => ({
    file,
    line: loc.start.line,
    rule: `${ruleId.replace(/^.*secretlint-rule-/, "")}/${messageId}`,
  }));
}
