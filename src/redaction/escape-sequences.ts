// A piece of what goes to a terminal, parted into what is to be seen and the sequences that steer it: colours, cursor,
// titles, links.
//
// Contract: reading goes on where the piece before ended, in the middle of a sequence too, so that it does not matter how a
// stream is cut. A sequence ends where terminals let it end: a string (OSC, DCS and the like) at its terminator, at CAN or
// SUB, or where another sequence begins; the others at their final byte.

export const ESCAPE = 0x1b;

/** Where reading stands between two pieces. */
export interface Reading {
  readonly state: ParserState;
  /** What a CSI sequence has had so far, as long as anybody may want to know. */
  readonly parameters: string;
}

const GROUND = 0;
const AFTER_ESCAPE = 1;
const INTERMEDIATE = 2;
const CSI = 3;
const TITLE = 4; // OSC, which a bell ends too
const STRING = 5;
type ParserState = 0 | 1 | 2 | 3 | 4 | 5;

export const AT_START: Reading = { state: GROUND, parameters: "" };

const LONGEST_PARAMETERS = 16;
const BELL = 7;
const CANCEL = 0x18;
const SUBSTITUTE = 0x1a;

function latin(piece: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...piece.subarray(start, Math.min(end, start + LONGEST_PARAMETERS)));
}

/** The terminal's second screen, which full-screen programs draw on. */
const SECOND_SCREEN = /^\?(?:.*;)?(?:1049|1047|47)(?:;|$)/;

export class VisibleText {
  readonly bytes: Uint8Array;
  readonly length: number;
  /** Where reading stands at the end. */
  readonly end: Reading;
  /** Starts and ends of sequences, in turn. One that begins or ends in another piece stands at the edge. */
  readonly sequences: readonly number[];
  /** Behind which byte the second screen is chosen or left. */
  readonly screens: readonly { readonly at: number; readonly isSecond: boolean }[];

  constructor(piece: Uint8Array, { state: initial, parameters: known }: Reading) {
    const size = piece.length;
    const bytes = new Uint8Array(size);
    const sequences: number[] = [];
    const screens: { at: number; isSecond: boolean }[] = [];
    let length = 0;
    let state: ParserState = initial;
    let parameters = known;
    let begun = 0; // where the parameters of a CSI sequence go on in this piece
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
        // In a string the first half of its terminator, or else another sequence, which goes with this one.
        state = AFTER_ESCAPE;
      } else if (isOver) {
        // whatever it is
      } else if (state === CSI) {
        isPart = byte < 0x80;
        isOver = byte >= 0x40;
        if ((byte === 0x68 || byte === 0x6c) && SECOND_SCREEN.test(parameters + latin(piece, begun, at)))
          screens.push({ at: at + 1, isSecond: byte === 0x68 });
      } else if (state === AFTER_ESCAPE) {
        parameters = "";
        begun = at + 1;
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
    if (state === CSI) parameters += latin(piece, begun, size);
    this.bytes = bytes;
    this.length = length;
    this.sequences = sequences;
    this.screens = screens;
    this.end = { state, parameters };
  }

  /** Where a visible byte stands in the piece. */
  placeOf(visible: number): number {
    const { sequences } = this;
    let place = visible;
    for (let each = 0; each < sequences.length && sequences[each]! <= place; each += 2)
      place += sequences[each + 1]! - sequences[each]!;
    return place;
  }

  /** How many visible bytes stand in front of a place in the piece. */
  visibleBefore(place: number): number {
    const { sequences } = this;
    let count = place;
    for (let each = 0; each < sequences.length && sequences[each]! < place; each += 2)
      count -= Math.min(sequences[each + 1]!, place) - sequences[each]!;
    return count;
  }
}
