// Emulates bash builtins without a process: `true`, `false`, `exit 3` and `echo` with plain words.
//
// Invariants: the result equals bash's. It is used only if bash would be the shell, no variable changes its
// behaviour (shell.ts), and splitPlainCommand() accepts the words.
//
// Non-obvious: if the output cannot be written, the command is started normally and reports the error itself, or
// dies of SIGPIPE.

export interface BuiltinResult {
  readonly code: number;
  /** Text for stdout. */
  readonly output: string;
}

/** A longer write to a pipe may be split (POSIX's minimal PIPE_BUF), so that only a part may succeed. */
const LONGEST_OUTPUT = 512; // bytes; the words are ASCII

export function emulateBuiltin([name, ...words]: readonly string[]): BuiltinResult | undefined {
  if (name === "echo") {
    const output = `${words.join(" ")}\n`;
    return output.length <= LONGEST_OUTPUT ? { code: 0, output } : undefined;
  }
  if (name === "true") return { code: 0, output: "" };
  if (name === "false") return { code: 1, output: "" };
  return name === "exit" && words.length < 2 ? exitWith(words[0] ?? "0") : undefined;
}

function exitWith(word: string): BuiltinResult | undefined {
  const code = Number(word);
  return String(code) === word && code >= 0 && code <= 255 ? { code, output: "" } : undefined;
}
