// Lays out two-column lists for help texts: names on the left, descriptions on the right.

export interface HelpRow {
  readonly name: string;
  readonly help: string;
}

/** Characters. The description of a longer name starts on the next line. */
const MAX_NAME_WIDTH = 32;
/** Characters. Below this width the terminal's own line breaks are easier to read than wrapped text. */
const MIN_HELP_WIDTH = 24;

/** Returns the list as text with coloured names. `columns` is the maximum width; 0 disables wrapping. */
export function layOut(rows: readonly HelpRow[], columns: number): string {
  const widths = rows.map(({ name }) => name.length).filter((length) => length <= MAX_NAME_WIDTH);
  const indent = Math.max(...widths) + 4;
  const helpWidth = columns - indent;
  return rows
    .map(({ name, help }) => {
      const gap = name.length + 4 > indent ? `\n${" ".repeat(indent)}` : " ".repeat(indent - name.length - 2);
      const text = columns > 0 && helpWidth >= MIN_HELP_WIDTH ? Bun.wrapAnsi(help, helpWidth) : help;
      return `  \x1b[36m${name}\x1b[39m${gap}${text.replaceAll("\n", `\n${" ".repeat(indent)}`)}`;
    })
    .join("\n");
}

export function heading(title: string): string {
  return `\x1b[1m${title}\x1b[22m`;
}
