// Patches the engine: console.log shows `[Object]` beyond --console-depth instead of `[Object ...]` (specification, "Script
// runner command line", rule 6).
//
// The engine's template consists of the lengths of literal texts, the texts, and a byte for each value between them. A zero ends
// it. So the text can be shortened in place. The test runner's snapshots use another printer and do not change.

const VALUE = "\xc0";
const END = "\0";

/** Colour, "[", the name, the text after it, colour. */
function template(behind: string): string {
  return `${VALUE}\x01[${VALUE}${String.fromCharCode(behind.length)}${behind}${VALUE}${END}`;
}

/** @throws Error if the engine does not have exactly one such template */
export function shortenCutOff(program: Uint8Array): void {
  const bytes = Buffer.from(program.buffer, program.byteOffset, program.byteLength);
  const found = Buffer.from(template(" ...]"), "latin1");
  const at = bytes.indexOf(found);
  if (at < 0 || bytes.includes(found, at + 1))
    throw new Error("The engine's text for what lies too deep to be printed is not as expected");
  bytes.fill(0, at, at + found.length);
  bytes.write(template("]"), at, "latin1");
}
