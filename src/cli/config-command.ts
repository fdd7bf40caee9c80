// Runs `rt config schema` and `rt config migrate`.
import { migrateConfig } from "../config/command/migration.ts";
import { renderSchema } from "../config/command/schema.ts";
import { FILE_NAME } from "../config/config-file-name.ts";
import { replaceFile } from "../config/replaced-file.ts";
import { readConfig } from "../config/rtfig.ts";
import { suggestNames } from "../did-you-mean.ts";
import { oneLine } from "../printable.ts";
import { UserError } from "../user-error.ts";

const WORDS = ["schema", "migrate"];

/** Returns the text to print. @throws UserError */
export function answerConfig([word, ...more]: readonly string[]): string {
  if (word === undefined || !WORDS.includes(word)) {
    const [similar] = word === undefined ? [] : suggestNames(word, WORDS);
    throw new UserError(
      word === undefined ? "rt config needs a word" : `rt config has no "${oneLine(word)}"`,
      similar === undefined ? "rt config schema, or rt config migrate" : `did you mean "${similar}"?`,
    );
  }
  const isDry = word === "migrate" && more[0] === "--dry-run";
  const surplus = more[isDry ? 1 : 0];
  if (surplus !== undefined)
    throw new UserError(`Unexpected argument "${oneLine(surplus)}"`, "see rt help config");
  return word === "schema" ? renderSchema() : migrate(isDry);
}

function migrate(isDry: boolean): string {
  const migration = migrateConfig(readConfig(FILE_NAME));
  if (!migration) return `${FILE_NAME} has no rules to move to [tasks]`;
  const { text, count, notes } = migration;
  if (isDry) return text.trimEnd();
  replaceFile(FILE_NAME, text);
  const moved = `Moved the rules of ${count === 1 ? "1 script" : `${count} scripts`} to [tasks] in ${FILE_NAME}`;
  return [moved, ...notes.map((note) => `note: ${oneLine(note)}`)].join("\n");
}
