// What an editor leaves in the environment of what it starts, in the words of VS Code's debugger: VSCODE_INSPECTOR_OPTIONS.
// Node.js reads it by a script that NODE_OPTIONS names; rt reads it itself, so that "Run and Debug", the JavaScript Debug
// Terminal and auto-attach work for what rt runs.
//
// Contract: the same programs are joined as with Node.js. Of a value that cannot be read, or an editor that is gone, a
// program notices nothing.
//
// Surprising: the engine's own modules are asked for where an editor is, since a start without one would load them too.

/** Several are joined by this; the last counts. */
const SEPARATOR = ":::";

/** As VS Code writes them; what a program gets besides is passed on to what it starts. */
export interface EditorOptions {
  /** The editor's socket. */
  readonly inspectorIpc: string;
  /** Whether the editor connects to an address, and is told it; otherwise the socket is the connection. */
  readonly deferredMode?: boolean;
  /** A pattern that the program's path must match. */
  readonly waitForDebugger?: string;
  readonly autoAttachMode?: string;
  /** Globs of programs that are joined in the mode "smart". */
  readonly aaPatterns?: readonly string[];
  /** A file with the moment until which the editor is there. */
  readonly requireLease?: string;
  readonly onlyEntrypoint?: boolean;
  /** A file that is to be told which process it is. */
  readonly fileCallback?: string;
  /** The id of the program that started this one. */
  readonly openerId?: string;
}

export function readEditorOptions(text: string | undefined): EditorOptions | undefined {
  const last = text?.split(SEPARATOR).findLast((part) => part !== "");
  if (last === undefined) return undefined;
  try {
    const options = JSON.parse(last) as EditorOptions | null;
    return typeof options?.inspectorIpc === "string" ? options : undefined;
  } catch {
    return undefined;
  }
}

const TOOLS = "{mocha,jest,jest-cli,ava,tape,tap,ts-node,babel-node}";

/**
 * @param script the program's file, absolute; undefined for code that has none
 * @param isAsked whether --inspect asks for a debugger anyway
 */
export function wantsProgram(options: EditorOptions, script: string | undefined, isAsked: boolean): boolean {
  const { inspectorIpc, waitForDebugger = "", requireLease, autoAttachMode, aaPatterns = [] } = options;
  if (!isThere(inspectorIpc) || (requireLease && !isValidLease(requireLease))) return false;
  if (!matches(waitForDebugger, script ?? "")) return false;
  if (isAsked || autoAttachMode === "always") return true;
  if (autoAttachMode !== "smart") return false;
  return script === undefined || isAmong(aaPatterns, script);
}

/** Looked for by its name: to ask for a pipe itself is to connect to it. */
function isThere(path: string): boolean {
  const { basename, dirname } = process.getBuiltinModule("node:path");
  try {
    return process.getBuiltinModule("node:fs").readdirSync(dirname(path)).includes(basename(path));
  } catch {
    return false;
  }
}

function isValidLease(file: string): boolean {
  try {
    return process.getBuiltinModule("node:fs").readFileSync(file).readDoubleBE() > Date.now();
  } catch {
    return false;
  }
}

function matches(pattern: string, script: string): boolean {
  try {
    return new RegExp(pattern).test(script);
  } catch {
    return true;
  }
}

/** The last glob that matches decides, and one with "!" against it. */
function isAmong(patterns: readonly string[], script: string): boolean {
  const path = process.getBuiltinModule("node:path").resolve(script).replaceAll("\\", "/");
  let isIn = false;
  for (const pattern of patterns) {
    const isAgainst = pattern.startsWith("!");
    const glob = pattern.slice(isAgainst ? 1 : 0).replace("$KNOWN_TOOLS$", TOOLS);
    if (new Bun.Glob(glob.toLowerCase()).match(path.toLowerCase())) isIn = !isAgainst;
  }
  return isIn;
}
