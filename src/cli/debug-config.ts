// `rt debug-config vscode`: writes .vscode/launch.json for the debugger that VS Code has of its own, which starts programs
// through rt, or attaches to one that was started with --inspect. It needs no extension.
//
// A launch.json that is there is the user's: it is not touched, and what could be added to it is printed.
import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { DEFAULT_PORT } from "../debugger/address.ts";
import { UsageError } from "../options/parse.ts";

function launchConfigurations(runtime: string): object[] {
  const launch = {
    type: "node",
    request: "launch",
    runtimeExecutable: runtime,
    program: "${file}",
    cwd: "${workspaceFolder}",
  };
  return [
    { name: "rt: this file", ...launch },
    { name: "rt: this file, stopped at its first line", ...launch, stopOnEntry: true },
    // By its address: where ::1 refuses, the editor takes that for the answer.
    {
      name: "rt: attach (rt --inspect ...)",
      type: "node",
      request: "attach",
      address: "127.0.0.1",
      port: DEFAULT_PORT,
      restart: true,
    },
  ];
}

/** @returns what to tell the user, and whether it was done */
export function writeDebugConfig(
  editor: string | undefined,
  cwd: string,
  runtime: string,
): { text: string; isWritten: boolean } {
  if (editor !== "vscode") {
    const problem = editor === undefined ? "No editor named" : `No debug configuration for "${editor}"`;
    throw new UsageError(problem, "write it as rt debug-config vscode");
  }
  const launch = { version: "0.2.0", configurations: launchConfigurations(runtime) };
  const file = ".vscode/launch.json";
  const path = `${cwd}/${file}`;
  if (isThere(path)) {
    const text = JSON.stringify(launch.configurations, null, 2);
    return {
      text: `${file} is there already; these are the configurations to add to it:\n${text}`,
      isWritten: false,
    };
  }
  try {
    mkdirSync(`${cwd}/.vscode`, { recursive: true });
    if (lstatSync(`${cwd}/.vscode`).isSymbolicLink())
      throw new UsageError(`Cannot write ${path}: .vscode is a link`, "put a folder in its place");
    writeFileSync(path, `${JSON.stringify(launch, null, 2)}\n`, { flag: "wx" });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot write ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
  return { text: `Wrote ${file}; F5 in the editor starts the file at hand`, isWritten: true };
}

/** A link that leads nowhere is there too: a project must not say where rt writes. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
