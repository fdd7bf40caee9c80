// The thread that speaks with debuggers: it answers while the program stands still, and is no part of it.
import { announce, explainFailure } from "./server/announcement.ts";
import { type EditorLink, joinEditor } from "./editor/editor-link.ts";
import type { DebuggerLaunchConfig } from "./launch-config.ts";
import type { Backend, Json } from "./engine-connection.ts";
import { type Serving, serve } from "./server/server.ts";
import type { ClientSession } from "./server/session.ts";
import { removeAbandoned, removeSocket, takeSocket } from "./server/socket.ts";

interface ThreadTask {
  readonly order: DebuggerLaunchConfig;
  readonly title: string;
  readonly telemetry: Json;
  /** By which an editor knows the program. */
  readonly id: string;
}

/** Of what Runtime.addBinding has put into the program. */
interface ThreadCall {
  readonly binding: string;
  readonly payload: string;
}

/**
 * What it is told: first what to do, then that the program has loaded all that is not its own, what the program tells a
 * client, and last that it ends, with a cell to set when that was passed on.
 */
export type ThreadMessage = ThreadTask | "loaded" | ThreadCall | Int32Array<SharedArrayBuffer>;

export type Report = { readonly failure: string } | "start";

/** Where an editor connects that wants an address. */
const ANY_PORT = { hostnames: ["127.0.0.1"], port: 0 };

export function serveFromThread(): void {
  const scope = globalThis as unknown as Worker;
  const report = (text: Report) => scope.postMessage(text);
  let serving: Serving | undefined;
  let link: EditorLink | undefined;
  let socket: string | undefined;
  let beginning: Promise<void> | undefined;
  const loaded = Promise.withResolvers<void>();
  const listeners = new Set<(name: string, payload: string) => void>();
  const sessions = new Set<ClientSession>();

  async function begin({ order, title, telemetry, id }: ThreadTask): Promise<void> {
    const { address, editor } = order;
    let { isWaiting } = order;
    const program = {
      title,
      stopsAtFirst: order.stopsAtFirst,
      loaded: loaded.promise,
      listeners,
      sessions,
      parked: [] as Backend[],
      get isWaiting() {
        return isWaiting;
      },
      start() {
        isWaiting = false;
        report("start");
      },
    };
    socket = await takeSocket(order.socket, order.isAgain);
    // A module of rt's that is read while somebody debugs could be stopped in.
    if (isWaiting) await loaded.promise;
    const place = address ?? (editor?.deferredMode ? ANY_PORT : undefined);
    if (place) serving = serve(place, socket, program);
    if (address) announce(address, serving!.urls);
    removeAbandoned(socket);
    if (!editor) return;
    const introduction = { options: editor, id, script: title, telemetry };
    const url = serving?.urls.chrome;
    link = await joinEditor(url === undefined ? introduction : { ...introduction, url }, socket, program);
  }

  async function conclude(isTold: Int32Array<SharedArrayBuffer>): Promise<void> {
    // A program may be quicker than this thread, and its user wants to know where it could have been debugged.
    await beginning;
    await serving?.conclude();
    await link?.conclude();
    if (socket !== undefined) await removeSocket(socket);
    Atomics.store(isTold, 0, 1);
    Atomics.notify(isTold, 0);
  }

  scope.onmessage = ({ data }: MessageEvent<ThreadMessage>) => {
    if (data === "loaded") return loaded.resolve();
    if ("binding" in data) {
      for (const listener of listeners) listener(data.binding, data.payload);
      return;
    }
    if (!("order" in data)) return void conclude(data);
    beginning = begin(data).catch((error: unknown) =>
      report({ failure: explainFailure(data.order.address ?? ANY_PORT, error) }),
    );
  };
}
