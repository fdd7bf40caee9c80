// Text that is not UTF-8: the arguments of a command line are bytes, and a file's name may be any of them.
//
// Each byte that is no part of a character becomes a lone surrogate, U+DC80 to U+DCFF, which no decoded text
// contains; on the way to a C function or a shell it becomes the byte again.

const LONGEST_CHARACTER = 4; // bytes

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

/** Most of a text needs no look at each character. */
const LONGEST_PLAIN = 4096; // arguments of a call

function asciiLength(bytes: Uint8Array, start: number): number {
  let length = 0;
  while (length < LONGEST_PLAIN && start + length < bytes.length && bytes[start + length]! < 0x80)
    length += 1;
  return length;
}

/** How many bytes the character at `start` takes; 0 when there is none. */
function characterLength(bytes: Uint8Array, start: number): number {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let length = 1; length <= LONGEST_CHARACTER; length += 1) {
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
