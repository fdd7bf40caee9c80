// Turns the bytes of a terminal into names of keys: "up", "ctrl-c", "escape", or the character.
//
// Invariants: unknown sequences are dropped as a whole, so that their bytes are not taken for letters.

const NAMES: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  "1~": "home",
  "4~": "end",
  "5~": "pageup",
  "6~": "pagedown",
  "7~": "home",
  "8~": "end",
};
const CONTROLS: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "enter",
  "\x7f": "backspace",
  "\b": "backspace",
  "\t": "tab",
};
/** CSI or SS3 with its parameters; in SGR and X10 mouse reports too. */
const SEQUENCE = /^\x1b(?:\[M[^]{3}|\[([0-9;<?]*[ -/]*[@-~])|O([A-Za-z]))/;

export function parseKeys(bytes: Uint8Array): string[] {
  const keys: string[] = [];
  let text = new TextDecoder().decode(bytes);
  while (text !== "") {
    const sequence = SEQUENCE.exec(text);
    if (sequence) {
      text = text.slice(sequence[0].length);
      const name = NAMES[sequence[1] ?? sequence[2] ?? ""];
      if (name !== undefined) keys.push(name);
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(0)!);
    text = text.slice(character.length);
    keys.push(nameOf(character));
  }
  return keys;
}

function nameOf(character: string): string {
  if (character === "\x1b") return "escape";
  const control = CONTROLS[character];
  if (control !== undefined) return control;
  const code = character.charCodeAt(0);
  return code < 0x20 ? `ctrl-${String.fromCharCode(code + 0x60)}` : character;
}
