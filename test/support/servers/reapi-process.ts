// The server of reapi-server.ts in a process of its own, so that it can be killed with all that it has.
//
// Started as a program it serves, prints its address, and ends when its input does.
import { cleanEnvironment } from "../rt.ts";

export interface ReapiProcess extends AsyncDisposable {
  readonly port: number;
  /** It answers nothing any more, and what it had is lost. */
  kill(): Promise<void>;
}

export async function startReapiProcess(): Promise<ReapiProcess> {
  const child = Bun.spawn([process.execPath, import.meta.path], {
    env: cleanEnvironment(),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return { port: Number(new TextDecoder().decode(value)), kill, [Symbol.asyncDispose]: kill };
}

if (import.meta.main) {
  const { openReapiServer } = await import("./reapi-server.ts");
  console.log((await openReapiServer()).port);
  for await (const _ of Bun.stdin.stream());
  process.exit(0);
}
