// The command line of a new process: Windows hands on one text, and each program splits it itself.
//
// Two readers are known. C programs go by the rules of Microsoft's runtime. A batch file is read by cmd.exe, which
// looks for variables and operators first; its `%*` then hands the rest on as it stands.

/** For programs that split it as C programs do. */
export function quoteForProgram(args: readonly string[]): string {
  return args.map(quoteWord).join(" ");
}

function quoteWord(word: string): string {
  if (word !== "" && !/[\s"]/.test(word)) return word;
  // Backslashes mean themselves but in front of a quote.
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&")}"`;
}

/**
 * For cmd.exe and a batch file. Within quotes nothing has a meaning to it but the quote, which it takes doubled, and
 * the percent sign, which is kept apart from what follows by a variable that is always empty.
 * Undefined for a line break, which no quoting brings through.
 */
export function quoteForBatch(
  interpreter: string,
  file: string,
  args: readonly string[],
): string | undefined {
  if ([file, ...args].some((word) => /[\r\n]/.test(word))) return undefined;
  const quote = (word: string) =>
    `"${word
      .replace(/\\*(?="|$)/g, "$&$&")
      .replaceAll('"', '""')
      .replaceAll("%", "%%cd:~,%")}"`;
  const command = [`"${file}"`, ...args.map(quote)].join(" ");
  return `"${interpreter}" /e:on /v:off /d /s /c "${command}"`;
}
