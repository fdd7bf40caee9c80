// Encodes messages at build time, for prepared-messages.ts, as base64 without serial numbers.
import { encodeCall, Variant } from "./dbus-encoder.ts";
import {
  BUS_NAME,
  BUS_PATH,
  DH_ALGORITHM,
  ITEM_INTERFACE,
  NO_OBJECT,
  SERVICE_INTERFACE,
  SERVICE_NAME,
  SERVICE_PATH,
} from "./dbus-names.ts";

const BUS = { destination: BUS_NAME, path: BUS_PATH, interface: BUS_NAME };
const SERVICE = { destination: SERVICE_NAME, path: SERVICE_PATH, interface: SERVICE_INTERFACE };
const ITEM = { destination: SERVICE_NAME, path: NO_OBJECT, interface: ITEM_INTERFACE };

const CALLS = {
  hello: { ...BUS, member: "Hello" },
  watchOwner: {
    ...BUS,
    member: "AddMatch",
    signature: "s",
    body: [
      `type='signal',sender='${BUS_NAME}',interface='${BUS_NAME}',member='NameOwnerChanged',arg0='${SERVICE_NAME}'`,
    ],
  },
  getOwner: { ...BUS, member: "GetNameOwner", signature: "s", body: [SERVICE_NAME] },
  readAlias: { ...SERVICE, member: "ReadAlias", signature: "s", body: ["default"] },
  openSession: {
    ...SERVICE,
    member: "OpenSession",
    signature: "sv",
    body: [DH_ALGORITHM, new Variant("ay", Buffer.alloc(128))],
  },
  // Without a body, and for the root object: both are set at run time.
  searchItems: {
    ...SERVICE,
    path: NO_OBJECT,
    member: "SearchItems",
    signature: "a{ss}",
    body: new Uint8Array(0),
  },
  getSecrets: {
    ...SERVICE,
    path: NO_OBJECT,
    member: "GetSecrets",
    signature: "aoo",
    body: new Uint8Array(0),
  },
  getSecret: { ...ITEM, member: "GetSecret", signature: "o", body: new Uint8Array(0) },
};

export function marshalCalls(): Record<keyof typeof CALLS, string> {
  const messages = Object.entries(CALLS).map(([name, call]) => [
    name,
    Buffer.from(encodeCall(call, 1)).toString("base64"),
  ]);
  return Object.fromEntries(messages) as Record<keyof typeof CALLS, string>;
}
