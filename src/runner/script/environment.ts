// Builds the environment of scripts, binaries and commands. Pure.
//
// Invariants:
// - It contains what npm and `bun run` set, plus INIT_CWD.
// - PATH gets `node_modules/.bin` of the package (for a binary, of the working directory) and of every parent,
//   once. The package's own directory is never added: a file there must not hijack a command.
// - RT_SCRIPTS lists the running scripts from the outermost, so that a recursion is stopped before it fills the
//   process table.
import { UserError } from "../../user-error.ts";
import { type LocatedPackage, type PackageJson, textField } from "../../workspace/package-json.ts";
import { binaryDirectories } from "../resolve/bin-directories.ts";

export interface ProgramContext {
  readonly package: LocatedPackage | null;
  /** Where the program runs. */
  readonly directory: string;
  /** The user's working directory. */
  readonly initialDirectory: string;
  readonly path: string;
  readonly pathSeparator: string;
  /** Shim directories with `rt` or `node`, for systems without them on PATH. */
  readonly shimDirectories: readonly string[];
  readonly runtime: { readonly path: string; readonly userAgent: string };
  readonly nodePath: string;
}

export interface StepContext extends ProgramContext {
  readonly package: LocatedPackage;
  /** The step's name: `prebuild` for the `pre` hook of `build`. */
  readonly event: string;
  readonly command: string;
  /** RT_SCRIPTS as inherited. */
  readonly running: string;
}

export function scriptEnvironment(context: StepContext): Record<string, string> {
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

/**
 * Returns the environment without the variables of an outer script's package.json. Otherwise a package without `engines` would get
 * those of another package, and its cached results would depend on the outer script.
 */
export function withoutPackageVariables(inherited: Record<string, string>): Record<string, string> {
  if (inherited.npm_package_json === undefined) return inherited;
  return Object.fromEntries(Object.entries(inherited).filter(([name]) => !name.startsWith("npm_package_")));
}

/** A `bin` that is a string gets the package's name without the scope. */
function fieldOf(manifest: PackageJson, field: string): unknown {
  const value = manifest[field];
  if (field !== "bin" || typeof value !== "string") return value;
  const name = textField(manifest, "name");
  return { [name.slice(name.indexOf("/") + 1)]: value };
}

/** Flattens `{ db: { port: 1 }, list: ["a"] }` to `..._db_port` and `..._list_0`; null is omitted. */
function spread(name: string, value: unknown, environment: Record<string, string>, depth = 0): void {
  if (depth > MAX_DEPTH)
    throw new UserError(
      "A value in package.json is nested too deeply for environment variables",
      'check "config", "engines" and "bin"',
    );
  if (typeof value === "object") {
    for (const key in value)
      spread(`${name}_${key}`, (value as Record<string, unknown>)[key], environment, depth + 1);
  } else {
    // oxlint-disable-next-line typescript/no-base-to-string -- an object has been spread above
    assign(environment, name, String(value));
  }
}

/** A NUL would truncate the value, or prevent the start. */
function assign(environment: Record<string, string>, name: string, value: string): void {
  if (name.includes("\0") || value.includes("\0"))
    throw new UserError(
      `The variable ${name} would contain a NUL character, which is not possible`,
      "remove the \\u0000 from package.json",
    );
  environment[name] = value;
}

/** Maximum nesting; each level makes the name longer. */
const MAX_DEPTH = 100;

function programPath({ path, pathSeparator, directory, shimDirectories }: ProgramContext): string {
  const own = [...shimDirectories, ...binaryDirectories(directory)];
  // Only a nested script finds these in its PATH already.
  const mayRepeat = path.includes("/node_modules/.bin") || shimDirectories.length > 0;
  if (!mayRepeat)
    return path === "" ? own.join(pathSeparator) : own.join(pathSeparator) + pathSeparator + path;
  const inherited = path === "" ? [] : path.split(pathSeparator).filter((entry) => !own.includes(entry));
  return [...own, ...inherited].join(pathSeparator);
}

/** Maximum number of nested starts of one script; a terminating recursion is allowed up to it. */
const MAX_RECURSIONS = 8;
const ENTRY_SEPARATOR = "\n";

function appendRunning(running: string, directory: string, event: string): string {
  const entry = entryOf(directory, event);
  return running === "" ? entry : running + ENTRY_SEPARATOR + entry;
}

/** Line breaks in names are replaced, because they separate entries. */
function entryOf(directory: string, event: string): string {
  const entry = `${event} in ${directory}`;
  return entry.includes(ENTRY_SEPARATOR) ? entry.replaceAll(ENTRY_SEPARATOR, " ") : entry;
}

/** Returns the scripts between two starts of `event`, if it has been started too often. */
export function findRecursion(running: string, directory: string, event: string): string[] | undefined {
  const entry = entryOf(directory, event);
  if (!running.includes(entry)) return undefined;
  const entries = running.split(ENTRY_SEPARATOR);
  if (entries.filter((other) => other === entry).length < MAX_RECURSIONS) return undefined;
  return [...entries.slice(entries.lastIndexOf(entry)), entry].map((each) =>
    each.slice(0, each.indexOf(" in ")),
  );
}
