// Connects to the editor that started the program, or started its parent process (see editor.ts).
//
// Non-obvious:
// - Under Node.js a separate process relays messages between two sockets; here the debugger's thread is connected to the socket.
// - A message ends with a NUL byte.
import { type Json, quiet } from "../engine-connection.ts";
import type { EditorOptions } from "./editor.ts";
import { type Client, openSession } from "../server/client.ts";
import type { DebuggedProgram } from "../server/session.ts";

export interface EditorLink {
  /** Sends the last messages before the program exits. */
  conclude(): Promise<void>;
}

export interface Introduction {
  readonly options: EditorOptions;
  /** Identifies the program to the editor, also as the parent of its child processes. */
  readonly id: string;
  readonly script: string;
  /** Process ID, working directory and versions. */
  readonly telemetry: Json;
  /** The debugger's address, in deferred mode. */
  readonly url?: string;
}

const END = "\0";

/** Connects the program to the editor. If the editor is unreachable, the program starts without it. */
export async function joinEditor(
  introduction: Introduction,
  socket: string,
  program: DebuggedProgram,
): Promise<EditorLink> {
  const { options } = introduction;
  try {
    return await (options.deferredMode
      ? announce(introduction, program)
      : link(introduction, socket, program));
  } catch {
    program.start();
    return { async conclude() {} };
  }
}

/** Announces the address to the editor, which responds with one byte: 0 if it will connect. */
async function announce(introduction: Introduction, program: DebuggedProgram): Promise<EditorLink> {
  const { options, id, script, telemetry, url } = introduction;
  const information = {
    ipcAddress: options.inspectorIpc,
    pid: `${process.pid}`,
    telemetry,
    scriptName: script,
    inspectorURL: url,
    waitForDebugger: true,
    ownId: id,
    openerId: options.openerId,
  };
  let isExpected = false;
  const startUnlessExpected = () => {
    if (!isExpected) program.start();
  };
  await Bun.connect({
    unix: options.inspectorIpc,
    socket: {
      open: (peer) => void peer.write(JSON.stringify(information) + END),
      data(peer, bytes) {
        isExpected = bytes[0] === 0;
        peer.end();
      },
      close: startUnlessExpected,
      error: startUnlessExpected,
    },
  });
  return { async conclude() {} };
}

async function link(
  { options, id, script }: Introduction,
  socket: string,
  program: DebuggedProgram,
): Promise<EditorLink> {
  const decoder = new TextDecoder();
  let rest = "";
  let client: Client | undefined;
  let opening: Promise<void> | undefined;
  let unsent = Buffer.alloc(0);
  const flush = () => {
    unsent = unsent.subarray(peer.write(unsent));
  };
  const send = (text: string) => {
    unsent = Buffer.concat([unsent, Buffer.from(text + END)]);
    flush();
  };
  const detach = () => {
    client?.close();
    client = undefined;
    program.start();
  };
  const receive = async (text: string): Promise<void> => {
    const { id: messageId, method, sessionId } = JSON.parse(text);
    const head = { id: messageId, ...(sessionId === undefined ? {} : { sessionId }) };
    if (method === "Target.attachToTarget") {
      client?.close();
      opening = openSession(socket, program, send, () => peer.end()).then((opened) => void (client = opened));
      await opening;
      send(JSON.stringify({ ...head, result: { sessionId: id } }));
    } else if (method === "Target.detachFromTarget") {
      detach();
      send(JSON.stringify({ ...head, result: {} }));
    } else {
      await opening;
      client?.receive(text);
    }
  };
  const peer = await Bun.connect({
    unix: options.inspectorIpc,
    socket: {
      data(_peer, bytes) {
        const texts = (rest + decoder.decode(bytes, { stream: true })).split(END);
        rest = texts.pop()!;
        for (const text of texts) void receive(text).catch(detach);
      },
      drain: flush,
      close: detach,
      error: detach,
    },
  });
  const targetInfo = {
    targetId: id,
    type: "waitingForDebugger",
    title: script,
    url: `file://${script}`,
    openerId: options.openerId,
    attached: true,
    canAccessOpener: false,
    processId: process.pid,
  };
  send(JSON.stringify({ method: "Target.targetCreated", params: { targetInfo } }));
  return {
    async conclude() {
      if (client) await quiet();
      client?.conclude();
      send(JSON.stringify({ method: "Target.targetDestroyed", params: { targetId: id, sessionId: id } }));
    },
  };
}
