// A program that keeps running, and what it prints, waited for word by word. A test's own time limit ends a wait.
import { createMark } from "../support/processes.ts";
import { type RtOptions, startRt } from "../support/rt.ts";

export interface Live extends AsyncDisposable {
  readonly pid: number;
  /** Resolves to the match of the next output that matches, from where the last wait ended. */
  see(pattern: RegExp | string): Promise<RegExpExecArray>;
  /** All output up to now, both streams. */
  readonly output: string;
  readonly ended: Promise<number | string>;
  kill(signal?: NodeJS.Signals): void;
  /** How many processes it and all that it started are. */
  family(): number;
  /** Those of them that run this command line. */
  running(command: string): number[];
  /** The numbers of those that it has started. */
  others(): number[];
}

export function startLive(options: RtOptions): Live {
  const mark = createMark();
  const child = startRt({ ...options, env: { ...options.env, ...mark.env } });
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
      // What is being started at this moment is found the next time.
      do {
        mark.kill();
        await Promise.race([ended, Bun.sleep(5)]);
      } while (!isOver);
    },
  };
}
