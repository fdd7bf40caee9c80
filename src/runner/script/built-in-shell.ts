// Evaluates scripts of `--shell rt` in this process, in a run of several scripts.
//
// Invariants: the result equals that of a separate process. Only lists of the builtins below with literal words
// qualify: they end at once, start no program, change nothing and write to stdout only. All others (variables,
// globs, redirections) get a process, which can be killed.
//
// Non-obvious: `exit` does not end a list in this shell, so it is accepted only as the last command.

const WORD = String.raw`(?:[A-Za-z0-9_@%+:,./=-]|'[^'\p{Cc}]*'|"[^"$\x60\\\p{Cc}]*")+`;
const BUILTIN = String.raw`(?:(?:true|false|echo)(?: +${WORD})*|pwd)`;
const LIST = new RegExp(
  String.raw`^ *(?:${BUILTIN} *(?:&&|\|\||;) *)*(?:${BUILTIN}|exit(?: +\d{1,3})?) *$`,
  "u",
);

/** Variables that could change the behaviour of a separate engine process. */
const ENGINE_VARIABLES = ["BUN_OPTIONS"];

export interface ShellResult {
  readonly code: number;
  readonly stdout: Uint8Array;
}

/** @param environment rt's own */
export function needsNoProcess(
  command: string,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if (!LIST.test(command) || !command.isWellFormed()) return false;
  return ENGINE_VARIABLES.every((name) => environment[name] === undefined);
}

/**
 * Evaluates a command that needs no process, and therefore no environment. Rejects if the directory does not exist.
 */
export async function evaluate(command: string, directory: string): Promise<ShellResult> {
  const { exitCode, stdout } = await Bun.$`${{ raw: command }}`.cwd(directory).quiet().nothrow();
  return { code: exitCode, stdout };
}
