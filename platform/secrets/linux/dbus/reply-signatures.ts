// Expected D-Bus types of replies and properties. Other types are malformed.
import { BusFailure } from "./bus-failure.ts";
import { TypedValue } from "./dbus-decoder.ts";

const REPLIES: Readonly<Record<string, string>> = {
  // of the bus
  ...{
    Hello: "s",
    AddMatch: "",
    GetNameOwner: "s",
    StartServiceByName: "u",
    RequestName: "u",
    ReleaseName: "u",
    GetConnectionUnixProcessID: "u",
  },
  // of the secret service
  ...{ ReadAlias: "o", OpenSession: "vo", SearchItems: "aoao", Unlock: "aoo", Prompt: "" },
  ...{ CreateCollection: "oo", CreateItem: "oo", SetSecret: "", Delete: "o" },
  ...{ GetSecret: "(oayays)", GetSecrets: "a{o(oayays)}", Get: "v", GetAll: "a{sv}" },
  // of KWallet
  isOpen: "b",
};

const PROPERTIES: Readonly<Record<string, string>> = {
  ...{ Collections: "ao", Items: "ao", Label: "s", Locked: "b", Attributes: "a{ss}", Modified: "t" },
};

/** @throws a BusFailure if `signature` is not that of a reply to `member` */
export function checkReply(member: string, signature: string): void {
  if (signature !== REPLIES[member]) throw malformed(`a reply to ${member}`, `of type "${signature}"`);
}

/** Returns the value of a property. @throws a BusFailure for another type */
export function checkProperty(name: string, property: unknown): unknown {
  const { signature, value } = property as TypedValue;
  if (signature !== PROPERTIES[name]) throw malformed(`the property ${name}`, `of type "${signature}"`);
  return value;
}

export function malformed(what: string, how: string): BusFailure {
  return new BusFailure("malformed", `The secret service sent ${what} that is invalid (${how})`);
}
