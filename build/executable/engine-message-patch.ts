// Patches the engine's messages: `bun install` becomes `rt install`. The engine's tools replace rt's process, so only the text in
// the program can be changed.
//
// Invariants:
// - The file keeps its length and all offsets. A space fills the place of the missing letter, after the command or its quotes.
// - Only messages for people change: no scripts that the engine runs, no markers, no machine-readable formats.
//
// Non-obvious: texts in the engine have no visible boundaries, so nothing outside a match moves. Machine code cannot match,
// because an instruction contains at most eight bytes of text.
import { COMMANDS } from "../../src/options/commands.ts";

/** Words after the engine's name: commands and options of rt. Longest first. */
const BEHIND = [
  "pm [a-z]+",
  "audit fix",
  "patch-commit",
  ...Object.keys(COMMANDS).filter((name) => COMMANDS[name]!.by !== "rt"),
  ..."upgrade pack --hot --check --print <file>".split(" "),
].join("|");

/** A quoted command; a command alone; the engine's name in a separate colour. */
const TEXTS: ReadonlyArray<readonly [text: RegExp, change: string]> = [
  [new RegExp(`(?<=(['"\`]))bun (${BEHIND})\\1(?=[ \\n])`, "y"), "rt $2$1 "],
  [new RegExp(`bun (${BEHIND})(?![a-z0-9_]|[-:/=.]\\w)`, "y"), "rt $1 "],
  [/bun (?=[\xc0{])/y, "rt  "],
  [/(?<=m)bun\x1b\[0m/y, "rt\x1b[0m "],
  [/(?<=[ '"`(m])bunx(?=[ '"`)\x1b])|bunx(?= has no )/y, "rt x"],
];

/**
 * Whole templates, in which each text has a length prefix. One text becomes shorter and another one longer, or the space moves to
 * the end, so it is not visible.
 */
const TEMPLATES: ReadonlyArray<readonly [template: string, change: string]> = [
  [
    "\x20 formatting. Run bun fmt to fix \xc0\x02.\n\x00",
    "\x1f formatting. Run rt fmt to fix \xc0\x03. \n\x00",
  ],
  [". Run bun fmt to fix.\x00", ". Run rt fmt to fix. \x00"],
  ["\x18bun: command not found: \xc0\x01\n\x00", "\x17rt: command not found: \xc0\x02 \n\x00"],
  ["\x04bun \xc0\x02 v\xc0", "\x03rt \xc0\x03  v\xc0"],
  [
    "\x0c\x1b[0m\x1b[1mbun \xc0\x0a \x1b[0m\x1b[2mv\xc0",
    "\x0b\x1b[0m\x1b[1mrt \xc0\x0b  \x1b[0m\x1b[2mv\xc0",
  ],
];

/** Excluded contexts before a match: paths, options, names, values in files, and bytes that are not text. */
const NOT_BEHIND = /(?:[./@$_-]|[^\x00-\x7e]|": "|="|(?:source|target) )$/;
/** Excluded contexts after it: an npm script, JavaScript sources, and the engine's own usage text. */
const NOT_BEFORE = /^bun (?:x --silent node-gyp|run` uses|add (?:react@)?\$\{)/;

/** Bytes of context on both sides of a match. */
const REACH = 32;

/**
 * Changes the texts in a program that contains the engine.
 *
 * @param engine the engine's own file: texts in the rest of the program belong to rt
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

/** Returns the replacement at an offset, with the same length. */
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
