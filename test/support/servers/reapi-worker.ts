// Bazel's own worker for a test: an independent implementation of the Remote Execution API. It needs 490 MB of packages, which
// `npm run test:remote` installs.
import { join } from "node:path";
import { cleanEnvironment, REPOSITORY } from "../rt.ts";

export interface ReapiWorker extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startWorker(): Promise<ReapiWorker> {
  const script = join(REPOSITORY, "test/support/servers/reapi-worker.sh");
  const child = Bun.spawn([script, "--cache", join(REPOSITORY, ".toolchain/reapi-worker")], {
    env: cleanEnvironment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const reader = child.stdout.getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error("The worker does not start");
    text += new TextDecoder().decode(value);
  }
  const stop = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return { url: text.slice("ready ".length).trim(), stop, [Symbol.asyncDispose]: stop };
}
