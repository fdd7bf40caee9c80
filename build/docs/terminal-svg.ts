// Draws terminal output as SVG, without side effects.
//
// It supports text, line breaks and the sixteen colours. Other escape sequences are errors, so an image never differs from a terminal.

export interface RecordedOutputText {
  readonly command: string;
  readonly output: string;
}

export interface Recording {
  readonly title: string;
  readonly columns: number;
  readonly shown: readonly RecordedOutputText[];
}

interface StyledRun {
  readonly text: string;
  /** CSS classes: "b" and "d" for bold and dim, "c1" to "c6" for colours. */
  readonly style: string;
}

interface PictureLine {
  readonly pieces: readonly StyledRun[];
  readonly isCommand: boolean;
}

const CELL = 8.4; // px, at 14 px
const ROW = 20; // px
const MARGIN = 16; // px
/** Seconds before and after a command, and between two output lines. */
const PAUSE = 0.4;
const PACE = 0.06;

export function drawRecording({ title, columns, shown }: Recording): string {
  const lines: PictureLine[] = shown.flatMap(({ command, output }, index) => [
    ...(index > 0 ? [{ pieces: [], isCommand: false }] : []),
    {
      pieces: [
        { text: "$ ", style: "d" },
        { text: command, style: "b" },
      ],
      isCommand: true,
    },
    ...readLines(output).map((pieces) => ({ pieces, isCommand: false })),
  ]);
  const width = Math.round(columns * CELL + 2 * MARGIN);
  const height = lines.length * ROW + 2 * MARGIN;
  const words = lines.map(({ pieces }) => pieces.map(({ text }) => text).join("")).join("\n");
  const times = timesOf(lines);
  const rows = lines.map((line, index) => {
    const row = drawLine(line, index);
    return row === "" ? "" : `<g style="animation-delay:${times[index]!.toFixed(2)}s">${row}</g>\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d">
<title id="t">${escape(title)}</title>
<desc id="d">${escape(words)}</desc>
<style>${STYLE}</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${rows.join("")}</svg>
`;
}

/** Returns the seconds at which each line appears: the first command at once, so that no frame is empty. */
function timesOf(lines: readonly PictureLine[]): number[] {
  let time = 0;
  return lines.map(({ isCommand }, index) => {
    if (isCommand && index > 0) time += PAUSE;
    const now = time;
    time += isCommand ? PAUSE : PACE;
    return now;
  });
}

const STYLE = `
rect{fill:#fff;stroke:#d0d7de}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
.b{font-weight:600}.d{fill:#59636e}
.c1{fill:#b91c1c}.c2{fill:#15703a}.c3{fill:#8a5a00}.c4{fill:#0550ae}.c5{fill:#7a3fb5}.c6{fill:#0b6b80}
@media(prefers-color-scheme:dark){
rect{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}.d{fill:#9198a1}
.c1{fill:#ff7b72}.c2{fill:#56d364}.c3{fill:#e3b341}.c4{fill:#79c0ff}.c5{fill:#d2a8ff}.c6{fill:#56d4dd}}
@media(prefers-reduced-motion:no-preference){g{animation:show .1s both}@keyframes show{from{opacity:0}}}
`;

function drawLine({ pieces }: PictureLine, index: number): string {
  const length = pieces.reduce((sum, { text }) => sum + Bun.stringWidth(text), 0);
  if (length === 0) return "";
  const spans = pieces.map(({ text, style }) =>
    style === "" ? escape(text) : `<tspan class="${style}">${escape(text)}</tspan>`,
  );
  const y = MARGIN + index * ROW + 14;
  return `<text x="${MARGIN}" y="${y}" textLength="${(length * CELL).toFixed(1)}" xml:space="preserve">${spans.join("")}</text>`;
}

/** Bracketed-paste switches around a secret prompt, which have no visible effect. */
const INVISIBLE = /\x1b\[\?2004[hl]/g;

function readLines(output: string): StyledRun[][] {
  const text = output.replaceAll(INVISIBLE, "").replaceAll("\r\n", "\n").replace(/\n+$/, "");
  if (text === "") return [];
  const style = { bold: false, dim: false, color: 0 };
  return text.split("\n").map((line) => {
    const pieces: StyledRun[] = [];
    for (const part of line.split(/(\x1b\[[\d;]*m)/)) {
      const codes = /^\x1b\[([\d;]*)m$/.exec(part)?.[1];
      if (codes !== undefined) applyCodes(style, codes);
      else if (/[\x00-\x1f\x7f]/.test(part)) throw new Error(`A picture cannot show ${JSON.stringify(part)}`);
      else if (part !== "") pieces.push({ text: part, style: classesOf(style) });
    }
    return pieces;
  });
}

function classesOf({ bold, dim, color }: { bold: boolean; dim: boolean; color: number }): string {
  return [bold && "b", dim && "d", color > 0 && `c${color}`].filter(Boolean).join(" ");
}

function applyCodes(style: { bold: boolean; dim: boolean; color: number }, codes: string): void {
  for (const code of codes.split(";").map(Number)) {
    if (code === 0) Object.assign(style, { bold: false, dim: false, color: 0 });
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 22) Object.assign(style, { bold: false, dim: false });
    else if (code === 39) style.color = 0;
    else if ((code > 30 && code < 37) || (code > 90 && code < 97)) style.color = code % 10;
    else throw new Error(`A picture has no colour for the code ${code}`);
  }
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
