// `rt secrets check --install`: git's pre-commit hook.
//
// Contract: a hook that is there stays, with our lines before its own; what is no shell script, a link, or shared with other
// repositories (core.hooksPath) is not touched, and what to add by hand is said. husky's hooks get the line where husky
// looks for it. Nothing else of a file changes, and --uninstall takes out exactly what was put in.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { errorCode } from "../../../platform/caught-error.ts";
import { OWN_SYSTEM } from "../../../platform/processes/running-executable.ts";
import { printable } from "../../printable.ts";
import { ownPath } from "../helpers/helper-io.ts";
import { ArgumentError } from "../command-arguments.ts";
import { requireGit } from "./git.ts";

const BEGIN = "# rt secrets check: begin (rt secrets check --uninstall removes these lines)";
const END = "# rt secrets check: end";
const BLOCK = new RegExp(`^${BEGIN.replace(/[()]/g, "\\$&")}\n(?:.*\n)*?${END}\n`, "m");
const SHEBANG = "#!/bin/sh\n";

interface Hook {
  readonly path: string;
  /** Of a repository that others clone: there rt is found on PATH. */
  readonly isShared: boolean;
  /** Run by husky, which needs no permission for it. */
  readonly isHuskys: boolean;
}

/** What to tell. Throws WordsError. */
export function installHook(): string {
  const hook = findHook();
  const before = readHook(hook);
  const text = before?.replace(BLOCK, "") ?? (hook.isShared ? "" : SHEBANG);
  const [shebang = ""] = /^#!.*\n/.exec(text) ?? [];
  if (shebang !== "" && !/^#!\s*\S*\/(?:env\s+)?(?:ba|da|z|k)?sh\b/.test(shebang))
    throw new ArgumentError(`${printable(hook.path)} is no shell script`, `let it run: ${commandOf(hook)}`);
  writeHook(hook, `${shebang}${BEGIN}\n${commandOf(hook)} || exit $?\n${END}\n${text.slice(shebang.length)}`);
  return `git asks rt before each commit (${printable(hook.path)})\nTo undo it: rt secrets check --uninstall\n`;
}

/** What to tell. Throws WordsError. */
export function uninstallHook(): string {
  const hook = findHook();
  const before = readHook(hook);
  const after = before?.replace(BLOCK, "");
  if (after === undefined || after === before) return `git does not ask rt (${printable(hook.path)})\n`;
  if (after === "" || after === SHEBANG) rmSync(hook.path);
  else writeHook(hook, after);
  return `git asks rt no more (${printable(hook.path)})\n`;
}

function commandOf({ isShared }: Hook): string {
  const path = OWN_SYSTEM === "win32" ? ownPath().replaceAll("\\", "/") : ownPath();
  return `${isShared ? "rt" : `'${path.replaceAll("'", `'\\''`)}'`} secrets check --staged`;
}

function findHook(): Hook {
  const ask = (...words: string[]) =>
    resolve(
      requireGit(["rev-parse", ...words])
        .toString()
        .replace(/\r?\n$/, ""),
    );
  const path = ask("--git-path", "hooks/pre-commit");
  const top = realpathSync(ask("--show-toplevel"));
  const own = [top, realpathSync(ask("--git-common-dir"))];
  const folder = existsSync(dirname(path)) ? realpathSync(dirname(path)) : dirname(path);
  if (!own.some((each) => folder === each || folder.startsWith(each + sep)))
    throw new ArgumentError(
      `git's hooks are in ${printable(folder)} (core.hooksPath), which is not this repository's alone`,
      `let its pre-commit run: rt secrets check --staged`,
    );
  // husky puts what it makes into ".husky/_", and looks for what people write above.
  if (folder === join(top, ".husky", "_"))
    return { path: join(top, ".husky", "pre-commit"), isShared: true, isHuskys: true };
  const isShared = folder.startsWith(top + sep) && !folder.startsWith(own[1]! + sep);
  return { path, isShared, isHuskys: false };
}

function readHook({ path, isHuskys }: Hook): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (!stats.isFile())
    throw new ArgumentError(
      `${printable(path)} is no regular file`,
      "let what it is run: rt secrets check --staged",
    );
  if (!isHuskys && OWN_SYSTEM !== "win32" && (stats.mode & 0o100) === 0)
    throw new ArgumentError(
      `${printable(path)} is not executable, so git does not run it`,
      "remove it, or chmod +x",
    );
  return readFileSync(path, "utf8");
}

function writeHook({ path }: Hook, text: string): void {
  const draft = `${path}.${process.pid}.rt`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(draft, text, { flag: "wx" });
    chmodSync(draft, (statSync(path, { throwIfNoEntry: false })?.mode ?? 0o755) & 0o777);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    const code = errorCode(error);
    throw new ArgumentError(`${printable(path)} could not be written (${code}), so it is as it was`);
  }
}
