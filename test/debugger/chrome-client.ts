// CDP client for tests. Line numbers refer to the file and count from 1.
import type { Debugger } from "../options/debugger.ts";
import { type Live, startLive } from "../options/live.ts";
import type { Project } from "../support/project.ts";
import type { Environment } from "../support/rt.ts";

export interface Debugged {
  readonly live: Live;
  readonly port: number;
  readonly url: string;
}

/** Starts rt and reads the debugger's address from its output. */
export async function startDebugged(
  project: Project,
  args: readonly string[],
  env: Environment = {},
): Promise<Debugged> {
  const live = startLive({ args: [...args], cwd: project.path, env });
  // The program's output may come first: the pattern consumes none of it.
  const announcement = /(?=[^]*?Debugger listening on (ws:\/\/\S+:(\d+)\/[-\da-f]{36})\n)/;
  const [, url, port] = await live.see(announcement);
  return { live, port: Number(port), url: url! };
}

/** Enables what every client enables. Like every client, it does not wait for the responses. */
export function enable(client: Debugger): void {
  void client.send("Runtime.enable");
  void client.send("Debugger.enable");
}

export async function setBreakpoint(
  client: Debugger,
  url: string,
  line: number,
  condition = "",
): Promise<any> {
  return await client.send("Debugger.setBreakpointByUrl", {
    url,
    lineNumber: line - 1,
    columnNumber: 0,
    condition,
  });
}

/** Returns the place of a pause as `function:line`. */
export function placeOf({ callFrames: [top] }: any): string {
  return `${top.functionName}:${top.location.lineNumber + 1}`;
}
