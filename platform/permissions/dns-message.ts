// Reads DNS queries and writes their answers (RFC 1035). Pure.
//
// Invariants:
// - The sender of a query may be malicious code. Only a message with exactly one question is a query.
// - Records after the question, such as options of EDNS, are ignored.
// - The bytes of an answer are the question, and addresses that the caller passes.
import { type AddressBytes, v4BytesOf } from "./ip-address.ts";

const HEADER = 12;
const MAX_NAME = 255;
const MAX_LABEL = 63;
const CLASS_INTERNET = 1;
/** Bits of the flags: whether it is an answer, the kind of query, and recursion. */
const [IS_ANSWER, OPERATION, WANTS_RECURSION, HAS_RECURSION] = [0x8000, 0x7800, 0x100, 0x80];
const POINTER_TO_QUESTION = [0xc0, HEADER];
/** Seconds. An address stays open for longer. */
const TIME_TO_LIVE = 5;

export const TYPE_A = 1;
export const TYPE_AAAA = 28;

export const CODES = { ok: 0, serverFailure: 2, noSuchName: 3 } as const;

export interface Query {
  readonly id: number;
  readonly flags: number;
  /** In lower case, without the last dot. A byte that no host name has is escaped. */
  readonly name: string;
  readonly type: number;
  readonly question: Uint8Array;
}

export function parseQuery(message: Uint8Array): Query | undefined {
  if (message.length < HEADER) return undefined;
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  const [id, flags, questions] = [view.getUint16(0), view.getUint16(2), view.getUint16(4)];
  if (flags & (IS_ANSWER | OPERATION) || questions !== 1) return undefined;
  const labels: string[] = [];
  let at = HEADER;
  for (;;) {
    const length = message[at];
    // Longer lengths are pointers, which a question does not need.
    if (length === undefined || length > MAX_LABEL || at - HEADER + length >= MAX_NAME) return undefined;
    at += 1;
    if (length === 0) break;
    if (at + length > message.length) return undefined;
    labels.push(writeLabel(message.subarray(at, at + length)));
    at += length;
  }
  if (at + 4 > message.length || view.getUint16(at + 2) !== CLASS_INTERNET) return undefined;
  return {
    id,
    flags,
    name: labels.join("."),
    type: view.getUint16(at),
    question: message.slice(HEADER, at + 4),
  };
}

function writeLabel(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, (character) => `\\${String(character.charCodeAt(0)).padStart(3, "0")}`);
}

/** Returns a message for TCP, which begins with its length. */
export function writeAnswer(
  { id, flags, type, question }: Query,
  code: number,
  addresses: readonly AddressBytes[],
): Uint8Array {
  const records = addresses.flatMap((address) => {
    const v4 = v4BytesOf(address);
    const isOfType = type === (v4 ? TYPE_A : TYPE_AAAA);
    const content = v4 ?? address;
    const fields = [
      ...POINTER_TO_QUESTION,
      0,
      type,
      0,
      CLASS_INTERNET,
      0,
      0,
      0,
      TIME_TO_LIVE,
      0,
      content.length,
    ];
    return isOfType ? [[...fields, ...content]] : [];
  });
  const bytes = records.flat();
  const message = new Uint8Array(2 + HEADER + question.length + bytes.length);
  const view = new DataView(message.buffer);
  const answerFlags = IS_ANSWER | (flags & WANTS_RECURSION) | HAS_RECURSION | code;
  for (const [index, value] of [message.length - 2, id, answerFlags, 1, records.length].entries())
    view.setUint16(index * 2, value);
  message.set(question, 2 + HEADER);
  message.set(bytes, 2 + HEADER + question.length);
  return message;
}
