// Matches script names with a glob (`build:*`), or with a regular expression between slashes (`/^build:/`), as pnpm does.
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";
import { isGlob } from "../../workspace/glob.ts";

const SLASH = "/";

/** Returns whether a word is a regular expression. Without special characters it may be a folder, as `/srv/` is. */
export function isRegularExpression(word: string): boolean {
  return word.length > 2 && word.startsWith(SLASH) && word.endsWith(SLASH) && /[$()*+?[\\\]^{|}]/.test(word);
}

export function isScriptPattern(word: string): boolean {
  return isGlob(word) || isRegularExpression(word);
}

/** Returns whether a word that is a pattern matches a name. @throws UserError */
export function compileScriptPattern(word: string): (name: string) => boolean {
  if (!isRegularExpression(word)) {
    const glob = new Bun.Glob(word);
    return (name) => glob.match(name);
  }
  let expression: RegExp;
  try {
    expression = new RegExp(word.slice(1, -1));
  } catch {
    throw new UserError(
      `"${oneLine(word)}" is not a valid regular expression`,
      "it selects scripts as in: rt run '/^build:/'",
    );
  }
  return (name) => expression.test(name);
}
