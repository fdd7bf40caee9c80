// The debugger's thread: it serves clients also while the program is paused, and is not part of the program.
import { announce, explainFailure } from "./server/announcement.ts";
import { type EditorLink, joinEditor } from "./editor/editor-link.ts";
import type { DebuggerLaunchConfig } from "./launch-config.ts";
import type { Backend, Json } from "./engine-connection.ts";
import { type Serving, serve } from "./server/server.ts";
import type { ClientSession } from "./server/session.ts";
import { removeAbandoned, removeSocket, takeSocket } from "./server/socket.ts";

interface ThreadTask {
  readonly config: DebuggerLaunchConfig;
  readonly title: string;
  readonly telemetry: Json;
  /** Identifies the program to an editor. */
  readonly id: string;
}

/** A call of a function that Runtime.addBinding has added to the program. */
interface ThreadCall {
  readonly binding: string;
  readonly payload: string;
}

/**
 * Messages to the thread: first the task, then "loaded" after rt's last module was loaded, then calls of bindings. Before the
 * program exits it sends a shared cell, which the thread sets after it has informed the clients.
 */
export type ThreadMessage = ThreadTask | "loaded" | ThreadCall | Int32Array<SharedArrayBuffer>;

export type ThreadReport = { readonly failure: string } | "start";

/** Listening address for an editor that connects to an address (deferred mode). */
const ANY_PORT = { hostnames: ["127.0.0.1"], port: 0 };

export function serveFromThread(): void {
  const scope = globalThis as unknown as Worker;
  const report = (text: ThreadReport) => scope.postMessage(text);
  let serving: Serving | undefined;
  let link: EditorLink | undefined;
  let socket: string | undefined;
  let starting: Promise<void> | undefined;
  const loaded = Promise.withResolvers<void>();
  const listeners = new Set<(name: string, payload: string) => void>();
  const sessions = new Set<ClientSession>();

  async function begin({ config, title, telemetry, id }: ThreadTask): Promise<void> {
    const { address, editor } = config;
    let { isWaiting } = config;
    const program = {
      title,
      stopsAtFirst: config.stopsAtFirst,
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
    socket = await takeSocket(config.socket, config.isRestart);
    // A client that connects while rt's modules load could pause in one of them.
    if (isWaiting) await loaded.promise;
    const listenAddress = address ?? (editor?.deferredMode ? ANY_PORT : undefined);
    if (listenAddress) serving = serve(listenAddress, socket, program);
    if (address) announce(address, serving!.urls);
    removeAbandoned(socket);
    if (!editor) return;
    const introduction = { options: editor, id, script: title, telemetry };
    const url = serving?.urls.chrome;
    link = await joinEditor(url === undefined ? introduction : { ...introduction, url }, socket, program);
  }

  async function conclude(isFlushed: Int32Array<SharedArrayBuffer>): Promise<void> {
    // The program may exit before the thread has started; its address is still announced.
    await starting;
    await serving?.conclude();
    await link?.conclude();
    if (socket !== undefined) await removeSocket(socket);
    Atomics.store(isFlushed, 0, 1);
    Atomics.notify(isFlushed, 0);
  }

  scope.onmessage = ({ data }: MessageEvent<ThreadMessage>) => {
    if (data === "loaded") return loaded.resolve();
    if ("binding" in data) {
      for (const listener of listeners) listener(data.binding, data.payload);
      return;
    }
    if (!("config" in data)) return void conclude(data);
    starting = begin(data).catch((error: unknown) =>
      report({ failure: explainFailure(data.config.address ?? ANY_PORT, error) }),
    );
  };
}
