// D-Bus messages as bytes, by dbus-next. The only file that loads it, and late: 2 ms of modules are read while
// the service already works on what was sent before (see bus.ts).
import constants from "dbus-next/lib/constants.js";
import DBusBuffer from "dbus-next/lib/dbus-buffer.js";
import compat from "dbus-next/lib/marshall-compat.js";
import marshall from "dbus-next/lib/marshall.js";
import { Message } from "dbus-next/lib/message-type.js";
import message from "dbus-next/lib/message.js";
import { Variant } from "dbus-next/lib/variant.js";
import type { Call } from "./bus.ts";

export { marshall, Variant };
export const { MessageType } = constants;

export interface Incoming {
  type: number;
  sender?: string;
  path?: string;
  interface?: string;
  member?: string;
  errorName?: string;
  replySerial?: number;
  signature?: string;
  body: unknown[];
}

/** A method call as bytes; a body that is given as bytes is zeroed. */
export function encodeCall({ body, ...fields }: Call, serial: number): Uint8Array {
  if (!(body instanceof Uint8Array))
    return compat.marshallMessage(new Message({ ...fields, serial, body }))[0];
  // dbus-next marshals byte arrays one JavaScript object per byte, which is slow and litters the heap with
  // the secret; it makes the header alone and the length of the body is filled in.
  const { signature, ...others } = fields;
  const header = message.marshall(
    Object.assign(new Message({ ...others, serial }), { signature, body: undefined }),
  )[0];
  header.writeUInt32LE(body.length, 4);
  const bytes = Buffer.concat([header, body]);
  body.fill(0);
  return bytes;
}

/** One whole message; byte arrays in its body are views of `bytes`. */
export function decodeMessage(bytes: Buffer): Incoming {
  const reader = new DBusBuffer(bytes, 0, bytes[0]!, null, { ayBuffer: true });
  const header = reader.read("yyyyuua(yv)");
  const incoming: Incoming = { type: header[1] as number, body: [] };
  for (const [id, [, [value]]] of header[6] as [number, [unknown, [unknown]]][]) {
    Object.assign(incoming, { [constants.headerTypeName[id] ?? ""]: value });
  }
  if (incoming.signature) {
    reader.align(3);
    incoming.body = reader.read(incoming.signature);
  }
  return compat.messageToJsFmt(incoming);
}
