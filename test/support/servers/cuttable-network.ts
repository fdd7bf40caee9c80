// A network between rt and a server, which a test can cut.
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface CuttableNetwork extends Disposable {
  /** The port that rt connects to. */
  readonly port: number;
  /** Sets the server of new connections; existing ones are unchanged. */
  setTarget(port: number): void;
  /** Resets all connections. @param isLasting whether new connections fail too, until `mend` */
  cut(isLasting: boolean): void;
  mend(): void;
}

/** @param port the server's port on this machine */
export async function openCuttableNetwork(port: number): Promise<CuttableNetwork> {
  let target = port;
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (isCut) return void near.resetAndDestroy();
    const far = connect(target, "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("data", (chunk) => {
        if (!other.write(chunk)) socket.pause();
      });
      other.on("drain", () => socket.resume());
      socket.on("end", () => other.end());
      socket.on("error", () => {}); // "close" follows
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const drop = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    setTarget: (next) => void (target = next),
    cut(isLasting) {
      isCut = isLasting;
      drop();
    },
    mend: () => void (isCut = false),
    [Symbol.dispose]() {
      server.close();
      drop();
    },
  };
}
