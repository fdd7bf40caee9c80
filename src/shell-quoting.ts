// Shell quoting: quotes an argument so that a shell passes it to the program byte for byte.
//
// Non-obvious:
// - Regular expressions are inside the functions: module-level ones are compiled on load, and every script start loads this file.

/** Closes the quotes around a command substitution that prints the bytes: command text cannot contain invalid UTF-8. */
function printBytes(characters: string): string {
  const octal = (character: string) => `\\${(character.charCodeAt(0) - 0xdc00).toString(8)}`;
  return `'"$(printf '${Array.from(characters, octal).join("")}')"'`;
}

/** Quotes for bash, sh, zsh and the built-in shell. Inside single quotes only the single quote is special. */
export function quoteArgument(argument: string): string {
  // zsh expands a word that begins with "=" to the path of a command.
  if (/^(?!=)[A-Za-z0-9_@%+=:,./-]+$/.test(argument)) return argument;
  const quoted = `'${argument.replaceAll("'", `'\\''`)}'`;
  // Bytes that are not UTF-8; see `exactArguments` of platform/processes/contract/process.ts.
  return argument.isWellFormed() ? quoted : quoted.replace(/[\udc80-\udcff]+/gu, printBytes);
}

export function appendArguments(command: string, args: readonly string[]): string {
  return args.length === 0 ? command : `${command} ${args.map(quoteArgument).join(" ")}`;
}
