// How console.log shows what lies deeper than --console-depth: `[Object]` (specification, "Script runner command line",
// rule 6), where the engine prints `[Object ...]`.
//
// The engine prints it by a template in its data: the lengths of literal texts, the texts, and a byte for each value to be
// put between them; a zero ends it. So the text can be made shorter where it stands. What a program prints of its own is
// not touched, and the test runner's snapshots are written by another printer.

const VALUE = "\xc0";
const END = "\0";

/** Colour, "[", the name, what stands behind it, colour. */
function template(behind: string): string {
  return `${VALUE}\x01[${VALUE}${String.fromCharCode(behind.length)}${behind}${VALUE}${END}`;
}

/** @throws Error when the engine has no such template, or several */
export function shortenCutOff(program: Uint8Array): void {
  const bytes = Buffer.from(program.buffer, program.byteOffset, program.byteLength);
  const found = Buffer.from(template(" ...]"), "latin1");
  const at = bytes.indexOf(found);
  if (at < 0 || bytes.includes(found, at + 1))
    throw new Error("The engine's text for what lies too deep to be printed is not as expected");
  bytes.fill(0, at, at + found.length);
  bytes.write(template("]"), at, "latin1");
}
