// Quotes a word for the shells of Linux and macOS.

/** Returns the word unchanged if a shell takes it literally, else in single quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
