// Converts text that is not UTF-8, such as arguments and file names, without loss (as Python's "surrogateescape").
//
// Each byte that is not part of a character becomes a lone surrogate, U+DC80 to U+DCFF. Decoded text never contains one. Encoding
// for a C function or a shell restores the byte.

const MAX_CHARACTER_SIZE = 4; // bytes

export function decodeWithSurrogates(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length;) {
    const plain = asciiLength(bytes, start);
    text += String.fromCharCode(...bytes.subarray(start, start + plain));
    start += plain;
    if (start === bytes.length) break;
    const length = characterLength(bytes, start);
    text +=
      length === 0
        ? String.fromCharCode(0xdc00 + bytes[start]!)
        : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start, start + length));
    start += Math.max(1, length);
  }
  return text;
}

/** ASCII is converted in runs, because it is most of the text. */
const MAX_RUN = 4096; // arguments of a call

function asciiLength(bytes: Uint8Array, start: number): number {
  let length = 0;
  while (length < MAX_RUN && start + length < bytes.length && bytes[start + length]! < 0x80) length += 1;
  return length;
}

/** Returns the size in bytes of the character at `start`; 0 if there is none. */
function characterLength(bytes: Uint8Array, start: number): number {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let length = 1; length <= MAX_CHARACTER_SIZE; length += 1) {
    try {
      decoder.decode(bytes.subarray(start, start + length));
      return length;
    } catch {}
  }
  return 0;
}

export function encodeWithSurrogates(text: string): Uint8Array {
  const encoder = new TextEncoder();
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (code >= 0xdc80 && code <= 0xdcff) bytes.push(code - 0xdc00);
    else bytes.push(...encoder.encode(character));
  }
  return Uint8Array.from(bytes);
}
