// Runs in the bundler, for opening.ts. Serial numbers and the key are filled in later.
import { encodeCall, Variant } from "./codec.ts";
import { DH_ALGORITHM, SERVICE_INTERFACE, SERVICE_NAME, SERVICE_PATH } from "./names.ts";

const BUS_NAME = "org.freedesktop.DBus";
const SERVICE = { destination: SERVICE_NAME, path: SERVICE_PATH, interface: SERVICE_INTERFACE };

export function marshalOpening(): Record<"hello" | "readAlias" | "openSession", string> {
  const hello = {
    destination: BUS_NAME,
    path: "/org/freedesktop/DBus",
    interface: BUS_NAME,
    member: "Hello",
  };
  const key = new Variant("ay", Buffer.alloc(128));
  const calls = {
    hello,
    readAlias: { ...SERVICE, member: "ReadAlias", signature: "s", body: ["default"] },
    openSession: { ...SERVICE, member: "OpenSession", signature: "sv", body: [DH_ALGORITHM, key] },
  };
  const text = (call: Parameters<typeof encodeCall>[0]) =>
    Buffer.from(encodeCall(call, 1)).toString("base64");
  return { hello: text(calls.hello), readAlias: text(calls.readAlias), openSession: text(calls.openSession) };
}
