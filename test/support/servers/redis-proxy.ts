// A proxy for a real Redis, which answers some commands with an error of the test.
import type { Socket } from "bun";

export interface RefusingProxy extends AsyncDisposable {
  readonly url: string;
  /** Number of rejected commands since the last `refuse`. */
  readonly refused: number;
  /** Sets the error for the next EVAL commands. */
  refuse(error: string, times: number): void;
}

interface Pair {
  redis?: Promise<Socket>;
}

export function openRefusingProxy(port: number): RefusingProxy {
  let error = "";
  let left = 0;
  let refused = 0;
  const server = Bun.listen<Pair>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(client) {
        const redis = Bun.connect({
          hostname: "127.0.0.1",
          port,
          socket: {
            data: (_, bytes) => void client.write(bytes),
            close: () => void client.end(),
          },
        });
        client.data = { redis };
      },
      async data(client, bytes) {
        if (left > 0 && bytes.includes("EVAL")) {
          left -= 1;
          refused += 1;
          client.write(`-${error}\r\n`);
          return;
        }
        (await client.data.redis!).write(bytes);
      },
      close: (client) => void client.data.redis?.then((redis) => redis.end()),
    },
  });
  return {
    url: `redis://127.0.0.1:${server.port}`,
    get refused() {
      return refused;
    },
    refuse(text, times) {
      error = text;
      left = times;
      refused = 0;
    },
    async [Symbol.asyncDispose]() {
      server.stop(true);
    },
  };
}
