// Compares where a program stops while a client steps through it with rt and with Node.js.
import { expect, test } from "bun:test";
import { findProgram } from "../../build/system-programs.ts";
import { RT } from "../support/rt.ts";
import { STEPPING_PROGRAMS } from "./stepping-programs.ts";
import { recordStops } from "./stepping-session.ts";

/** The major version. */
const NODE_VERSION = Number.parseInt(
  Bun.spawnSync([findProgram("node"), "-p", "process.versions.node"]).stdout.toString(),
  10,
);

test.each(STEPPING_PROGRAMS)(
  "rt stops where Node.js or the documentation says when a client steps through $name",
  async ({ source, sessions, differences = {} }) => {
    const record = async (program: string) =>
      Object.fromEntries(
        await Promise.all(
          sessions.map(async (commands) => [commands, await recordStops([program], source, commands)]),
        ),
      ) as Record<string, string>;
    const [node, rt] = await Promise.all([record(findProgram("node")), record(RT)]);
    expect(rt).toEqual({ ...node, ...differences });
    // Node.js 18 does not stop in a callback after an await, so it stops as rt does.
    if (NODE_VERSION < 20) return;
    // Remove a difference that no longer exists from the table and from docs/reference/debugger.md.
    for (const commands of Object.keys(differences)) expect(rt[commands]).not.toBe(node[commands]);
  },
);
