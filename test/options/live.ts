// Runs a program and waits for its output. A test's time limit ends each wait.
//
// Non-obvious: both streams are one pipe. Lines of two pipes would arrive in any order.
import { createMark } from "../support/processes.ts";
import { RT, type RtOptions, startRt } from "../support/rt.ts";

/** Windows has no shell that replaces itself. */
const JOINED = process.platform === "win32" ? [] : ["sh", "-c", 'exec "$0" "$@" 2>&1'];

export interface Live extends AsyncDisposable {
  readonly pid: number;
  /** Resolves with the next match in the output, searching from the end of the previous match. */
  see(pattern: RegExp | string): Promise<RegExpExecArray>;
  /** The output of both streams so far. */
  readonly output: string;
  readonly ended: Promise<number | string>;
  kill(signal?: NodeJS.Signals): void;
  /** Returns the number of processes in the program's process tree. */
  family(): number;
  /** Returns the process ids in the tree that have this command line. */
  running(command: string): number[];
  /** Returns the process ids of the tree, without the program itself. */
  others(): number[];
}

export function startLive({ program = [RT], ...options }: RtOptions): Live {
  const mark = createMark();
  const child = startRt({
    ...options,
    program: [...JOINED, ...program],
    env: { ...options.env, ...mark.env },
  });
  let output = "";
  let position = 0;
  let arrived = Promise.withResolvers<void>();
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      output += decoder.decode(chunk, { stream: true });
      arrived.resolve();
      arrived = Promise.withResolvers();
    }
  };
  const closed = Promise.all([read(child.stdout), read(child.stderr)]);
  const ended = closed.then(() => child.exited).then(() => child.signalCode ?? child.exitCode ?? -1);
  let isOver = false;
  void ended.then(() => {
    isOver = true;
    arrived.resolve();
  });
  return {
    pid: child.pid,
    async see(pattern) {
      const expression = typeof pattern === "string" ? new RegExp(RegExp.escape(pattern)) : pattern;
      for (;;) {
        const match = expression.exec(output.slice(position));
        if (match) {
          position += match.index + match[0].length;
          return match;
        }
        if (isOver) throw new Error(`${expression} was not seen before the end; the output is:\n${output}`);
        await arrived.promise;
      }
    },
    get output() {
      return output;
    },
    ended,
    kill: (signal = "SIGTERM") => child.kill(signal),
    family: () => mark.find().length,
    running: (command) => mark.find().flatMap((each) => (each.command === command ? [each.pid] : [])),
    others: () => mark.find().flatMap(({ pid }) => (pid === child.pid ? [] : [pid])),
    async [Symbol.asyncDispose]() {
      // A process that is starting now is found in the next round.
      do {
        mark.kill();
        await Promise.race([ended, Bun.sleep(5)]);
      } while (!isOver);
    },
  };
}
