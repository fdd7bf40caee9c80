// Quotes arguments for a Windows command line: Windows passes one text, and each program splits it.
//
// Two parsers exist. C programs follow the rules of Microsoft's runtime (CommandLineToArgvW). A batch file's command line is first parsed by cmd.exe,
// for variables and operators. The rest is passed on as `%*`.

/** Quotes for programs that follow the C rules. */
export function quoteForProgram(args: readonly string[]): string {
  return args.map(quoteWord).join(" ");
}

function quoteWord(word: string): string {
  if (word !== "" && !/[\s"]/.test(word)) return word;
  // Backslashes are literal except before a quote.
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&")}"`;
}

/**
 * Quotes for cmd.exe and a batch file. Within quotes only two characters are special. A quote is doubled, and a percent sign is
 * followed by a variable that is always empty. Returns undefined if an argument contains a line break, which cannot be quoted.
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
