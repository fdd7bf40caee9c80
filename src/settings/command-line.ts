// A command line put together again, for another rt that does what this one does not.
import type { Given, Invocation } from "../options/parse.ts";

/** What the user wrote, without the options that are carried out already. rtfig.toml is read by the other rt as well. */
export function commandLine(invocation: Invocation, carriedOut: readonly string[]): string[] {
  const { options, command, target, args } = invocation;
  const words = options
    .filter(({ option, isConfigured }) => !isConfigured && !carriedOut.includes(option.name))
    .map(spell);
  return [
    ...words,
    ...(command === undefined ? [] : [command]),
    ...(target === undefined ? [] : [target]),
    ...args,
  ];
}

function spell({ option, value }: Given): string {
  return value === undefined ? `--${option.name}` : `--${option.name}=${value}`;
}
