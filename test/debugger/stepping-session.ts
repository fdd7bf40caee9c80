// Steps through a program with a CDP client and records where it stops.
import { pathToFileURL } from "node:url";
import { openDebugger } from "../options/debugger.ts";
import { startLive } from "../options/live.ts";
import { createProject } from "../support/project.ts";
import { enable, placeOf } from "./chrome-client.ts";

const METHODS: Readonly<Record<string, string>> = {
  over: "Debugger.stepOver",
  into: "Debugger.stepInto",
  out: "Debugger.stepOut",
};

/** A session with more stops does not end. */
const MAX_STOPS = 60;

/**
 * Returns the stops of a session as `function:line`, joined by spaces. A command repeats while the program stays on a line,
 * because the engines stop at different positions of a line. Other files, and the end of the module, at which only Node.js
 * stops, are left by stepping out.
 * @param program the engine's command: rt's, or Node.js'
 * @param commands separated by spaces; the last one repeats until the program ends
 */
export async function recordStops(
  program: readonly string[],
  source: string,
  commands: string,
): Promise<string> {
  await using project = await createProject({ "a.mjs": source });
  const args = ["--inspect-brk=127.0.0.1:0", "a.mjs"];
  await using live = startLive({ program: [...program], args, cwd: project.path });
  const [, address] = await live.see(/Debugger listening on (ws:\/\/\S+:\d+\/[-\da-f]{36})\n/);
  using client = await openDebugger(address!);
  enable(client);
  await client.send("Debugger.setAsyncCallStackDepth", { maxDepth: 8 });
  await client.send("Runtime.runIfWaitingForDebugger");
  const url = pathToFileURL(project.join("a.mjs")).href;
  const { scriptId } = await client.event("Debugger.scriptParsed", (script) => script.url === url);
  // Node.js 18 has no --inspect-wait.
  await client.event("Debugger.paused");
  void client.send("Debugger.resume");
  // A program that exits on a busy machine may end the connection without the event.
  const ends = [client.event("Runtime.executionContextDestroyed"), client.closed, live.ended];
  const end = Promise.race(ends).then(() => undefined);
  const stopAfter = async (method: string): Promise<any> => {
    void client.send(method);
    const stop = await Promise.race([client.event("Debugger.paused"), end]);
    return stop && !isInModule(stop.callFrames[0]) ? await stopAfter("Debugger.stepOut") : stop;
  };
  const endLine = source.split("\n").length - 1;
  const isInModule = ({ location }: any) => location.scriptId === scriptId && location.lineNumber < endLine;
  const lineOf = (stop: any) => `${stop.callFrames.length} ${placeOf(stop)}`;
  const words = commands.split(" ");
  const stops: string[] = [];
  let stop = await client.event("Debugger.paused");
  for (let index = 0; stop && stops.length < MAX_STOPS; index += 1) {
    stops.push(placeOf(stop));
    const line = lineOf(stop);
    do stop = await stopAfter(METHODS[words[index] ?? words.at(-1)!]!);
    while (stop && lineOf(stop) === line);
  }
  return stops.filter((each, index) => each !== stops[index - 1]).join(" ");
}
