// Implements `rt debug-config <editor>`: writes a configuration that lets the editor's Node.js debugger launch programs with rt,
// or attach to a program started with --inspect.
//
// Invariants:
// - An existing file is never changed: rt prints the configuration to add instead.
// - A path that is a symlink counts as existing, also a dangling one: a project must not redirect rt's writes.
import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorReason } from "../../platform/caught-error.ts";
import { DEFAULT_PORT } from "../debugger/server/address.ts";
import { UsageError } from "../options/parse.ts";
import { oneLine } from "../printable.ts";

interface Configuration {
  /** Path relative to the project, always in a subfolder. */
  readonly file: string;
  readonly text: string;
  /** Text to add to an existing file. */
  readonly addition: string;
  /** Next step for the user, appended to the success message. */
  readonly advice: string;
}

const ATTACH = "rt: attach (rt --inspect ...)";
const toText = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** A name that the editor searches in PATH. The files are shared through git, so they contain no machine-specific path. */
const RUNTIME = "rt";

/** @param type the adapter's name: "node" for VS Code's built-in debugger, "pwa-node" for vscode-js-debug in other editors */
function launchConfigurations(type: string): object[] {
  const launch = {
    type,
    request: "launch",
    runtimeExecutable: RUNTIME,
    program: "${file}",
    cwd: "${workspaceFolder}",
  };
  return [
    { name: "rt: this file", ...launch },
    { name: "rt: this file, stopped at its first line", ...launch, stopOnEntry: true },
    // Not "localhost": the editor gives up if ::1 refuses the connection.
    { name: ATTACH, type, request: "attach", address: "127.0.0.1", port: DEFAULT_PORT, restart: true },
  ];
}

function launchFile(type: string, advice: string): Configuration {
  const configurations = launchConfigurations(type);
  return {
    file: ".vscode/launch.json",
    text: toText({ version: "0.2.0", configurations }),
    addition: toText(configurations),
    advice,
  };
}

function zed(): Configuration {
  const common = { adapter: "JavaScript", type: "pwa-node" };
  const target = { program: "$ZED_FILE", cwd: "$ZED_WORKTREE_ROOT" };
  const text = toText([
    { label: "rt: this file", ...common, request: "launch", runtimeExecutable: RUNTIME, ...target },
    { label: ATTACH, ...common, request: "attach", address: "127.0.0.1", port: DEFAULT_PORT },
  ]);
  return {
    file: ".zed/debug.json",
    text,
    addition: text,
    advice: "run the command debugger: start in the editor",
  };
}

function webstorm(): Configuration {
  const text = `<component name="ProjectRunConfigurationManager">
  <configuration default="false" name="rt: attach" type="ChromiumRemoteDebugType" factoryName="Chromium Remote" port="${DEFAULT_PORT}" restartOnDisconnect="true">
    <method v="2" />
  </configuration>
</component>
`;
  const advice = 'start the program with rt --inspect, and debug "rt: attach"';
  return { file: ".run/rt.run.xml", text, addition: text, advice };
}

function helix(): Configuration {
  const debuggerOf = (language: string) => `[[language]]
name = "${language}"

[language.debugger]
name = "js-debug"
transport = "tcp"
command = "js-debug-adapter"
port-arg = "{} 127.0.0.1"

[[language.debugger.templates]]
name = "rt: a file"
request = "launch"
completion = [{ name = "file", completion = "filename" }]
args = { type = "pwa-node", program = "{0}", runtimeExecutable = ${JSON.stringify(RUNTIME)} }

[[language.debugger.templates]]
name = "${ATTACH}"
request = "attach"
completion = [{ name = "port", default = "${DEFAULT_PORT}" }]
args = { type = "pwa-node", address = "127.0.0.1", port = "{0}" }
`;
  const text = ["typescript", "javascript"].map(debuggerOf).join("\n");
  const advice = "add js-debug-adapter (vscode-js-debug) to PATH";
  return { file: ".helix/languages.toml", text, addition: text, advice };
}

const EDITORS: Readonly<Record<string, () => Configuration>> = {
  vscode: () => launchFile("node", "press F5 in the editor to debug the open file"),
  webstorm,
  zed,
  nvim: () => launchFile("pwa-node", "configure vscode-js-debug as the adapter pwa-node of nvim-dap"),
  helix,
};

const EDITOR_NAMES = Object.keys(EDITORS);

/**
 * @returns the message for the user, and whether the file was written
 * @throws UsageError for an unknown editor, or if the file cannot be written
 */
export function writeDebugConfig(
  editor: string | undefined,
  cwd: string,
  searchPath: string,
): { text: string; isWritten: boolean } {
  const configure = Object.hasOwn(EDITORS, editor ?? "") ? EDITORS[editor!]! : undefined;
  if (!configure) {
    const problem = editor === undefined ? "No editor named" : `No debug configuration for "${editor}"`;
    throw new UsageError(
      problem,
      `use one of: ${EDITOR_NAMES.map((name) => `rt debug-config ${name}`).join(", ")}`,
    );
  }
  const { file, text, addition, advice } = configure();
  const path = `${cwd}/${file}`;
  const folder = dirname(file);
  if (lstatSync(path, { throwIfNoEntry: false }))
    return {
      text: `${file} already exists; add this to it:\n${addition.trimEnd()}`,
      isWritten: false,
    };
  try {
    mkdirSync(`${cwd}/${folder}`, { recursive: true });
    if (lstatSync(`${cwd}/${folder}`).isSymbolicLink())
      throw new UsageError(`Cannot write ${path}: ${folder} is a symlink`, "replace it with a folder");
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot write ${path}: ${errorReason(error)}`);
  }
  return { text: `Wrote ${file}; ${advice}${describeMissingRuntime(searchPath)}`, isWritten: true };
}

function describeMissingRuntime(searchPath: string): string {
  if (Bun.which(RUNTIME, { PATH: searchPath }) !== null) return "";
  return `\nrt is not in PATH, where the editor searches for it: add ${oneLine(dirname(process.execPath))}`;
}
