// Splits terminal output into visible text and escape sequences (colours, cursor, titles, links).
//
// Invariants:
// - Parsing continues where the previous piece ended, even within a sequence, so the chunking of a stream makes no difference.
// - Sequences end where terminals end them. A string (OSC, DCS, SOS, PM, APC) ends at its terminator, at CAN or SUB, or at
//   another sequence. The others end at their final byte.

export const ESCAPE = 0x1b;

/** Parser state between two pieces. */
export interface Reading {
  readonly state: ParserState;
  /** Parameters of an unfinished CSI sequence, up to a length limit. */
  readonly parameters: string;
}

const GROUND = 0;
const AFTER_ESCAPE = 1;
const INTERMEDIATE = 2;
const CSI = 3;
const TITLE = 4; // OSC, which BEL ends too
const STRING = 5;
type ParserState = 0 | 1 | 2 | 3 | 4 | 5;

export const AT_START: Reading = { state: GROUND, parameters: "" };

const MAX_PARAMETERS_LENGTH = 16;
const BELL = 7;
const CANCEL = 0x18;
const SUBSTITUTE = 0x1a;

function latin(piece: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...piece.subarray(start, Math.min(end, start + MAX_PARAMETERS_LENGTH)));
}

/** Switches to or from the alternate screen buffer, which full-screen programs use. */
const ALTERNATE_SCREEN = /^\?(?:.*;)?(?:1049|1047|47)(?:;|$)/;

export class VisibleText {
  readonly bytes: Uint8Array;
  readonly length: number;
  /** Parser state at the end of the piece. */
  readonly end: Reading;
  /** Starts and ends of sequences, alternating. A sequence that continues in another piece is cut at the edge. */
  readonly sequences: readonly number[];
  /** Positions after which the alternate screen is active or inactive. */
  readonly screens: readonly { readonly at: number; readonly isAlternate: boolean }[];

  constructor(piece: Uint8Array, { state: initial, parameters: initialParameters }: Reading) {
    const size = piece.length;
    const bytes = new Uint8Array(size);
    const sequences: number[] = [];
    const screens: { at: number; isAlternate: boolean }[] = [];
    let length = 0;
    let state: ParserState = initial;
    let parameters = initialParameters;
    let parametersStart = 0; // start of the CSI parameters in this piece
    let at = 0;
    if (state !== GROUND) sequences.push(0);
    while (at < size) {
      if (state === GROUND) {
        for (; at < size; at += 1) {
          const byte = piece[at]!;
          if (byte === ESCAPE) break;
          bytes[length] = byte;
          length += 1;
        }
        if (at === size) break;
        sequences.push(at);
        at += 1;
        state = AFTER_ESCAPE;
        continue;
      }
      const byte = piece[at]!;
      let isOver = byte === CANCEL || byte === SUBSTITUTE;
      let isPart = true;
      if (byte === ESCAPE) {
        // In a string this is the first half of its terminator, or another sequence, which counts as part of this one.
        state = AFTER_ESCAPE;
      } else if (isOver) {
        // CAN and SUB end every sequence
      } else if (state === CSI) {
        isPart = byte < 0x80;
        isOver = byte >= 0x40;
        if (
          (byte === 0x68 || byte === 0x6c) &&
          ALTERNATE_SCREEN.test(parameters + latin(piece, parametersStart, at))
        )
          screens.push({ at: at + 1, isAlternate: byte === 0x68 });
      } else if (state === AFTER_ESCAPE) {
        parameters = "";
        parametersStart = at + 1;
        if (byte === 0x5b) state = CSI;
        else if (byte === 0x5d) state = TITLE;
        else if (byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f) state = STRING;
        else if (byte >= 0x20 && byte <= 0x2f) state = INTERMEDIATE;
        else {
          isOver = true;
          isPart = byte >= 0x30 && byte <= 0x7e;
        }
      } else if (state === INTERMEDIATE) {
        isPart = byte < 0x80;
        isOver = byte >= 0x30;
      } else if (state === TITLE) isOver = byte === BELL;
      if (isPart) at += 1;
      if (isOver) {
        sequences.push(at);
        state = GROUND;
      }
    }
    if (state !== GROUND) sequences.push(size);
    if (state === CSI) parameters += latin(piece, parametersStart, size);
    this.bytes = bytes;
    this.length = length;
    this.sequences = sequences;
    this.screens = screens;
    this.end = { state, parameters };
  }

  /** Converts an index of the visible text to a position in the piece. */
  positionOf(visible: number): number {
    const { sequences } = this;
    let position = visible;
    for (let each = 0; each < sequences.length && sequences[each]! <= position; each += 2)
      position += sequences[each + 1]! - sequences[each]!;
    return position;
  }

  visibleBefore(position: number): number {
    const { sequences } = this;
    let count = position;
    for (let each = 0; each < sequences.length && sequences[each]! < position; each += 2)
      count -= Math.min(sequences[each + 1]!, position) - sequences[each]!;
    return count;
  }
}
