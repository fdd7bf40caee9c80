// Compares where a program stops while a client steps through it with rt and with Node.js.
import { expect, test } from "bun:test";
import { findProgram } from "../../build/system-programs.ts";
import { RT } from "../support/rt.ts";
import { STEPPING_PROGRAMS } from "./stepping-programs.ts";
import { recordStops } from "./stepping-session.ts";

const SESSIONS = STEPPING_PROGRAMS.flatMap(({ name, source, sessions, differences }) =>
  sessions.map((commands) => ({ name, source, commands, difference: differences?.[commands] })),
);

test.each(SESSIONS)(
  "rt stops where Node.js stops in $name, stepped by: $commands",
  async ({ source, commands, difference }) => {
    const [node, rt] = await Promise.all([
      recordStops([findProgram("node")], source, commands),
      recordStops([RT], source, commands),
    ]);
    expect(rt).toBe(difference ?? node);
    // A difference that no longer exists is removed from the table and from the documentation.
    if (difference !== undefined) expect(rt).not.toBe(node);
  },
);
