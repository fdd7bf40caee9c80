// The calls of every first `get`, pre-encoded at build time by dbus-next. They are sent before dbus-next is loaded. Completing one
// takes a tenth of encoding it.
//
// Layout (D-Bus specification, "Message Format"; little-endian, fields aligned to 8 bytes, path first):
//
//   0  'l' type flags version | 4 body length | 8 serial | 12 length of the fields
//
//   16 path: 1 1 'o' 0 | 20 length | 24 text, NUL, padding | other fields, padding | body
import { BUS_NAME, SERVICE_NAME, SERVICE_PATH } from "./dbus-names.ts";
import { marshalCalls } from "./prepared-messages-macro.ts" with { type: "macro" };

export const PUBLIC_KEY_SIZE = 128;
export const SERIAL_OFFSET = 8;
const BODY_LENGTH_OFFSET = 4;
const FIELDS_LENGTH_OFFSET = 12;
const PATH_OFFSET = 24;
const HEADER_SIZE = 16;
/** Size of the field of the path "/" in bytes, with padding. */
const ROOT_FIELD_SIZE = 16;

const MESSAGES = marshalCalls();
const SEARCH_ITEMS = Buffer.from(MESSAGES.searchItems, "base64");
const GET_SECRETS = Buffer.from(MESSAGES.getSecrets, "base64");
const GET_SECRET = Buffer.from(MESSAGES.getSecret, "base64");

/** An encoded call without its serial number. */
export interface PreparedCall {
  readonly destination: string;
  readonly member: string;
  readonly message: Buffer;
  /** Sent at once, while other calls wait for its reply, see bus.ts. */
  readonly leads?: boolean;
}

export function prepareHello(): PreparedCall {
  return prepareForBus("Hello", MESSAGES.hello);
}

/** Subscribes to owner changes of the secret service's name. */
export function prepareWatchOwner(): PreparedCall {
  return prepareForBus("AddMatch", MESSAGES.watchOwner);
}

/** Requests the owner of the secret service's name. */
export function prepareGetOwner(): PreparedCall {
  return prepareForBus("GetNameOwner", MESSAGES.getOwner);
}

function prepareForBus(member: string, message: string): PreparedCall {
  return { destination: BUS_NAME, member, message: Buffer.from(message, "base64"), leads: true };
}

export function prepareReadAlias(): PreparedCall {
  return prepare("ReadAlias", Buffer.from(MESSAGES.readAlias, "base64"));
}

/** OpenSession for an encrypted session; `publicKey` is called when the message is sent. */
export function prepareOpenSession(publicKey: () => Uint8Array): PreparedCall {
  return {
    destination: SERVICE_NAME,
    member: "OpenSession",
    get message() {
      const message = Buffer.from(MESSAGES.openSession, "base64");
      message.set(publicKey(), message.length - PUBLIC_KEY_SIZE);
      return message;
    },
  };
}

export function prepareSearchItems(attributes: readonly (readonly [string, string])[]): PreparedCall {
  let size = 8; // the array's length, and padding to its first entry
  for (const [key, value] of attributes) size = textEnd(textEnd(Math.ceil(size / 8) * 8, key), value);
  const [message, body] = fill(SEARCH_ITEMS, SERVICE_PATH, size);
  message.writeUInt32LE(size - 8, body);
  let at = 8;
  for (const [key, value] of attributes)
    at = writeText(message, body, writeText(message, body, align(at, 8), key), value);
  return prepare("SearchItems", message);
}

export function prepareGetSecret(item: string, session: string): PreparedCall {
  const [message, body] = fill(GET_SECRET, item, textEnd(0, session));
  writeText(message, body, 0, session);
  return prepare("GetSecret", message);
}

export function prepareGetSecrets(items: readonly string[], session: string): PreparedCall {
  let size = 4; // the array's length
  for (const item of items) size = textEnd(size, item);
  const [message, body] = fill(GET_SECRETS, SERVICE_PATH, textEnd(size, session));
  message.writeUInt32LE(size - 4, body);
  let at = 4;
  for (const item of items) at = writeText(message, body, at, item);
  writeText(message, body, at, session);
  return prepare("GetSecrets", message);
}

function prepare(member: string, message: Buffer): PreparedCall {
  return { destination: SERVICE_NAME, member, message };
}

/** Copies the template with another path and space for a body. Returns the message and the body's offset. */
function fill(template: Buffer, path: string, bodySize: number): [Buffer, number] {
  const others = HEADER_SIZE + ROOT_FIELD_SIZE;
  const pathField = align(PATH_OFFSET - HEADER_SIZE + path.length + 1, 8);
  const body = HEADER_SIZE + pathField + (template.length - others);
  const message = Buffer.alloc(body + bodySize);
  message.set(template.subarray(0, PATH_OFFSET));
  message.set(template.subarray(others), HEADER_SIZE + pathField);
  message.writeUInt32LE(bodySize, BODY_LENGTH_OFFSET);
  message.writeUInt32LE(
    template.readUInt32LE(FIELDS_LENGTH_OFFSET) - ROOT_FIELD_SIZE + pathField,
    FIELDS_LENGTH_OFFSET,
  );
  message.writeUInt32LE(path.length, PATH_OFFSET - 4);
  message.write(path, PATH_OFFSET, "latin1");
  return [message, body];
}

function textEnd(offset: number, text: string): number {
  return Math.ceil(offset / 4) * 4 + 4 + Buffer.byteLength(text) + 1;
}

/** Writes a string or object path, aligned, and returns the offset after it, relative to the body. */
function writeText(message: Buffer, body: number, offset: number, text: string): number {
  const at = Math.ceil(offset / 4) * 4;
  const length = message.write(text, body + at + 4);
  message.writeUInt32LE(length, body + at);
  return at + 4 + length + 1;
}

export function align(offset: number, size: number): number {
  return Math.ceil(offset / size) * size;
}
