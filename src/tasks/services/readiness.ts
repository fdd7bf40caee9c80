// Decides when a service is ready, by its `ready` key. Without it, a service is ready when its process tree listens on a
// TCP port or a Unix socket that nothing listened on before.
//
// Invariants:
// - A port or URL that answers before the start belongs to another program, so it never counts.
// - A tree that listens is ready when its processes sleep, because some servers listen before they can answer. That is
//   waited for at most SETTLE_TIME.
import { listeningSockets } from "../../../platform/processes/listening-sockets.ts";
import type { Child, TreeMember } from "../../../platform/processes/contract/process-tree.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { ReadyRule } from "../../config/tasks/service-row.ts";
import { oneLine } from "../../printable.ts";
import type { SpawnCommand } from "../task.ts";
import type { OutputTail } from "./output-tail.ts";
import { acceptsConnections, isSuccess, requestStatus, runProbe } from "./probes.ts";

/** A check of one start of a service. */
export interface Readiness {
  /** For people, after "waited for". */
  readonly awaited: string;
  /** Called before the service starts. Returns why it can never be ready. */
  findObstacle(): Promise<string | undefined>;
  /** Returns what shows that the service is ready, for people; undefined if it is not. */
  probe(child: Child): Promise<string | undefined>;
}

export interface ReadinessContext {
  readonly command: SpawnCommand;
  readonly tail: OutputTail;
  /** Marker variable of the service's processes, and of the programs that check it. */
  readonly family: string;
  readonly probeFamily: string;
}

const SETTLE_TIME = 1000; // ms

export function createReadiness(rule: ReadyRule, context: ReadinessContext): Readiness {
  const { port, log, http, command } = rule;
  if (port !== undefined) return awaitPort(port);
  if (log !== undefined) return awaitLog(log, context.tail);
  if (http !== undefined) return awaitHttp(http);
  return command === undefined ? awaitListening(context.family) : awaitCommand(command, context);
}

function awaitPort(port: number): Readiness {
  return {
    awaited: `a connection to port ${port}`,
    findObstacle: async () =>
      (await acceptsConnections(port)) ? `Port ${port} is in use by another program` : undefined,
    probe: async () => ((await acceptsConnections(port)) ? `port ${port}` : undefined),
  };
}

function awaitLog(text: string, tail: OutputTail): Readiness {
  return {
    awaited: `"${oneLine(text)}" in its output`,
    findObstacle: async () => undefined,
    probe: async () => (tail.isFound ? `"${oneLine(text)}"` : undefined),
  };
}

function awaitHttp(url: string): Readiness {
  const shown = oneLine(url);
  let last: number | undefined;
  return {
    get awaited() {
      return `${shown}${last === undefined ? "" : `, which answers with status ${last}`}`;
    },
    async findObstacle() {
      return isSuccess(await requestStatus(url)) ? `Another program answers at ${shown}` : undefined;
    },
    async probe() {
      last = await requestStatus(url);
      return isSuccess(last) ? shown : undefined;
    },
  };
}

function awaitCommand(argv: readonly string[], { command, probeFamily }: ReadinessContext): Readiness {
  const shown = oneLine(argv.join(" "));
  let last: number | string | undefined;
  return {
    get awaited() {
      if (typeof last === "string") return `"${shown}" (${oneLine(last)})`;
      return `"${shown}"${last === undefined ? "" : `, which exits with code ${last}`}`;
    },
    findObstacle: async () => undefined,
    async probe() {
      last = await runProbe(argv, command, probeFamily);
      return last === 0 ? `"${shown}"` : undefined;
    },
  };
}

function awaitListening(family: string): Readiness {
  let before: ReadonlySet<string> = new Set();
  let found: number | undefined;
  let members = "";
  const isSettled = (tree: readonly TreeMember[]) => {
    const known = members;
    members = tree.map(({ pid }) => pid).join(" ");
    return members === known && !tree.some(({ isBusy }) => isBusy);
  };
  return {
    awaited: "a TCP port or Unix socket on which it listens",
    async findObstacle() {
      if (!listeningSockets) return "This system does not show when it listens";
      before = listeningSockets.listIds();
      return undefined;
    },
    async probe(child) {
      const tree = trees.listMembers([child], [family]);
      const sockets = listeningSockets!.find(tree.map(({ pid }) => pid)).filter(({ id }) => !before.has(id));
      if (sockets.length === 0) {
        found = undefined;
        return undefined;
      }
      found ??= performance.now();
      if (!isSettled(tree) && performance.now() - found < SETTLE_TIME) return undefined;
      return [...new Set(sockets.map(({ name }) => oneLine(name)))].join(", ");
    },
  };
}
