// Runs `rt secrets check --install`: adds rt's lines to git's pre-commit hook.
//
// Invariants:
// - An existing shell script stays; rt's lines come first. --uninstall removes exactly these lines.
// - Hooks that are not shell scripts, symbolic links, and hooks of other repositories (core.hooksPath) are not changed. The error
//   contains the line to add by hand.
// - With husky, the line goes into the file that husky runs.
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
  /** The hook is in the work tree, so clones get it: it calls rt by PATH. */
  readonly isShared: boolean;
  /** husky runs it, so it need not be executable. */
  readonly isRunByHusky: boolean;
}

/** Installs the hook and returns the message for the user. @throws ArgumentError */
export function installHook(): string {
  const hook = findHook();
  const before = readHook(hook);
  const text = before?.replace(BLOCK, "") ?? (hook.isShared ? "" : SHEBANG);
  const [shebang = ""] = /^#!.*\n/.exec(text) ?? [];
  if (shebang !== "" && !/^#!\s*\S*\/(?:env\s+)?(?:ba|da|z|k)?sh\b/.test(shebang))
    throw new ArgumentError(
      `${printable(hook.path)} is not a shell script`,
      `call this command from it: ${commandOf(hook)}`,
    );
  writeHook(hook, `${shebang}${BEGIN}\n${commandOf(hook)} || exit $?\n${END}\n${text.slice(shebang.length)}`);
  return `Installed the pre-commit hook (${printable(hook.path)})\nTo undo it: rt secrets check --uninstall\n`;
}

/** Removes the hook and returns the message for the user. @throws ArgumentError */
export function uninstallHook(): string {
  const hook = findHook();
  const before = readHook(hook);
  const after = before?.replace(BLOCK, "");
  if (after === undefined || after === before)
    return `The pre-commit hook is not installed (${printable(hook.path)})\n`;
  if (after === "" || after === SHEBANG) rmSync(hook.path);
  else writeHook(hook, after);
  return `Removed the pre-commit hook (${printable(hook.path)})\n`;
}

function commandOf({ isShared }: Hook): string {
  const path = OWN_SYSTEM === "win32" ? ownPath().replaceAll("\\", "/") : ownPath();
  return `${isShared ? "rt" : `'${path.replaceAll("'", `'\\''`)}'`} secrets check --staged`;
}

function findHook(): Hook {
  const revParse = (...words: string[]) =>
    resolve(
      requireGit(["rev-parse", ...words])
        .toString()
        .replace(/\r?\n$/, ""),
    );
  const path = revParse("--git-path", "hooks/pre-commit");
  const top = realpathSync(revParse("--show-toplevel"));
  const own = [top, realpathSync(revParse("--git-common-dir"))];
  const folder = existsSync(dirname(path)) ? realpathSync(dirname(path)) : dirname(path);
  if (!own.some((each) => folder === each || folder.startsWith(each + sep)))
    throw new ArgumentError(
      `git's hooks are in ${printable(folder)} (core.hooksPath), which other repositories may share`,
      "call this command from its pre-commit hook: rt secrets check --staged",
    );
  // husky generates ".husky/_" and runs the user's hooks in ".husky".
  if (folder === join(top, ".husky", "_"))
    return { path: join(top, ".husky", "pre-commit"), isShared: true, isRunByHusky: true };
  const isShared = folder.startsWith(top + sep) && !folder.startsWith(own[1]! + sep);
  return { path, isShared, isRunByHusky: false };
}

function readHook({ path, isRunByHusky }: Hook): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (!stats.isFile())
    throw new ArgumentError(
      `${printable(path)} is not a regular file`,
      "call this command from its target: rt secrets check --staged",
    );
  if (!isRunByHusky && OWN_SYSTEM !== "win32" && (stats.mode & 0o100) === 0)
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
    throw new ArgumentError(`Cannot write ${printable(path)} (${code}); the file is unchanged`);
  }
}
