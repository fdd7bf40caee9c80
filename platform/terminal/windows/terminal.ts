// Redacted programs on Windows: rt receives their output through pipes. A pseudo-console would redraw the output instead of passing
// it on, so it is not used.
//
// Non-obvious: a console's Ctrl-C reaches the program directly. The engine switch has one entry here, which the engine's preload
// removes (src/runtime/preload/internal-env-filter.ts).
import { errorReason } from "../../caught-error.ts";
import type { PreparedTerminal, TerminalOperations } from "../contract/terminal.ts";
import { originalEnvironment } from "../../processes/windows/environment.ts";
import { operations as trees } from "../../processes/windows/process-tree.ts";

const attend: PreparedTerminal["attend"] = ({ program, argv, environment, engine, serve, ...request }) => {
  try {
    const child = trees.startChild({
      program,
      argv,
      cwd: process.cwd(),
      env: { ...originalEnvironment(), ...environment, ...(engine && { BUN_BE_BUN: "1" }) },
      output: "separate",
      inheritStdin: true,
      onOutput: (bytes, isError) => request.onOutput(isError ? 2 : 1, bytes),
    });
    serve?.(child.pid);
    request.onStarting();
    const done = child.done.then(async (exit) => {
      request.onExit();
      await request.flush();
      return exit;
    });
    return { pid: child.pid, done, hangUp() {} };
  } catch (error) {
    return errorReason(error);
  }
};

export const operations: TerminalOperations = {
  hasTerminals: false,
  prepareTerminal: () => ({ attend, close() {} }),
};
