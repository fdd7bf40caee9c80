// Writes an argument so that a shell hands it to the program byte for byte.
//
// Surprising: patterns stand where they are used. Those of a module are made whenever it is loaded, and this one is at every
// start of a script.

/** Leaves the quotes for a command that writes the bytes, which the text of a command cannot hold. */
function printBytes(characters: string): string {
  const octal = (character: string) => `\\${(character.charCodeAt(0) - 0xdc00).toString(8)}`;
  return `'"$(printf '${Array.from(characters, octal).join("")}')"'`;
}

/** For bash, sh, zsh and the built-in shell: in single quotes nothing has a meaning but the quote itself. */
export function quoteArgument(argument: string): string {
  // zsh looks for a command where a word begins with an equals sign.
  if (/^(?!=)[A-Za-z0-9_@%+=:,./-]+$/.test(argument)) return argument;
  const quoted = `'${argument.replaceAll("'", `'\\''`)}'`;
  // Bytes that are not UTF-8; see `exactArguments` of platform/processes/contract/process.ts.
  return argument.isWellFormed() ? quoted : quoted.replace(/[\udc80-\udcff]+/gu, printBytes);
}

export function appendArguments(command: string, args: readonly string[]): string {
  return args.length === 0 ? command : `${command} ${args.map(quoteArgument).join(" ")}`;
}
