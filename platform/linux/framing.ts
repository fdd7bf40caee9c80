// Where D-Bus messages begin and end (specification, "Message Format"), for what comes in before dbus-next is loaded.

const HEADER_SIZE = 16;
const MAX_MESSAGE = 2 ** 27; // the specification's maximum, 128 MiB
const LITTLE_ENDIAN = 108;
const METHOD_RETURN = 2;
const ERROR = 3;

/** Bytes of the message that begins here, or of its fixed part while that is incomplete. */
export function messageLength(bytes: Buffer): number {
  if (bytes.length < HEADER_SIZE) return HEADER_SIZE;
  const isLittle = bytes[0] === LITTLE_ENDIAN;
  const bodyLength = isLittle ? bytes.readUInt32LE(4) : bytes.readUInt32BE(4);
  const fieldsLength = isLittle ? bytes.readUInt32LE(12) : bytes.readUInt32BE(12);
  const length = HEADER_SIZE + Math.ceil(fieldsLength / 8) * 8 + bodyLength;
  if (length > MAX_MESSAGE) throw new Error(`a message of ${length} bytes`);
  return length;
}

/** How many whole messages are answers to calls. */
export function countReplies(bytes: Buffer): number {
  let count = 0;
  for (let rest = bytes; rest.length >= messageLength(rest); rest = rest.subarray(messageLength(rest))) {
    if (rest[1] === METHOD_RETURN || rest[1] === ERROR) count++;
  }
  return count;
}
