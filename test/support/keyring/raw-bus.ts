// A session bus and a secret service in one socket. A test can alter each byte that it sends, which a real bus would reject. It
// has one credential and only `plain` sessions.
//
//   await using bus = await startRawBus({ value: "value" });
//   bus.alter = (member, reply) => (member === "SearchItems" ? [reply.subarray(0, 20)] : [reply]);
//   await runRt({ args: ["secrets", "get", "any", "name"], env: bus.env });
import { createServer, type Socket } from "node:net";
import { Variant } from "dbus-next";
import compat from "dbus-next/lib/marshall-compat.js";
import { Message } from "dbus-next/lib/message-type.js";
import { encodeSecret } from "../../../platform/secrets/linux/session.ts";
import { measureMessage, readHeader } from "../../../platform/secrets/linux/dbus/dbus-decoder.ts";
import { createProject } from "../project.ts";

const BUS = "org.freedesktop.DBus";
const SERVICE = ":1.2";
const SESSION = "/org/freedesktop/secrets/session/s1";
const ITEM = "/org/freedesktop/secrets/collection/login/1";

export interface RawBus extends AsyncDisposable {
  readonly env: Record<string, string>;
  /** Returns the bytes to send instead of a reply, in chunks. */
  alter(member: string, reply: Buffer): readonly Buffer[];
  /** Called with each connection and message. */
  heard(socket: Socket, member: string): void;
}

export interface RawBusOptions {
  readonly value: string;
  readonly greeting?: string;
}

/** Encodes a message; fields have dbus-next's names. */
export function marshal(fields: Record<string, unknown>): Buffer {
  return compat.marshallMessage(new Message({ serial: 1, ...fields } as never))[0];
}

export async function startRawBus({ value, greeting = "OK 0\r\n" }: RawBusOptions): Promise<RawBus> {
  const project = await createProject();
  const path = project.join("bus");
  // dbus-next takes a second for each megabyte.
  const nothing = new Uint8Array(0);
  const session = { path: SESSION, key: undefined, isProven: true };
  const secret = await encodeSecret(session, Buffer.from(value), nothing, nothing);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}); // the client may have disconnected
    socket.on("close", () => sockets.delete(socket));
    let received: Buffer = Buffer.alloc(0);
    let isGreeted = false;
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const begin = received.indexOf("BEGIN\r\n");
      if (!isGreeted && begin < 0) return;
      if (!isGreeted) {
        isGreeted = true;
        received = received.subarray(begin + 7);
        socket.write(greeting);
      }
      while (received.length >= 16 && received.length >= measureMessage(received).whole) {
        const { whole } = measureMessage(received);
        const { member = "" } = readHeader(received);
        const isEncrypted = received.subarray(0, whole).includes("dh-ietf1024");
        const fields = answer(isEncrypted ? "" : member);
        let reply = marshal({ ...fields, replySerial: received.readUInt32LE(8) });
        if (member === "GetSecret") {
          reply = Buffer.concat([reply.subarray(0, measureMessage(reply).header), secret]);
          reply.writeUInt32LE(secret.length, 4);
        }
        received = received.subarray(whole);
        bus.heard(socket, member);
        for (const piece of bus.alter(member, reply)) socket.write(piece);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const bus: RawBus = {
    env: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` },
    alter: (_member, reply) => [reply],
    heard: () => {},
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await project[Symbol.asyncDispose]();
    },
  };
  return bus;
}

function answer(member: string): Record<string, unknown> {
  const ofBus = (signature: string, body: unknown[]) => ({ type: 2, sender: BUS, signature, body });
  const reply = (signature: string, body: unknown[]) => ({ type: 2, sender: SERVICE, signature, body });
  switch (member) {
    case "Hello":
      return ofBus("s", [":1.5"]);
    case "AddMatch":
      return ofBus("", []);
    case "GetNameOwner":
      return ofBus("s", [SERVICE]);
    case "ReadAlias":
      return reply("o", ["/org/freedesktop/secrets/collection/login"]);
    case "OpenSession":
      return reply("vo", [new Variant("s", ""), SESSION]);
    case "SearchItems":
      return reply("aoao", [[ITEM], []]);
    case "GetSecret":
      return reply("(oayays)", [[SESSION, Buffer.alloc(0), Buffer.alloc(0), ""]]);
    case "SetSecret":
      return reply("", []);
    case "Get":
      return reply("v", [new Variant("b", false)]);
    default:
      return {
        type: 3,
        sender: SERVICE,
        errorName: `${BUS}.Error.UnknownMethod`,
        signature: "s",
        body: [member],
      };
  }
}
