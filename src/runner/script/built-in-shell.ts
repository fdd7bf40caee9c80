// The engine's shell without a process of its own, for the scripts of a run of many with `--shell rt`.
//
// Contract: nobody can tell. So it is done only for what ends at once, starts no program, changes nothing and
// writes to standard output alone: lists of the builtins below, with words that are expanded to themselves.
// Everything else (variables, which `.env` files may set, globs, redirections, files) gets a process, which can
// be killed.
//
// Surprising: `exit` does not end a list in this shell, so it may only stand last.

const WORD = String.raw`(?:[A-Za-z0-9_@%+:,./=-]|'[^'\p{Cc}]*'|"[^"$\x60\\\p{Cc}]*")+`;
const BUILTIN = String.raw`(?:(?:true|false|echo)(?: +${WORD})*|pwd)`;
const LIST = new RegExp(
  String.raw`^ *(?:${BUILTIN} *(?:&&|\|\||;) *)*(?:${BUILTIN}|exit(?: +\d{1,3})?) *$`,
  "u",
);

/** Variables by which an engine of its own could do something else. */
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

/** Of a command that needs no process, and therefore no environment either. Rejects when there is no such directory. */
export async function evaluate(command: string, directory: string): Promise<ShellResult> {
  const { exitCode, stdout } = await Bun.$`${{ raw: command }}`.cwd(directory).quiet().nothrow();
  return { code: exitCode, stdout };
}
