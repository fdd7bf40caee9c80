// Chooses the shell of a script, or starts its command without one.
//
// Invariants (specification, "Script runner command line", rule 2): Linux and macOS use the first of bash, sh and
// zsh; Windows and `--shell rt` use the engine's shell. `--shell system` on Windows is bash.
//
// Non-obvious: a simple command is started without a shell, to save the shell's start. The result must equal bash's,
// so this needs harmless words, no builtin, function or keyword, a known executable format, and no variable that
// changes bash. SHLVL, PWD, OLDPWD and _ are set as bash would.
import { files } from "../../../platform/files/files.ts";
import { host } from "../../../platform/processes/process.ts";
import { findOnPath } from "../../../platform/processes/program-search.ts";
import type { ShellChoice } from "../../../platform/processes/contract/process.ts";

export interface ShellCommand {
  readonly program: string;
  readonly argv: readonly string[];
  /** Changes to the environment; undefined removes a variable. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the program is rt, started as the engine. */
  readonly engine?: boolean;
}

export interface ShellContext {
  readonly choice: ShellChoice;
  /** The environment that rt passes on, without variables of the package. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Working directory of rt. */
  readonly initialDirectory: string;
}

/** Shared by all scripts of a run. */
export interface Shell {
  /** The command that runs a line in a directory with a PATH; undefined without an installed shell. */
  start(command: string, directory: string, path: string): ShellCommand | undefined;
}

export function openShell(context: ShellContext): Shell {
  const { choice, inherited } = context;
  if (choice === "rt") {
    const start = (command: string) => ({
      program: process.execPath,
      // Without --no-env-file, variables from .env files would reach the child programs.
      argv: ["rt", "exec", "--no-env-file", command],
      environment: {},
      engine: true,
    });
    return { start };
  }
  const shell = host.findShell(inherited.PATH ?? "");
  if (!shell) return { start: () => undefined };
  const startWithShell = (command: string) => ({
    program: shell,
    argv: [shell, "-c", command],
    environment: {},
  });
  if (!shell.endsWith("/bash") || changesBash(inherited)) return { start: startWithShell };
  const splitCache = new Map<string, string[] | undefined>();
  const split = (command: string) => {
    if (!splitCache.has(command)) splitCache.set(command, splitPlainCommand(command));
    return splitCache.get(command);
  };
  let startDirectly: DirectStart | undefined;
  return {
    start(command, directory, path) {
      const words = split(command);
      startDirectly ??= openDirect(context);
      return (words && startDirectly(words, directory, path)) ?? startWithShell(command);
    },
  };
}

/** Characters besides letters and digits that have no meaning to bash, except for the cases below. */
const PLAIN_PUNCTUATION = " _@%+:,./=-";

/** Names of bash builtins and keywords. A string, because creating a set would take longer than the lookup. */
const BASH_NAMES =
  " ! [ [[ ]] { } . : alias bg bind break builtin caller case cd command compgen complete compopt continue coproc " +
  "declare dirs disown do done elif else enable esac eval exec exit export fc fg fi for function getopts hash " +
  "help history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return " +
  "select set shift shopt source suspend test then time times trap type typeset ulimit umask unalias unset " +
  "until wait while echo true false ";

function isBashName(name: string): boolean {
  return BASH_NAMES.includes(` ${name} `);
}

/** Splits a command as bash would. Returns undefined if the check is inconclusive. */
export function splitPlainCommand(command: string): string[] | undefined {
  for (const character of command) {
    const isAlphanumeric =
      (character >= "a" && character <= "z") ||
      (character >= "A" && character <= "Z") ||
      (character >= "0" && character <= "9");
    if (!isAlphanumeric && !PLAIN_PUNCTUATION.includes(character)) return undefined;
  }
  const words = command.split(" ").filter((word) => word !== "");
  const [name] = words;
  if (name === undefined || name.includes("=") || "%@+:,-".includes(name[0]!)) return undefined;
  return isBashName(name) ? undefined : words;
}

/** Variables that bash changes or removes at its start, and some that change its rules. */
export const BASH_VARIABLES = [
  ...["SHELLOPTS", "POSIXLY_CORRECT", "EXECIGNORE", "IFS", "PS1", "PS2", "PS4", "OPTIND", "OPTERR", "PPID"],
  ...["RANDOM", "SRANDOM", "LINENO", "HISTCMD", "EPOCHSECONDS", "EPOCHREALTIME", "COMP_WORDBREAKS"],
];

/** BASH... variables make it read a file or import a function. */
function changesBash(inherited: ShellContext["inherited"]): boolean {
  for (const name of BASH_VARIABLES) if (inherited[name] !== undefined) return true;
  for (const name in inherited) if (name[0] === "B" && name.startsWith("BASH")) return true;
  return false;
}

type DirectStart = (words: readonly string[], directory: string, path: string) => ShellCommand | undefined;

/** Starts plain words without bash, if the result is the same. */
function openDirect({ inherited, initialDirectory }: ShellContext): DirectStart {
  const variables = bashVariables(inherited);
  if (!variables) return () => undefined;
  // With a relative PATH entry, bash starts the program by a relative path and sets `_` to it.
  const isPathAbsolute = !`:${inherited.PATH ?? ""}`.replaceAll(":/", "").includes(":");
  const formats = new Map<string, Format>();
  return (words, directory, path) => {
    // bash keeps a PWD that refers to this directory by another name, so that case is left to bash.
    const mayKeepName = directory === initialDirectory && (inherited.PWD ?? directory) !== directory;
    const name = words[0]!;
    if (mayKeepName) return undefined;
    if (!isPathAbsolute && !name.includes("/")) return undefined;
    const program = findOnPath(name, { PATH: path, cwd: directory });
    if (!program?.startsWith("/")) return undefined;
    const format = formats.get(program) ?? recognizeFormat(program);
    formats.set(program, format);
    // A #! script receives the path that it was started by; bash uses the name as given.
    const isRelative = name.includes("/") && name[0] !== "/";
    if (format === "unknown" || (format === "script" && isRelative)) return undefined;
    const own = { PWD: directory, _: name.includes("/") ? name : program };
    return { program, argv: words, environment: { ...variables, ...own } };
  };
}

/** Variables that bash would change for its only command; undefined if that cannot be determined. */
function bashVariables(
  inherited: ShellContext["inherited"],
): Readonly<Record<string, string | undefined>> | undefined {
  const { SHLVL = "0", OLDPWD } = inherited;
  const level = Number(SHLVL);
  if (String(level) !== SHLVL || !(level >= 0 && level < 100)) return undefined;
  return { SHLVL, OLDPWD: OLDPWD !== undefined && isDirectory(OLDPWD) ? OLDPWD : undefined };
}

function isDirectory(path: string): boolean {
  return files.readFile(path, 1) === "EISDIR";
}

/** Formats that the kernel executes; bash would interpret other files itself. */
type Format = "native" | "script" | "unknown";

function recognizeFormat(program: string): Format {
  const start = files.readFile(program, 8);
  if (typeof start === "string") return "unknown";
  if (start[0] === 0x23 && start[1] === 0x21) return "script";
  return files.isProgram(start) ? "native" : "unknown";
}
