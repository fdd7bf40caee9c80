// A program whose output comes to rt first, on Windows: through pipes. A console that rt made would give its output as a
// picture drawn anew, not as it was written, so there is none.
//
// Surprising: a console's Ctrl-C reaches the program by itself. The engine's switch has one entry here, which its own
// preload takes away (src/runtime/preload/internal-env-filter.ts).
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
  openStage: () => ({ attend, close() {} }),
};
