// Pretends to be the secret service on the same bus. `bun bus-forger.ts <address> <to> <what>` sends one client forged replies
// and signals, and prints "sent" when the bus has delivered them.
//
//   serials   replies to every serial number that the client may have used: nothing found, another value
//   <path>    reports that the prompt at this path was dismissed, and that the secret service has ended
import { Message, MessageType, sessionBus, Variant } from "dbus-next";

const [address = "", destination = "", what = ""] = process.argv.slice(2);
const bus = sessionBus({ busAddress: address.replace("unix:path=", "unix:socket=").replace(/,guid=.*/, "") });
await new Promise<void>((resolve) => bus.once("connect", resolve));

const forged = new Variant("ay", Buffer.alloc(128, 7));
const ANSWERS: readonly [string, unknown[]][] = [
  ["aoao", [[], []]],
  ["o", ["/"]],
  ["vo", [forged, "/org/freedesktop/secrets/session/forged"]],
  ["(oayays)", [["/forged", Buffer.alloc(0), Buffer.from("forged"), "text/plain"]]],
  ["v", [new Variant("b", false)]],
  ["s", [":1.0"]],
  ["", []],
];
if (what === "serials")
  for (let replySerial = 1; replySerial <= 64; replySerial++) {
    for (const [signature, body] of ANSWERS)
      bus.send(
        new Message({ type: MessageType.METHOD_RETURN, replySerial, destination, signature, body } as never),
      );
    const errorName = "org.freedesktop.DBus.Error.UnknownObject";
    bus.send(new Message({ type: MessageType.ERROR, replySerial, destination, errorName } as never));
  }
else {
  const signal = (path: string, on: string, member: string, signature: string, body: unknown[]) => {
    const message = Message.newSignal(path, on, member, signature, body);
    message.destination = destination;
    bus.send(message);
  };
  const completed = [true, new Variant("s", "")];
  signal(what, "org.freedesktop.Secret.Prompt", "Completed", "bv", completed);
  const gone = ["org.freedesktop.secrets", ":1.1", ""];
  signal("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss", gone);
}
// The bus delivers in order, so its reply proves that everything before was delivered.
const BUS = {
  destination: "org.freedesktop.DBus",
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
};
await bus.call(new Message({ ...BUS, member: "GetId" }));
console.log("sent");
bus.disconnect();
