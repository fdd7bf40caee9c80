// Sends DNS messages over TCP, as a task with permissions: each must be answered, or end the connection.
import { connect, type Socket } from "node:net";

const HEADER = [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
const nameOf = (name: string) => name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]);
const END = [0, 0, 1, 0, 1];
const VALID = [...HEADER, ...nameOf("api.acme.test"), ...END];

const frame = (message: readonly number[]) =>
  Buffer.from([message.length >> 8, message.length & 0xff, ...message]);
const change = (index: number, value: number) => VALID.map((byte, at) => (at === index ? value : byte));

function open(): Promise<Socket | undefined> {
  const socket = connect(53, "192.0.2.53");
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(socket));
    socket.on("error", () => resolve(undefined));
  });
}

async function ask(parts: readonly Buffer[]): Promise<string> {
  const socket = await open();
  if (!socket) return "refused";
  const result = new Promise<string>((resolve) => {
    socket.once("data", () => resolve("answered"));
    socket.once("close", () => resolve("closed"));
  });
  for (const part of parts) await new Promise<void>((resolve) => socket.write(part, () => resolve()));
  const text = await result;
  socket.destroy();
  return text;
}

const longName = Array.from({ length: 5 }, () => "a".repeat(60)).join(".");
const cases: Readonly<Record<string, readonly Buffer[]>> = {
  pointer: [frame([...HEADER, 0xc0, 12, ...END.slice(1)])],
  "long name": [frame([...HEADER, ...nameOf(`${longName}.cdn.test`), ...END])],
  "long message": [Buffer.from([0xff, 0xff])],
  "two questions": [frame(change(5, 2))],
  answer: [frame(change(2, 0x81))],
  nothing: [frame([])],
  valid: [frame(VALID)],
  "in two parts": [frame(VALID).subarray(0, 9), frame(VALID).subarray(9)],
};
for (const [name, parts] of Object.entries(cases)) console.log(`${name}: ${await ask(parts)}`);

const sockets: Socket[] = [];
for (let each = 0; each < 200; each += 1) {
  const socket = await open();
  if (socket) sockets.push(socket);
}
console.log(`200 connections: ${sockets.length <= 32 ? "some" : sockets.length} connected`);
await Promise.all(
  sockets.map(
    (socket) =>
      new Promise<void>((resolve) => {
        socket.once("close", () => resolve());
        // rt closes its end after this.
        socket.end();
        socket.resume();
      }),
  ),
);
console.log(`after these: ${await ask([frame(VALID)])}`);
