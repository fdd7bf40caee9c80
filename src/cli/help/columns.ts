// Lists of two columns, as every help has them: names on the left, what they mean on the right.

export interface HelpRow {
  readonly name: string;
  readonly help: string;
}

/** Names longer than this get their meaning on a line of their own. */
const WIDEST_NAME = 32;
/** A meaning that is squeezed into less than this is worse to read than one that the terminal breaks. */
const NARROWEST_HELP = 24;

/** `columns` is the width to keep to, 0 for none. Names are coloured. */
export function layOut(rows: readonly HelpRow[], columns: number): string {
  const widths = rows.map(({ name }) => name.length).filter((length) => length <= WIDEST_NAME);
  const indent = Math.max(...widths) + 4;
  const room = columns - indent;
  return rows
    .map(({ name, help }) => {
      const gap = name.length + 4 > indent ? `\n${" ".repeat(indent)}` : " ".repeat(indent - name.length - 2);
      const text = columns > 0 && room >= NARROWEST_HELP ? Bun.wrapAnsi(help, room) : help;
      return `  \x1b[36m${name}\x1b[39m${gap}${text.replaceAll("\n", `\n${" ".repeat(indent)}`)}`;
    })
    .join("\n");
}

export function heading(title: string): string {
  return `\x1b[1m${title}\x1b[22m`;
}
