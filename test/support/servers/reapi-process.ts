// Runs the fake server of reapi-server.ts in a separate process, so that it can be killed with all its state.
//
// Started as a program, it prints its address, serves, and exits at the end of its input.
import { cleanEnvironment } from "../rt.ts";

export interface ReapiProcess extends AsyncDisposable {
  readonly port: number;
  /** Kills the server; its state is lost. */
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
