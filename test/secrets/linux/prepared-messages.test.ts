// The pre-encoded calls are the same as those of dbus-next.
import { expect, test } from "bun:test";
import { encodeCall } from "../../../platform/secrets/linux/dbus/dbus-encoder.ts";
import {
  ITEM_INTERFACE,
  SERVICE_INTERFACE,
  SERVICE_NAME,
  SERVICE_PATH,
} from "../../../platform/secrets/linux/dbus/dbus-names.ts";
import {
  prepareGetSecret,
  prepareGetSecrets,
  prepareSearchItems,
} from "../../../platform/secrets/linux/dbus/prepared-messages.ts";

const texts = ["", "a", "ab", "abc", "abcd", "abcdefg", "ümläut", "日本語", "🔑🔑", "x".repeat(255)];

test("SearchItems equals dbus-next's encoding for any lengths of the attributes", () => {
  for (const service of texts) {
    for (const account of texts) {
      const call = {
        destination: SERVICE_NAME,
        path: SERVICE_PATH,
        interface: SERVICE_INTERFACE,
        member: "SearchItems",
        signature: "a{ss}",
        body: [{ service, account }],
      };
      const { message } = prepareSearchItems(Object.entries({ service, account }));
      expect(message.toString("hex")).toBe(Buffer.from(encodeCall(call, 1)).toString("hex"));
    }
  }
});

test("GetSecret equals dbus-next's encoding for any lengths of the paths", () => {
  for (let length = 1; length < 20; length++) {
    for (let sessionLength = 1; sessionLength < 20; sessionLength++) {
      const path = `/${"p".repeat(length)}`;
      const session = `/${"s".repeat(sessionLength)}`;
      const call = {
        destination: SERVICE_NAME,
        path,
        interface: ITEM_INTERFACE,
        member: "GetSecret",
        signature: "o",
        body: [session],
      };
      const { message } = prepareGetSecret(path, session);
      expect(message.toString("hex")).toBe(Buffer.from(encodeCall(call, 1)).toString("hex"));
    }
  }
});

test("GetSecrets equals dbus-next's encoding for any number and lengths of the paths", () => {
  for (let count = 0; count < 6; count++) {
    for (let length = 1; length < 10; length++) {
      const items = Array.from({ length: count }, (_, index) => `/${"p".repeat(length + index)}`);
      const session = `/${"s".repeat(length)}`;
      const call = {
        destination: SERVICE_NAME,
        path: SERVICE_PATH,
        interface: SERVICE_INTERFACE,
        member: "GetSecrets",
        signature: "aoo",
        body: [items, session],
      };
      const { message } = prepareGetSecrets(items, session);
      expect(message.toString("hex")).toBe(Buffer.from(encodeCall(call, 1)).toString("hex"));
    }
  }
});
