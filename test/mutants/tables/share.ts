// Mutants of runs that several machines share.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/tasks/execution/replay.ts": [
    {
      fault: "what ran before the step that failed elsewhere has failed too",
      text: "index === failure?.last ? failure.code : 0",
      becomes: "failure?.code ?? 0",
      tests: ["share/share"],
    },
  ],
  "src/distributed/redis-scripts.ts": [
    {
      fault: "who has lost a script publishes over its successor",
      text: "if not holds(script, claim) then return 0 end",
      becomes: "",
      tests: ["share/board"],
    },
    {
      fault: "who has lost a script publishes when its successor has gone as well",
      text: "return not last or last == claim",
      becomes: "return true",
      tests: ["share/board"],
    },
    {
      fault: "a script is taken from who has it",
      text: "claim, 'NX', 'PX', ARGV[2]",
      becomes: "claim, 'PX', ARGV[2]",
      tests: ["share/board"],
    },
    {
      fault: "what is another's by now is given back",
      text: "if redis.call('GET', lock) == ARGV[at + 1] then",
      becomes: "if true then",
      tests: ["share/board"],
    },
  ],
  "src/distributed/redis-coordinator.ts": [
    {
      fault: "a machine with another plan takes part",
      text: "if (answer[0] !== plan)",
      becomes: "if (false)",
      tests: ["share/board", "share/refusals"],
    },
    {
      fault: "Ctrl-C waits for a server that is not there",
      text: "this.#end ??= setTimeout(() => this.#link.close(), LAST_WORDS);",
      becomes: "",
      tests: ["share/board"],
    },
    {
      fault: "an exit code may be one that is no failure",
      text: "code <= MOST_CODE &&",
      becomes: "",
      tests: ["share/board"],
    },
  ],
  "src/distributed/redis-connection.ts": [
    {
      fault: "a lost connection is the end of it",
      text: "if (!isOfConnection(error)) throw",
      becomes: "if (true) throw",
      tests: ["share/board"],
    },
    {
      fault: "a certificate is not looked at",
      text: "tls: { rejectUnauthorized: true }",
      becomes: "tls: { rejectUnauthorized: false }",
      tests: ["share/refusals"],
    },
  ],
  "src/tasks/leases/lease-scheduler.ts": [
    {
      fault: "nobody takes over from a machine that has died",
      text: "this.#timer = setTimeout(() => this.#look(), answer.left + MARGIN);",
      becomes: "",
      tests: ["share/share"],
    },
    {
      fault: "what was made too late counts on the machine that made it",
      text: "if (counts === false) return false;",
      becomes: "",
      tests: ["share/share"],
    },
    {
      fault: "every machine runs everything",
      text: "const isLocal = (each: Waiting) => each.isLocal || board.lost !== undefined;",
      becomes: "const isLocal = (_: Waiting) => true;",
      tests: ["share/share"],
    },
    {
      fault: "without its Redis a machine waits for ever",
      text: "each.isLocal || board.lost !== undefined",
      becomes: "each.isLocal",
      tests: ["share/share"],
    },
  ],
  "src/tasks/leases/critical-path-priority.ts": [
    {
      fault: "what waits for a script does not count",
      text: "durations[position]! + behind[position]!",
      becomes: "durations[position]!",
      tests: ["share/priority"],
    },
  ],
  "src/cache/leased-results.ts": [
    {
      fault: "what a script wrote when it failed is its machine's alone",
      text: "isThere = await cache.offer(",
      becomes: "isThere = await (async (..._: unknown[]) => false)(",
      tests: ["share/share"],
    },
  ],
} satisfies MutantTable;
