// A server that is started as a user would, asked for its first page and ended.
import { createMark, endProcesses, waitUntil } from "../support/processes.ts";
import { type Environment, startRt } from "../support/rt.ts";

/** How long it may take to end, in milliseconds. */
const PATIENCE = 30_000;

/** One that nobody listens at. */
function findPort(): number {
  using server = Bun.listen({ hostname: "localhost", port: 0, socket: { data() {} } });
  return server.port;
}

/**
 * @returns its first page that is no failure, or what it said where it ended before; and whether everything that was started
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
  const said = Promise.all([new Response(server.stdout).text(), new Response(server.stderr).text()]);
  let page: string | undefined;
  const ask = async () => {
    const answer = await fetch(`http://localhost:${port}/`).catch(() => undefined);
    const text = await answer?.text();
    if (answer?.ok) page = text;
    return page !== undefined || server.exitCode !== null || server.signalCode !== null;
  };
  await waitUntil(ask);
  // Ctrl-C reaches all of them.
  mark.kill("SIGINT");
  const deadline = AbortSignal.timeout(PATIENCE);
  await waitUntil(() => mark.find().length === 0 || deadline.aborted);
  const hasEnded = mark.find().length === 0;
  for (const [name, value] of Object.entries(mark.env)) endProcesses(name, value);
  return { page: page ?? (await said).join(""), hasEnded };
}
