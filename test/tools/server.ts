// Starts a server of a project, requests its first page and ends it with Ctrl-C.
import { createMark, endProcesses, waitUntil } from "../support/processes.ts";
import { type Environment, startRt } from "../support/rt.ts";

/** Milliseconds from Ctrl-C until the server must have ended. */
const MAX_SHUTDOWN = 30_000;

/** Returns a port that no process listens on. */
function findPort(): number {
  using server = Bun.listen({ hostname: "localhost", port: 0, socket: { data() {} } });
  return server.port;
}

/**
 * @returns the first page with a success status, or the server's output if it ended before; and whether all its processes
 * ended at Ctrl-C
 */
export async function visit(
  args: readonly string[],
  cwd: string,
  env: Environment,
): Promise<{ page: string; hasEnded: boolean }> {
  const port = `${findPort()}`;
  const mark = createMark();
  const server = startRt({ args, cwd, env: { ...env, ...mark.env, PORT: port } });
  const output = Promise.all([new Response(server.stdout).text(), new Response(server.stderr).text()]);
  let page: string | undefined;
  const request = async () => {
    const response = await fetch(`http://localhost:${port}/`).catch(() => undefined);
    const text = await response?.text();
    if (response?.ok) page = text;
    return page !== undefined || server.exitCode !== null || server.signalCode !== null;
  };
  await waitUntil(request);
  // Ctrl-C signals every process of the terminal's foreground group.
  mark.kill("SIGINT");
  const deadline = AbortSignal.timeout(MAX_SHUTDOWN);
  await waitUntil(() => mark.find().length === 0 || deadline.aborted);
  const hasEnded = mark.find().length === 0;
  for (const [name, value] of Object.entries(mark.env)) endProcesses(name, value);
  return { page: page ?? (await output).join(""), hasEnded };
}
