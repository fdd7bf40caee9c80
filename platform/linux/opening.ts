// The first calls of every connection as bytes, marshalled by dbus-next while this program is bundled. So they
// are on their way before dbus-next itself is loaded, and the service computes its key meanwhile.
import { marshalOpening } from "./opening-macro.ts" with { type: "macro" };

const MESSAGES = marshalOpening();
export const PUBLIC_KEY_SIZE = 128;

export function helloMessage(): Buffer {
  return Buffer.from(MESSAGES.hello, "base64");
}

export function readAliasMessage(): Buffer {
  return Buffer.from(MESSAGES.readAlias, "base64");
}

/** OpenSession for an encrypted session; the key is the end of the message. */
export function openSessionMessage(publicKey: Uint8Array): Buffer {
  const message = Buffer.from(MESSAGES.openSession, "base64");
  message.set(publicKey, message.length - PUBLIC_KEY_SIZE);
  return message;
}
