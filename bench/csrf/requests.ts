// Measures requests per second of a form server that verifies and issues a token for each request. The comparisons are the same
// server without tokens, and with Bun.CSRF.
//
// Each server is a separate process. They are loaded in turn, in short batches. The sockets only send the next request after a
// complete response.
//
// The server is saturated and does nothing else, so this is the largest possible overhead. A page that takes a millisecond loses
// a hundredth of it.
import { join } from "node:path";
import { RT } from "../../test/support/rt.ts";
import type { Figure } from "../row.ts";
import { median } from "./alternating-samples.ts";

const CONNECTIONS = 16;
const BATCH = 4000;
const ROUNDS = 31;
const GOAL = 0.95;

interface FormServer extends AsyncDisposable {
  /** Returns the responses per second over one batch. */
  load(requests: number): Promise<number>;
}

async function openFormServer(program: string, mode: "rt" | "plain" | "bun"): Promise<FormServer> {
  const child = Bun.spawn([program, join(import.meta.dir, "form-server.ts"), mode], { stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  const { port, session, token } = JSON.parse(new TextDecoder().decode(value));
  const body = `csrf=${token}&message=hello`;
  const request = Buffer.from(
    [
      "POST / HTTP/1.1",
      `host: 127.0.0.1:${port}`,
      `cookie: session=${session}`,
      "content-type: application/x-www-form-urlencoded",
      `content-length: ${body.length}`,
      "",
      body,
    ].join("\r\n"),
  );
  return {
    async load(requests) {
      let [sent, answered] = [0, 0];
      let answerBytes = 0;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const send = (socket: Bun.Socket<{ pending: number }>) => {
        if (sent === requests) return;
        sent++;
        socket.write(request);
      };
      const sockets = await Promise.all(
        Array.from({ length: CONNECTIONS }, () =>
          Bun.connect<{ pending: number }>({
            hostname: "127.0.0.1",
            port,
            data: { pending: 0 },
            socket: {
              data(socket, chunk) {
                if (answerBytes === 0) {
                  // All responses have the same length. The first one arrives in one piece here, so it defines the length.
                  if (!chunk.subarray(0, 15).toString().startsWith("HTTP/1.1 200 OK")) {
                    return reject(new Error(`The server answered ${chunk.subarray(0, 40)}`));
                  }
                  answerBytes = chunk.length;
                }
                socket.data.pending += chunk.length;
                if (socket.data.pending < answerBytes) return;
                socket.data.pending -= answerBytes;
                answered++;
                if (answered === requests) resolve();
                else send(socket);
              },
              error: (_, error) => reject(error),
              close: () => reject(new Error("The server closed a connection")),
            },
          }),
        ),
      );
      const start = Bun.nanoseconds();
      sockets.forEach(send);
      await promise;
      const seconds = (Bun.nanoseconds() - start) / 1e9;
      for (const socket of sockets) socket.terminate();
      return requests / seconds;
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

/** Starts the compiled program's server, or another program's. */
export async function measure(program = RT): Promise<Figure[]> {
  await using plain = await openFormServer(program, "plain");
  await using withRt = await openFormServer(program, "rt");
  await using withBun = await openFormServer(program, "bun");
  const servers = [plain, withRt, withBun];
  const rates: [number[], number[], number[]] = [[], [], []];
  for (const server of servers) await server.load(BATCH * 3);
  for (let round = 0; round < ROUNDS; round++) {
    for (let turn = 0; turn < servers.length; turn++) {
      const index = (turn + round) % servers.length;
      rates[index]!.push(await servers[index]!.load(BATCH));
    }
  }
  const row = (figure: string, guarded: number[], goal: number | undefined): Figure => {
    const ratio = median(guarded.map((rate, round) => rate / rates[0][round]!));
    return {
      figure,
      ours: `${Math.round(median(guarded))} requests/s`,
      peer: `without ${Math.round(median(rates[0]))} requests/s`,
      ratio,
      goal: goal === undefined ? "" : `>= ${goal}`,
      met: goal === undefined || ratio >= goal,
    };
  };
  return [
    row("Form server, a token checked and issued per request", rates[1], GOAL),
    row("The same with Bun.CSRF", rates[2], undefined),
  ];
}

if (import.meta.main) {
  // The program that serves: `bun bench/csrf/requests.ts [program]`, by default the compiled one.
  console.table((await measure(process.argv[2])).map((row) => ({ ...row, ratio: row.ratio.toFixed(3) })));
}
