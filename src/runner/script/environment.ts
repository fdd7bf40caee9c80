// The environment of a package.json script, and of a binary or command: pure, from what is known of the package to
// names and values.
//
// Contract: what npm and `bun run` set, plus INIT_CWD; PATH gets `node_modules/.bin` of the package (for a binary, of
// the working directory) and of every directory above it, and nothing else (never the package's own directory: a file
// there must not hijack a command), once, however deeply scripts are nested.
//
// RT_SCRIPTS carries the scripts that are running, from the outermost to this one, so that a script which
// calls itself is stopped with its name instead of filling the process table.
import { UserError } from "../../user-error.ts";
import { type LocatedPackage, type PackageJson, textField } from "../../workspace/package-json.ts";
import { binaryDirectories } from "../resolve/bin-directories.ts";

export interface ProgramContext {
  /** The nearest one. */
  readonly package: LocatedPackage | null;
  /** Where the program runs. */
  readonly directory: string;
  /** Where the user stood. */
  readonly initialDirectory: string;
  readonly path: string;
  readonly pathSeparator: string;
  /** Directories with `rt` or `node` for machines that have none on PATH. */
  readonly stands: readonly string[];
  readonly runtime: { readonly path: string; readonly userAgent: string };
  readonly nodePath: string;
}

export interface ScriptContext extends ProgramContext {
  readonly package: LocatedPackage;
  /** The script's own name: `prebuild` for the hook of `build`. */
  readonly event: string;
  readonly command: string;
  /** RT_SCRIPTS as rt found it. */
  readonly running: string;
}

export function scriptEnvironment(context: ScriptContext): Record<string, string> {
  const environment = programEnvironment(context);
  environment.npm_lifecycle_event = context.event;
  environment.npm_lifecycle_script = context.command;
  environment.RT_SCRIPTS = appendRunning(context.running, context.directory, context.event);
  return environment;
}

export function programEnvironment(context: ProgramContext): Record<string, string> {
  const { runtime } = context;
  const environment: Record<string, string> = {
    PATH: programPath(context),
    INIT_CWD: context.initialDirectory,
    NODE: context.nodePath,
    npm_node_execpath: context.nodePath,
    npm_execpath: runtime.path,
    npm_command: "run-script",
    npm_config_local_prefix: context.package?.directory ?? context.directory,
    npm_config_user_agent: runtime.userAgent,
  };
  if (!context.package) return environment;
  const { manifest, directory } = context.package;
  environment.npm_package_json = `${directory}/package.json`;
  for (const field of ["name", "version"]) {
    const value = textField(manifest, field);
    if (value !== "") assign(environment, `npm_package_${field}`, value);
  }
  for (const field of ["config", "engines", "bin"]) {
    if (manifest[field] !== undefined) spread(`npm_package_${field}`, fieldOf(manifest, field), environment);
  }
  return environment;
}

/** A `bin` that is one path has the name of its package, without the scope. */
function fieldOf(manifest: PackageJson, field: string): unknown {
  const value = manifest[field];
  if (field !== "bin" || typeof value !== "string") return value;
  const name = textField(manifest, "name");
  return { [name.slice(name.indexOf("/") + 1)]: value };
}

/** `{ db: { port: 1 }, list: ["a"] }` as `..._db_port` and `..._list_0`; a null has no variable. */
function spread(name: string, value: unknown, environment: Record<string, string>, depth = 0): void {
  if (depth > DEEPEST)
    throw new UserError(
      "A value in package.json is nested too deeply to become variables",
      'look at its "config", "engines" and "bin"',
    );
  if (typeof value === "object") {
    for (const key in value)
      spread(`${name}_${key}`, (value as Record<string, unknown>)[key], environment, depth + 1);
  } else {
    // oxlint-disable-next-line typescript/no-base-to-string -- an object has been spread above
    assign(environment, name, String(value));
  }
}

/** The rest would be cut off, or the program not be started. */
function assign(environment: Record<string, string>, name: string, value: string): void {
  if (name.includes("\0") || value.includes("\0"))
    throw new UserError(
      `The variable ${name} would have a NUL character in it, which no program can be given`,
      "it is made of package.json: take out the \\u0000",
    );
  environment[name] = value;
}

/** Levels of nesting; each makes the name longer. */
const DEEPEST = 100;

function programPath({ path, pathSeparator, directory, stands }: ProgramContext): string {
  const own = [...stands, ...binaryDirectories(directory)];
  // Only a script below another one finds these in its PATH already.
  const mayRepeat = path.includes("/node_modules/.bin") || stands.length > 0;
  if (!mayRepeat)
    return path === "" ? own.join(pathSeparator) : own.join(pathSeparator) + pathSeparator + path;
  const inherited = path === "" ? [] : path.split(pathSeparator).filter((entry) => !own.includes(entry));
  return [...own, ...inherited].join(pathSeparator);
}

/** How often one script may be started below itself: a script that recurses with an end in sight is allowed. */
const MOST_RECURSIONS = 8;
const ENTRY_SEPARATOR = "\n";

function appendRunning(running: string, directory: string, event: string): string {
  const entry = entryOf(directory, event);
  return running === "" ? entry : running + ENTRY_SEPARATOR + entry;
}

/** Directories and scripts may have line breaks in their names, which an entry may not. */
function entryOf(directory: string, event: string): string {
  const entry = `${event} in ${directory}`;
  return entry.includes(ENTRY_SEPARATOR) ? entry.replaceAll(ENTRY_SEPARATOR, " ") : entry;
}

/** The scripts from one start of `event` to the next, when it has started itself too often. */
export function findRecursion(running: string, directory: string, event: string): string[] | undefined {
  const entry = entryOf(directory, event);
  if (!running.includes(entry)) return undefined;
  const entries = running.split(ENTRY_SEPARATOR);
  if (entries.filter((other) => other === entry).length < MOST_RECURSIONS) return undefined;
  return [...entries.slice(entries.lastIndexOf(entry)), entry].map((each) =>
    each.slice(0, each.indexOf(" in ")),
  );
}
