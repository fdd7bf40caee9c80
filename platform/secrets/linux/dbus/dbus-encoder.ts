// D-Bus messages to be sent as bytes, by dbus-next. The only file that loads it, and only when a call is made that was
// not prepared (prepared-messages.ts): its modules take 2 ms. What comes in is read by dbus-decoder.ts.
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
  /** Values for dbus-next, or a body that is already marshalled. */
  body?: unknown[] | Uint8Array;
}

/** A method call as bytes; a body that is given as bytes is zeroed. */
export function encodeCall({ body, ...fields }: DBusCall, serial: number): Uint8Array {
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
