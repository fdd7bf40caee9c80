// Writes an argument so that a shell hands it to the program byte for byte.

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** For bash, sh, zsh and the built-in shell: in single quotes nothing has a meaning but the quote itself. */
export function quoteArgument(argument: string): string {
  if (PLAIN.test(argument)) return argument;
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}

export function appendArguments(command: string, args: readonly string[]): string {
  return args.length === 0 ? command : `${command} ${args.map(quoteArgument).join(" ")}`;
}
