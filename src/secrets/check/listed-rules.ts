// The rules of the list: secretlint's recommended preset, which is kept up to date with what services issue.
//
// Contract: a finding has the rule's name and the line. The list's own messages quote what was found and are dropped here.
import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";
import type { Finding, Source } from "./finding.ts";

const PRESET = { id: "recommend", rule: creator, options: {} };

export async function findByList({ file, text }: Source): Promise<Finding[]> {
  const { messages } = await lintSource({
    // The list looks at names of files, too; where they are is nothing to it.
    source: { filePath: `/${file}`, content: text, contentType: "text" },
    options: { config: { rules: [PRESET] }, noPhysicFilePath: true },
  });
  return messages.map(({ ruleId, messageId, loc }) => ({
    file,
    line: loc.start.line,
    rule: `${ruleId.replace(/^.*secretlint-rule-/, "")}/${messageId}`,
  }));
}
