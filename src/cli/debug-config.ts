// `rt debug-config <editor>`: writes the configuration with which an editor's own debugger for Node.js starts programs through
// rt, or attaches to one that was started with --inspect. None needs an extension that is made for rt.
//
// A file that is there is the user's: it is not touched, and what could be added to it is printed.
import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DEFAULT_PORT } from "../debugger/server/address.ts";
import { UsageError } from "../options/parse.ts";
import { oneLine } from "../printable.ts";

interface Configuration {
  /** Relative to the project, in a folder of its own. */
  readonly file: string;
  readonly text: string;
  /** What to add to a file that is there. */
  readonly addition: string;
  /** What to do now. */
  readonly advice: string;
}

const ATTACH = "rt: attach (rt --inspect ...)";
const toText = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** Looked for in PATH: the files are shared, so no path of one machine is in them. */
const RUNTIME = "rt";

/** The debugger that VS Code has of its own; others have it as vscode-js-debug, under the name of `type`. */
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
    // By its address: where ::1 refuses, the editor takes that for the answer.
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
  const place = { program: "$ZED_FILE", cwd: "$ZED_WORKTREE_ROOT" };
  const text = toText([
    { label: "rt: this file", ...common, request: "launch", runtimeExecutable: RUNTIME, ...place },
    { label: ATTACH, ...common, request: "attach", address: "127.0.0.1", port: DEFAULT_PORT },
  ]);
  return { file: ".zed/debug.json", text, addition: text, advice: "debugger: start in the editor offers it" };
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
  const advice = "js-debug-adapter, which is vscode-js-debug, has to be in PATH";
  return { file: ".helix/languages.toml", text, addition: text, advice };
}

const EDITORS: Readonly<Record<string, () => Configuration>> = {
  vscode: () => launchFile("node", "F5 in the editor starts the file at hand"),
  webstorm,
  zed,
  nvim: () => launchFile("pwa-node", "nvim-dap reads it, with vscode-js-debug as its adapter pwa-node"),
  helix,
};

const EDITOR_NAMES = Object.keys(EDITORS);

/** @returns what to tell the user, and whether it was done */
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
      `there are ${EDITOR_NAMES.map((name) => `rt debug-config ${name}`).join(", ")}`,
    );
  }
  const { file, text, addition, advice } = configure();
  const path = `${cwd}/${file}`;
  const folder = dirname(file);
  if (isThere(path))
    return {
      text: `${file} is there already; this is what to add to it:\n${addition.trimEnd()}`,
      isWritten: false,
    };
  try {
    mkdirSync(`${cwd}/${folder}`, { recursive: true });
    if (lstatSync(`${cwd}/${folder}`).isSymbolicLink())
      throw new UsageError(`Cannot write ${path}: ${folder} is a link`, "put a folder in its place");
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot write ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
  return { text: `Wrote ${file}; ${advice}${describeAbsence(searchPath)}`, isWritten: true };
}

/** Editors look for `rt` in PATH. */
function describeAbsence(searchPath: string): string {
  if (Bun.which(RUNTIME, { PATH: searchPath }) !== null) return "";
  return `\nrt is not in PATH, where the editor looks for it: add ${oneLine(dirname(process.execPath))}`;
}

/** A link that leads nowhere is there too: a project must not say where rt writes. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
