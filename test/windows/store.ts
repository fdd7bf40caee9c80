// `rt.secrets`, `Bun.secrets` and Windows' own functions in the Windows binary, as objects of the test's own process.
import { join } from "node:path";
import type { Secrets } from "rt";
import type { raw } from "./raw-credentials.ts";
import type { Windows } from "../support/programs/windows.ts";

export interface WindowsStore extends AsyncDisposable {
  readonly secrets: Secrets;
  readonly bun: typeof Bun.secrets;
  /** Windows' own functions: see raw-credentials.ts. */
  readonly raw: typeof raw;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly isVoid?: boolean;
  readonly error?: { name: string; code: string; message: string; cause: unknown };
}

export function openStore(windows: Windows): WindowsStore {
  const agent = windows.path(join(import.meta.dir, "store-agent.ts"));
  const child = windows.start({ args: [agent], cwd: import.meta.dir, stdin: "pipe" });
  const waiting = new Map<number, (answer: Answer) => void>();
  let serial = 0;
  let hasEnded: Answer | undefined;

  async function listen(): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const answer = JSON.parse(line) as Answer;
        waiting.get(answer.id)!(answer);
        waiting.delete(answer.id);
      }
    }
    const error = {
      name: "Error",
      code: "",
      message: `The agent has ended: ${await new Response(child.stderr).text()}`,
      cause: null,
    };
    hasEnded = { id: 0, error };
    for (const settle of waiting.values()) settle(hasEnded);
  }
  void listen();

  async function request(store: string, method: string, args: readonly unknown[]): Promise<unknown> {
    const id = ++serial;
    const answer = await new Promise<Answer>((resolve) => {
      if (hasEnded) return resolve(hasEnded);
      waiting.set(id, resolve);
      void child.stdin.write(`${JSON.stringify({ id, store, method, args })}\n`);
      void child.stdin.flush();
    });
    if (answer.error)
      throw Object.assign(new Error(answer.error.message, { cause: answer.error.cause }), answer.error);
    return answer.isVoid ? undefined : answer.value;
  }

  const storeOf = (name: string, methods: readonly string[] = ["get", "set", "delete"]) =>
    Object.fromEntries(
      methods.map((method) => [method, (...args: unknown[]) => request(name, method, args)]),
    );
  return {
    secrets: storeOf("rt") as unknown as Secrets,
    bun: storeOf("bun") as unknown as typeof Bun.secrets,
    raw: storeOf("raw", ["write", "read", "delete", "list", "lock", "unlock"]) as unknown as typeof raw,
    async [Symbol.asyncDispose]() {
      void child.stdin.end();
      await child.exited;
    },
  };
}
