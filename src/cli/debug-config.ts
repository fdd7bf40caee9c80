// `rt debug-config vscode`: writes .vscode/launch.json for the editor's extension for this engine, which starts
// programs through rt, or attaches to one that was started with --inspect.
//
// A launch.json that is there is the user's: it is not touched, and what could be added to it is printed.
import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { UsageError } from "../options/parse.ts";

/** Where an editor attaches unless --inspect is told otherwise. */
const ADDRESS = "ws://127.0.0.1:6499/rt";

function launchConfigurations(runtime: string): object[] {
  const shared = { type: "bun", internalConsoleOptions: "neverOpen" };
  return [
    {
      ...shared,
      request: "launch",
      name: "rt: this file",
      runtime,
      program: "${file}",
      cwd: "${workspaceFolder}",
    },
    {
      ...shared,
      request: "launch",
      name: "rt: this file, stopped at its first line",
      runtime,
      program: "${file}",
      cwd: "${workspaceFolder}",
      stopOnEntry: true,
    },
    { ...shared, request: "attach", name: `rt: attach (rt --inspect=${ADDRESS.slice(5)} ...)`, url: ADDRESS },
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
  return { text: `Wrote ${file}; the editor needs the extension "oven.bun-vscode"`, isWritten: true };
}

/** A link that leads nowhere is there too: a project must not say where rt writes. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
