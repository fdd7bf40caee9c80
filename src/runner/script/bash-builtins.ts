// What bash answers by itself, answered by rt: `true`, `false`, `exit 3` and `echo` with plain words, which many
// packages have for a script that they do not need. Nothing has to be started for these.
//
// Contract: no script can tell. So this is asked only where bash would be the shell and nothing in the environment
// changes it (see shell.ts), for words that splitPlainCommand() lets through: bash would take them as they are, and
// none looks like an option.
//
// Surprising: a text that cannot be written is not our failure to tell of; the command is then started as if it had
// not been recognized, and says itself what is wrong, or dies by SIGPIPE.

export interface BuiltinResult {
  readonly code: number;
  /** For standard output. */
  readonly output: string;
}

/** More than this may be written to a pipe in pieces (POSIX's least PIPE_BUF), of which only the first may succeed. */
const LONGEST_OUTPUT = 512; // bytes; the words are ASCII

export function answerOf([name, ...words]: readonly string[]): BuiltinResult | undefined {
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
