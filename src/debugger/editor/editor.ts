// Reads VSCODE_INSPECTOR_OPTIONS, the variable by which VS Code's debugger announces itself to child processes. Node.js reads it
// through a script in NODE_OPTIONS; rt reads it itself. So "Run and Debug", the JavaScript Debug Terminal and auto-attach work.
//
// Invariants:
// - rt attaches to the same programs as Node.js. An invalid value or an unreachable editor has no effect on the program.
// Non-obvious:
// - Builtin modules are loaded only if the variable is set, because every start would pay for them.

/** Separates several values, of which the last applies. */
const SEPARATOR = ":::";

/** Options in VS Code's format. Other properties are passed on to child processes. */
export interface EditorOptions {
  /** The editor's socket. */
  readonly inspectorIpc: string;
  /** True if the editor connects to an address that it is sent; otherwise the socket is the connection. */
  readonly deferredMode?: boolean;
  /** A pattern that the program's path must match. */
  readonly waitForDebugger?: string;
  readonly autoAttachMode?: string;
  /** Globs of programs to attach to in the mode "smart". */
  readonly aaPatterns?: readonly string[];
  /** Path of a file with the lease's expiry time (ms since the epoch, big-endian double). */
  readonly requireLease?: string;
  readonly onlyEntrypoint?: boolean;
  /** Path of a file to which the process's data is written. */
  readonly fileCallback?: string;
  /** The ID of the parent program. */
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
 * Returns true if the editor attaches to the program.
 * @param script the absolute path of the program's file; undefined for code without a file
 * @param isAsked whether --inspect was passed
 */
export function wantsProgram(options: EditorOptions, script: string | undefined, isAsked: boolean): boolean {
  const { inspectorIpc, waitForDebugger = "", requireLease, autoAttachMode, aaPatterns = [] } = options;
  if (!exists(inspectorIpc) || (requireLease && !isValidLease(requireLease))) return false;
  if (!matches(waitForDebugger, script ?? "")) return false;
  if (isAsked || autoAttachMode === "always") return true;
  if (autoAttachMode !== "smart") return false;
  return script === undefined || matchesGlobs(aaPatterns, script);
}

/** Searches the directory, because a stat of a named pipe would connect to it. */
function exists(path: string): boolean {
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

/** The last matching glob decides; one with "!" excludes. */
function matchesGlobs(patterns: readonly string[], script: string): boolean {
  const path = process.getBuiltinModule("node:path").resolve(script).replaceAll("\\", "/");
  let isIncluded = false;
  for (const pattern of patterns) {
    const isNegated = pattern.startsWith("!");
    const glob = pattern.slice(isNegated ? 1 : 0).replace("$KNOWN_TOOLS$", TOOLS);
    if (new Bun.Glob(glob.toLowerCase()).match(path.toLowerCase())) isIncluded = !isNegated;
  }
  return isIncluded;
}
