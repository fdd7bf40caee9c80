// Why a Redis cannot be used, in words: asks it once more, without a client between.
//
// Contract: what it answers is never shown: an error may repeat what it was sent, and that is the password.
import type { Socket } from "node:net";
import { oneLine } from "../printable.ts";
import type { RedisServer } from "./redis-connection.ts";

const PATIENCE = 5000; // ms
const UNTRUSTED = /CERT|SIGNATURE|ALTNAME|ISSUER/;

/** The end of a sentence that begins with the server; undefined where it answers as it should. */
export async function explainTrouble({ url, user, password }: RedisServer): Promise<string | undefined> {
  const { hostname, port, protocol, pathname } = new URL(url);
  const commands = [
    ...(password === "" ? [] : [["AUTH", ...(user === "" ? [] : [user]), password]]),
    ["PING"],
    ...(pathname.length > 1 ? [["SELECT", pathname.slice(1)]] : []),
  ];
  const host = hostname.replace(/^\[|\]$/g, "");
  const answer = await ask(protocol === "rediss:", host, Number(port), commands);
  if (typeof answer === "string")
    return UNTRUSTED.test(answer)
      ? `has a certificate that is not trusted here (${oneLine(answer)})`
      : `cannot be reached (${oneLine(answer)})`;
  const refused = answer.find((line) => line.startsWith("-"));
  if (refused === undefined)
    return answer.length === commands.length && answer.every((line) => line.startsWith("+"))
      ? undefined
      : "does not answer as a Redis does";
  if (/^-NOAUTH/.test(refused)) return "needs a password";
  if (/^-(?:WRONGPASS|ERR (?:AUTH|invalid password|Client sent AUTH))/.test(refused))
    return "does not accept the password";
  if (/DB index/.test(refused)) return "has no database of that number";
  return "does not answer as a Redis does";
}

/** Its lines, as many as it gives; or why there are none. */
async function ask(
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
  socket.setTimeout(PATIENCE, () => resolve(text === "" ? "no answer" : lines()));
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
  const answer = await promise;
  socket.destroy();
  return answer;
}
