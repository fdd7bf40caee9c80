// Encodes D-Bus messages with dbus-next. It is the only module that loads dbus-next (2 ms), and is loaded only for a call that was not
// prepared (prepared-messages.ts).
import compat from "dbus-next/lib/marshall-compat.js";
import marshall from "dbus-next/lib/marshall.js";
import { Message } from "dbus-next/lib/message-type.js";
import message from "dbus-next/lib/message.js";
import { Variant } from "dbus-next/lib/variant.js";

export { marshall, Variant };

export interface DBusCall {
  destination: string;
  path: string;
  interface: string;
  member: string;
  signature?: string;
  /** Values for dbus-next, or a marshalled body. */
  body?: unknown[] | Uint8Array;
}

/** Encodes a method call. Zeroizes a body that is passed as bytes. */
export function encodeCall({ body, ...fields }: DBusCall, serial: number): Uint8Array {
  if (!(body instanceof Uint8Array))
    return compat.marshallMessage(new Message({ ...fields, serial, body }))[0];
  // dbus-next marshals a byte array as one object per byte, which is slow and leaves copies of the secret in the heap. So it encodes
  // the header only, and the body's length is set here.
  const { signature, ...others } = fields;
  const header = message.marshall(
    Object.assign(new Message({ ...others, serial }), { signature, body: undefined }),
  )[0];
  header.writeUInt32LE(body.length, 4);
  const bytes = Buffer.concat([header, body]);
  body.fill(0);
  return bytes;
}
