// The engine's messages say `bun install` where a user of rt has to type `rt install`. Its tools take the place of rt's
// process, so nothing stands between them and the terminal; what can be changed is the text in the program itself.
//
// Contract: the file keeps its length and every byte its place. "rt" is one letter shorter, so a space is left behind the
// command, or behind the quotes around it. Only what a person reads is changed: no script that the engine runs, no mark that
// it looks for, no format that programs read, and nothing of a project that it creates where the space would be odd.
//
// Surprising: there is no telling where one text of the engine ends and the next begins, so nothing outside a match
// moves. Code is safe from it without being looked for: an instruction holds four bytes of a text, or eight behind a
// byte that is no ASCII, and a match has more, or stands between others of a text.
import { COMMANDS } from "../src/options/commands.ts";

/** What is written behind the engine's name: a command, or an option that rt has. The longest first. */
const BEHIND = [
  "pm [a-z]+",
  "audit fix",
  "patch-commit",
  ...Object.keys(COMMANDS).filter((name) => COMMANDS[name]!.by !== "rt"),
  ..."upgrade pack --hot --check --print <file>".split(" "),
].join("|");

/** A command in quotes of its own; then the command alone; then the engine's name in a colour of its own. */
const TEXTS: ReadonlyArray<readonly [text: RegExp, change: string]> = [
  [new RegExp(`(?<=(['"\`]))bun (${BEHIND})\\1(?=[ \\n])`, "y"), "rt $2$1 "],
  [new RegExp(`bun (${BEHIND})(?![a-z0-9_]|[-:/=.]\\w)`, "y"), "rt $1 "],
  [/bun (?=[\xc0{])/y, "rt  "],
  [/(?<=m)bun\x1b\[0m/y, "rt\x1b[0m "],
  [/(?<=[ '"`(m])bunx(?=[ '"`)\x1b])|bunx(?= has no )/y, "rt x"],
];

/**
 * Whole templates, in which each text has its length in front of it. One text becomes shorter and another one longer, so
 * the blank is not seen.
 */
const TEMPLATES: ReadonlyArray<readonly [template: string, change: string]> = [
  ["\x18bun: command not found: \xc0\x01\n\x00", "\x17rt: command not found: \xc0\x02 \n\x00"],
  ["\x04bun \xc0\x02 v\xc0", "\x03rt \xc0\x03  v\xc0"],
  [
    "\x0c\x1b[0m\x1b[1mbun \xc0\x0a \x1b[0m\x1b[2mv\xc0",
    "\x0b\x1b[0m\x1b[1mrt \xc0\x0b  \x1b[0m\x1b[2mv\xc0",
  ],
];

/** In front of a match: it belongs to a path, an option or a name, is a value in a file, or is no text at all. */
const NOT_BEHIND = /(?:[./@$_-]|[^\x00-\x7e]|": "|="|(?:source|target) )$/;
/** Behind the engine's name: a script of npm's, sources in JavaScript, and a program's name for itself. */
const NOT_BEFORE = /^bun (?:x --silent node-gyp|run` uses|add (?:react@)?\$\{)/;

/** How far around a match is looked, in bytes. */
const REACH = 32;

/**
 * Changes the texts in a program that the engine is in.
 * @param engine the engine's own file: what stands elsewhere in the program is ours
 */
export function renameTools(program: Uint8Array, engine: Uint8Array): void {
  const ours = Buffer.from(program.buffer, program.byteOffset, program.length);
  const theirs = Buffer.from(engine.buffer, engine.byteOffset, engine.length);
  for (const [template, change] of TEMPLATES) changeTemplate(ours, theirs, template, change);
  for (let at = theirs.indexOf("bun"); at >= 0; at = theirs.indexOf("bun", at + 1)) {
    const from = Math.max(0, at - REACH);
    const change = changeAt(theirs.toString("latin1", from, at + REACH), at - from);
    if (change === undefined) continue;
    const end = at + change.length;
    if (ours.compare(theirs, at, end, at, end) === 0) ours.write(change, at, "latin1");
  }
}

function changeTemplate(ours: Buffer, theirs: Buffer, template: string, change: string): void {
  const text = Buffer.from(template, "latin1");
  for (let at = theirs.indexOf(text); at >= 0; at = theirs.indexOf(text, at + 1))
    if (text.equals(ours.subarray(at, at + text.length))) ours.write(change, at, "latin1");
}

/** What to write at a place of a text, of the length of what it takes the place of. */
function changeAt(text: string, at: number): string | undefined {
  if (NOT_BEHIND.test(text.slice(0, at)) || NOT_BEFORE.test(text.slice(at))) return undefined;
  for (const [pattern, change] of TEXTS) {
    pattern.lastIndex = at;
    const [match] = pattern.exec(text) ?? [];
    pattern.lastIndex = at;
    if (match !== undefined) return text.replace(pattern, change).slice(at, at + match.length);
  }
  return undefined;
}
