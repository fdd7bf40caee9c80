// Diagnoses why a Redis server cannot be used, over a plain socket without the client library.
//
// Invariants: the server's text is never printed, because an error may repeat the password.
import type { Socket } from "node:net";
import { oneLine } from "../printable.ts";
import type { RedisServer } from "./redis-connection.ts";

const TIMEOUT = 5000; // ms
const UNTRUSTED = /CERT|SIGNATURE|ALTNAME|ISSUER/;

/** Returns a predicate whose subject is the server; undefined if it responds correctly. */
export async function diagnoseRedis({ url, user, password }: RedisServer): Promise<string | undefined> {
  const { hostname, port, protocol, pathname } = new URL(url);
  const commands = [
    ...(password === "" ? [] : [["AUTH", ...(user === "" ? [] : [user]), password]]),
    ["PING"],
    ...(pathname.length > 1 ? [["SELECT", pathname.slice(1)]] : []),
  ];
  const host = hostname.replace(/^\[|\]$/g, "");
  const response = await sendCommands(protocol === "rediss:", host, Number(port), commands);
  if (typeof response === "string")
    return UNTRUSTED.test(response)
      ? `has an untrusted certificate (${oneLine(response)})`
      : `cannot be reached (${oneLine(response)})`;
  const errorLine = response.find((line) => line.startsWith("-"));
  if (errorLine === undefined)
    return response.length === commands.length && response.every((line) => line.startsWith("+"))
      ? undefined
      : "does not respond like a Redis server";
  if (/^-NOAUTH/.test(errorLine)) return "needs a password";
  if (/^-(?:WRONGPASS|ERR (?:AUTH|invalid password|Client sent AUTH))/.test(errorLine))
    return "rejected the password";
  if (/DB index/.test(errorLine)) return "has no database with that number";
  return "does not respond like a Redis server";
}

/** Returns the response lines, or an error code. */
async function sendCommands(
  isSecure: boolean,
  host: string,
  port: number,
  commands: readonly (readonly string[])[],
): Promise<readonly string[] | string> {
  const { connect } = process.getBuiltinModule(isSecure ? "node:tls" : "node:net");
  const { promise, resolve } = Promise.withResolvers<readonly string[] | string>();
  const options = isSecure ? { rejectUnauthorized: true, servername: host } : {};
  const socket = (connect as (options: object) => Socket)({ host, port, ...options });
  let text = "";
  const lines = () => text.split("\r\n").slice(0, -1);
  socket.setTimeout(TIMEOUT, () => resolve(text === "" ? "no response" : lines()));
  socket.on("error", (error: Error & { code?: string }) => resolve(error.code ?? error.name));
  socket.on("close", () => resolve(lines()));
  socket.on(isSecure ? "secureConnect" : "connect", () => {
    for (const words of commands)
      socket.write(
        `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`,
      );
  });
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    if (lines().length >= commands.length) resolve(lines());
  });
  const response = await promise;
  socket.destroy();
  return response;
}
