// Starting programs on Windows, which cannot replace a process: the child shares the console, rt waits and
// exits with its code.
//
// Surprising: console signals (Ctrl-C) reach the child by themselves, since it is attached to the same
// console; rt must only not die before it.
import type { ProcessOperations } from "../process-operations.ts";

const replace: ProcessOperations["replace"] = ({ program, argv, environment, engine = false }) => {
  const env: Record<string, string> = originalEnvironment();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  if (engine) env.BUN_BE_BUN = "1";
  process.on("SIGINT", () => {});
  try {
    const child = Bun.spawnSync([program, ...argv.slice(1)], {
      env,
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    });
    process.exit(child.exitCode ?? 1);
  } catch (error) {
    return (error as { code?: string }).code ?? "EXEC";
  }
};

const originalEnvironment: ProcessOperations["originalEnvironment"] = () =>
  Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

const dieOf: ProcessOperations["dieOf"] = (signal) =>
  128 + process.getBuiltinModule("node:os").constants.signals[signal];

const isTerminal: ProcessOperations["isTerminal"] = (descriptor) =>
  process.getBuiltinModule("node:tty").isatty(descriptor);

const inheritedDescriptors: ProcessOperations["inheritedDescriptors"] = () => [];

/** Not looked into: a pipe cannot be peeked at with what the engine offers. */
const isInputEmpty: ProcessOperations["isInputEmpty"] = () => false;

const exactArguments: ProcessOperations["exactArguments"] = (args) => args;

export const operations: ProcessOperations = {
  replace,
  originalEnvironment,
  dieOf,
  isTerminal,
  inheritedDescriptors,
  isInputEmpty,
  exactArguments,
  pathSeparator: ";",
  system: `${process.platform} ${process.arch}`,
};
