// Turns a script's command into a program to start.
//
// Contract (specification, "Script runner command line", rule 2): on Linux and macOS the first of bash, sh
// and zsh that is found; on Windows, and with `--shell rt`, the engine's built-in shell. `--shell system` on Windows is
// a bash too, so that a script means the same everywhere.
//
// A command that needs no shell is started without one, which saves the shell's own start, and some builtins are
// answered without starting anything (bash-builtins.ts). No script may be able to tell, so this is done only where bash's
// answer is known: words of harmless characters, a first word that is no other builtin, function or keyword, a program
// with a recognized format, and no variable that changes how bash starts. What bash would do to the environment
// (SHLVL, PWD, OLDPWD, _) is done here.
import { files } from "../../../platform/files/files.ts";
import { host } from "../../../platform/processes/process.ts";
import { findOnPath } from "../../../platform/processes/program-search.ts";
import type { ShellChoice } from "../../../platform/processes/contract/process.ts";
import { type BuiltinResult, answerOf } from "./bash-builtins.ts";

export interface ShellCommand {
  readonly program: string;
  readonly argv: readonly string[];
  /** Changes to the environment, undefined to remove. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The program is rt, started as the engine. */
  readonly engine?: boolean;
}

export interface ShellContext {
  readonly choice: ShellChoice;
  /** The environment that rt passes on, before what the script's package adds. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Where rt was started. */
  readonly initialDirectory: string;
}

/** What is the same for every script of a run is found out once. */
export interface Shell {
  /** The way to run a command in a directory, with a PATH; undefined when no shell is installed. */
  start(command: string, directory: string, path: string): ShellCommand | undefined;
  /** The whole of what a command does, where nothing has to be started for it. */
  answer(command: string): BuiltinResult | undefined;
}

export function openShell(surroundings: ShellContext): Shell {
  const { choice, inherited } = surroundings;
  if (choice === "rt") {
    const start = (command: string) => ({
      program: process.execPath,
      // Its own variables from .env files would reach the programs that it starts, as if they had been set on purpose.
      argv: ["rt", "exec", "--no-env-file", command],
      environment: {},
      engine: true,
    });
    return { start, answer: () => undefined };
  }
  const shell = host.findShell(inherited.PATH ?? "");
  if (!shell) return { start: () => undefined, answer: () => undefined };
  const throughShell = (command: string) => ({
    program: shell,
    argv: [shell, "-c", command],
    environment: {},
  });
  if (!shell.endsWith("/bash") || changesBash(inherited))
    return { start: throughShell, answer: () => undefined };
  const known = new Map<string, string[] | undefined>();
  const split = (command: string) => {
    if (!known.has(command)) known.set(command, splitPlainCommand(command));
    return known.get(command);
  };
  let startDirectly: DirectStart | undefined;
  return {
    answer(command) {
      const words = split(command);
      return words && answerOf(words);
    },
    start(command, directory, path) {
      const words = split(command);
      startDirectly ??= openDirect(surroundings);
      return (words && startDirectly(words, directory, path)) ?? throughShell(command);
    },
  };
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

/** Those that bash-builtins.ts knows, as long as no word looks like an option. */
const ANSWERED = " echo true false exit ";

function isBashName(name: string): boolean {
  return BASH_NAMES.includes(` ${name} `);
}

/** The words of a command that bash would split and expand in no other way; undefined when in doubt. */
export function splitPlainCommand(command: string): string[] | undefined {
  for (const character of command) {
    const isAlphanumeric =
      (character >= "a" && character <= "z") ||
      (character >= "A" && character <= "Z") ||
      (character >= "0" && character <= "9");
    if (!isAlphanumeric && !PLAIN_PUNCTUATION.includes(character)) return undefined;
  }
  const words: string[] = [];
  let hasOptions = false;
  for (const word of command.split(" ")) {
    if (word !== "") words.push(word);
    hasOptions ||= word[0] === "-";
  }
  const name = words[0];
  if (name === undefined || name.includes("=") || "%@+:,-".includes(name[0]!)) return undefined;
  if (isBashName(name) && (hasOptions || !ANSWERED.includes(` ${name} `))) return undefined;
  return words;
}

/** Variables that bash changes or drops when it starts, and some that change its rules. */
const BASH_VARIABLES = [
  ...["SHELLOPTS", "POSIXLY_CORRECT", "EXECIGNORE", "IFS", "PS1", "PS2", "PS4", "OPTIND", "OPTERR", "PPID"],
  ...["RANDOM", "SRANDOM", "LINENO", "HISTCMD", "EPOCHSECONDS", "EPOCHREALTIME", "COMP_WORDBREAKS"],
];

/** Those of BASH... make it read a file or import a function. */
function changesBash(inherited: ShellContext["inherited"]): boolean {
  for (const name of BASH_VARIABLES) if (inherited[name] !== undefined) return true;
  for (const name in inherited) if (name[0] === "B" && name.startsWith("BASH")) return true;
  return false;
}

type DirectStart = (words: readonly string[], directory: string, path: string) => ShellCommand | undefined;

/** Starts plain words without bash, where that gives the same. */
function openDirect({ inherited, initialDirectory }: ShellContext): DirectStart {
  const variables = bashVariables(inherited);
  if (!variables) return () => undefined;
  // What bash finds through a relative entry it starts, and names in `_`, by a relative path.
  const isPathAbsolute = !`:${inherited.PATH ?? ""}`.replaceAll(":/", "").includes(":");
  const formats = new Map<string, Format>();
  return (words, directory, path) => {
    // bash keeps a PWD that reaches this directory by another name; which one does is not looked into here.
    const mayKeepName = directory === initialDirectory && (inherited.PWD ?? directory) !== directory;
    const name = words[0]!;
    if (mayKeepName || isBashName(name)) return undefined;
    if (!isPathAbsolute && !name.includes("/")) return undefined;
    const program = findOnPath(name, { PATH: path, cwd: directory });
    if (!program?.startsWith("/")) return undefined;
    const format = formats.get(program) ?? recognizeFormat(program);
    formats.set(program, format);
    // A #! script is told the path it was started by, and from bash that is the name as it was written.
    const isRelative = name.includes("/") && name[0] !== "/";
    if (format === "unknown" || (format === "script" && isRelative)) return undefined;
    const own = { PWD: directory, _: name.includes("/") ? name : program };
    return { program, argv: words, environment: { ...variables, ...own } };
  };
}

/** What bash would change for the only command it runs; undefined when that depends on more than is known here. */
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

/** What the kernel runs by itself; for other files bash would try its own hand as an interpreter. */
type Format = "native" | "script" | "unknown";

function recognizeFormat(program: string): Format {
  const start = files.readFile(program, 8);
  if (typeof start === "string") return "unknown";
  if (start[0] === 0x23 && start[1] === 0x21) return "script";
  return files.isProgram(start) ? "native" : "unknown";
}
