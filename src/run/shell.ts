// Turns a script's command into a program to start.
//
// Contract (specification, "Script runner command line", rule 2): on Linux and macOS the first of bash, sh
// and zsh that is found; on Windows, and with `--shell rt`, the engine's built-in shell.
//
// A command that needs no shell is started without one, which saves the shell's own start. No script may be
// able to tell, so this is done only where bash's answer is known: words of harmless characters, a first word
// that is no builtin, function or keyword, a program with a recognized format, and no variable that changes
// how bash starts. What bash would do to the environment (SHLVL, PWD, OLDPWD, _) is done here.
import { files } from "../../platform/files.ts";

export type ShellChoice = "rt" | "system";

export interface ShellCommand {
  readonly program: string;
  readonly argv: readonly string[];
  /** Changes to the environment, undefined to remove. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The program is rt, started as the engine. */
  readonly engine?: boolean;
}

const SHELLS = ["bash", "sh", "zsh"];

export function findShell(path: string): string | undefined {
  for (const name of SHELLS) {
    const found = Bun.which(name, { PATH: path });
    if (found) return found;
  }
  return undefined;
}

export interface ShellContext {
  readonly choice: ShellChoice;
  /** The script's PATH. */
  readonly path: string;
  readonly directory: string;
  readonly inherited: Readonly<Record<string, string | undefined>>;
  readonly runtimePath: string;
}

/** The way to run `command`; undefined when no shell is installed. */
export function shellCommand(command: string, context: ShellContext): ShellCommand | undefined {
  if (context.choice === "rt") {
    return { program: context.runtimePath, argv: ["rt", "exec", command], environment: {}, engine: true };
  }
  const shell = findShell(context.path);
  if (!shell) return undefined;
  const direct = shell.endsWith("/bash") ? directCommand(command, context) : undefined;
  return direct ?? { program: shell, argv: [shell, "-c", command], environment: {} };
}

/** Beside letters and digits: what means nothing to bash wherever it stands in a word, but for the cases below. */
const PLAIN_PUNCTUATION = " _@%+:,./=-";

/** Names that bash answers itself. One text, because making a set would take longer than the look-up. */
const BASH_NAMES =
  " ! [ [[ ]] { } . : alias bg bind break builtin caller case cd command compgen complete compopt continue coproc " +
  "declare dirs disown do done elif else enable esac eval exec exit export fc fg fi for function getopts hash " +
  "help history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return " +
  "select set shift shopt source suspend test then time times trap type typeset ulimit umask unalias unset " +
  "until wait while echo true false ";

/** Builtins whose program of the same name does the same, as long as no word looks like an option. */
const TWINS = " echo true false ";

/** The words of a command that bash would split and expand in no other way; undefined when in doubt. */
export function splitPlainCommand(command: string): string[] | undefined {
  for (const character of command) {
    const isAlphanumeric =
      (character >= "a" && character <= "z") ||
      (character >= "A" && character <= "Z") ||
      (character >= "0" && character <= "9");
    if (!isAlphanumeric && !PLAIN_PUNCTUATION.includes(character)) return undefined;
  }
  const words = command.split(" ").filter((word) => word !== "");
  const name = words[0];
  if (name === undefined || name.includes("=") || "%@+:,-".includes(name[0]!)) return undefined;
  const hasOptions = words.some((word) => word[0] === "-");
  const isBash = BASH_NAMES.includes(` ${name} `);
  if (isBash && (hasOptions || !TWINS.includes(` ${name} `))) return undefined;
  return words;
}

/** Variables that make bash read a file, import a function or change its rules when it starts. */
function changesBash(name: string): boolean {
  return (
    name.startsWith("BASH") || name === "SHELLOPTS" || name === "POSIXLY_CORRECT" || name === "EXECIGNORE"
  );
}

function directCommand(command: string, context: ShellContext): ShellCommand | undefined {
  const words = splitPlainCommand(command);
  if (!words) return undefined;
  const environment = bashEnvironment(context);
  if (!environment) return undefined;
  const name = words[0]!;
  const program = Bun.which(name, { PATH: context.path, cwd: context.directory });
  if (!program?.startsWith("/") || !hasRecognizedFormat(program)) return undefined;
  return { program, argv: words, environment: { ...environment, _: name.includes("/") ? name : program } };
}

/** What bash would change for the only command it runs; undefined when that depends on more than is known here. */
function bashEnvironment({
  inherited,
  directory,
}: ShellContext): Record<string, string | undefined> | undefined {
  if (Object.keys(inherited).some(changesBash)) return undefined;
  const { SHLVL = "0", OLDPWD } = inherited;
  const level = Number(SHLVL);
  if (String(level) !== SHLVL || !(level >= 0 && level < 100)) return undefined;
  const keepsOld = OLDPWD !== undefined && isDirectory(OLDPWD);
  return { SHLVL, PWD: directory, OLDPWD: keepsOld ? OLDPWD : undefined };
}

function isDirectory(path: string): boolean {
  return files.readFile(path, 1) === "EISDIR";
}

/** The kernel runs it by itself; for other files bash would try its own hand as an interpreter. */
function hasRecognizedFormat(program: string): boolean {
  const start = files.readFile(program, 4);
  if (typeof start === "string") return false;
  const isElf = start[0] === 0x7f && start[1] === 0x45 && start[2] === 0x4c && start[3] === 0x46;
  const hasShebang = start[0] === 0x23 && start[1] === 0x21;
  return isElf || hasShebang;
}
