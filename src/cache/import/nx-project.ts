// The projects of an nx workspace: what package.json and project.json declare together.
//
// Invariants:
// - Pure, with nx's semantics. A target of project.json replaces the keys of the target in package.json.
import { quoteArgument } from "../../shell-quoting.ts";
import { type JsonTable, listOf, tableOf, textsOf } from "./json-table.ts";

export interface NxProject {
  /** Relative to the root; "." for the root. */
  readonly path: string;
  /** As nx calls it. */
  readonly name: string;
  /** Package in names of tasks: "//" for the root, "" if package.json has no name. */
  readonly owner: string;
  readonly scripts: readonly string[];
  readonly targets: Readonly<Record<string, JsonTable>>;
  readonly namedInputs: JsonTable;
  readonly implicitDependencies: readonly string[];
}

/** @param manifest package.json @param project project.json; empty without one */
export function readProject(
  { path, name, isRoot }: { readonly path: string; readonly name: string; readonly isRoot: boolean },
  manifest: JsonTable,
  project: JsonTable,
): NxProject {
  const nx = tableOf(manifest.nx);
  const targets: Record<string, JsonTable> = {};
  for (const each of [nx.targets, project.targets])
    for (const [target, value] of Object.entries(tableOf(each)))
      targets[target] = { ...targets[target], ...tableOf(value) };
  const declared = [project.name, nx.name].find((each): each is string => typeof each === "string");
  return {
    path,
    name: declared ?? (name || path),
    owner: isRoot ? "//" : name,
    scripts: Object.keys(tableOf(manifest.scripts)),
    targets,
    namedInputs: { ...tableOf(nx.namedInputs), ...tableOf(project.namedInputs) },
    implicitDependencies: [...textsOf(nx.implicitDependencies), ...textsOf(project.implicitDependencies)],
  };
}

const RUN_COMMANDS = /^(?:nx|@(?:nx|nrwl)\/workspace):run-commands$/;
const RUN_SCRIPT = /^(?:nx|@(?:nx|nrwl)\/workspace):run-script$/;
const NOOP = /^(?:nx|@(?:nx|nrwl)\/workspace):noop$/;

/** Options of run-commands that change only how nx shows the output. */
const WITHOUT_EFFECT = ["color", "tty", "usePty", "streamOutput", "verbose", "forwardAllArgs"];
const KNOWN_OPTIONS = ["command", "commands", "parallel", "cwd", "env", "args", ...WITHOUT_EFFECT];

export type TargetCommand =
  /** The script of package.json with the name of the target. */
  | { readonly kind: "script" }
  | { readonly kind: "command"; readonly command: string }
  /** A plugin supplies the target, or its executor is a program of a plugin. */
  | { readonly kind: "missing"; readonly executor: string | undefined };

/** @param target with the defaults of nx.json @param say reports what differs */
export function commandOf(
  project: NxProject,
  name: string,
  target: JsonTable,
  say: (text: string) => void,
): TargetCommand {
  const options = optionsOf(target, say);
  const executor = typeof target.executor === "string" ? target.executor : undefined;
  const hasScript = project.scripts.includes(name);
  const shorthand = typeof target.command === "string" ? target.command : undefined;
  if (executor === undefined && shorthand === undefined)
    return hasScript ? { kind: "script" } : { kind: "missing", executor };
  if (executor !== undefined && RUN_SCRIPT.test(executor)) {
    const script = typeof options.script === "string" ? options.script : name;
    if (script === name && hasScript) return { kind: "script" };
    if (!project.scripts.includes(script)) return { kind: "missing", executor };
    return { kind: "command", command: `rt run ${quoteArgument(script)}` };
  }
  if (executor !== undefined && NOOP.test(executor)) return { kind: "command", command: "exit 0" };
  if (executor !== undefined && !RUN_COMMANDS.test(executor)) return { kind: "missing", executor };
  const commands = [shorthand ?? options.command, ...listOf(options.commands)]
    .map((each) => (typeof each === "string" ? each : tableOf(each).command))
    .filter((each) => typeof each === "string");
  if (commands.length === 0) return { kind: "missing", executor };
  if (hasScript) say("package.json has a script of that name, which rt runs instead of the target's command");
  if (commands.length > 1 && options.parallel !== false)
    say(
      "nx runs its commands at the same time, rt one after another; make them scripts for rt run --parallel",
    );
  if (commands.some((each) => /\{args\b/.test(each)))
    say("{args} in a command has no equivalent; rt appends arguments to the command");
  if (commands.some((each) => /(?:^|[;&|]\s*|\bnpx\s+)nx\s/.test(each)))
    say("its command starts nx; write rt run instead");
  for (const key of Object.keys(options).filter((each) => !KNOWN_OPTIONS.includes(each)))
    say(`nx appends the option ${JSON.stringify(key)} to the command; write it into the command`);
  return { kind: "command", command: shellCommand(project, commands, options) };
}

/** The options with those of the default configuration. */
function optionsOf(
  { options, configurations, defaultConfiguration }: JsonTable,
  say: (text: string) => void,
): JsonTable {
  const all = tableOf(configurations);
  const own = typeof defaultConfiguration === "string" ? tableOf(all[defaultConfiguration]) : {};
  const others = Object.keys(all).filter((each) => each !== defaultConfiguration);
  if (others.length > 0)
    say(`the configurations ${others.join(", ")} have no equivalent; add a script for each that you use`);
  return { ...tableOf(options), ...own };
}

/** nx runs commands in the root of the workspace, rt in the folder of the package. */
function shellCommand(project: NxProject, commands: readonly string[], options: JsonTable): string {
  const fill = (text: string) =>
    text
      .replaceAll("{workspaceRoot}/", "")
      .replaceAll("{workspaceRoot}", ".")
      .replaceAll("{projectRoot}", project.path)
      .replaceAll("{projectName}", project.name);
  const cwd = typeof options.cwd === "string" ? fill(options.cwd).replace(/^\.\/(?=.)|\/+$/g, "") : ".";
  const folder = pathFrom(project.path, cwd === "" ? "." : cwd);
  const variables = Object.entries(tableOf(options.env)).map(
    ([key, value]) => `${key}=${quoteArgument(String(value))}`,
  );
  const args = Array.isArray(options.args) ? textsOf(options.args).join(" ") : options.args;
  const words = typeof args === "string" && args !== "" ? ` ${fill(args)}` : "";
  return [
    ...(folder === "." ? [] : [`cd ${quoteArgument(folder)}`]),
    ...(variables.length > 0 ? [`export ${variables.join(" ")}`] : []),
    ...commands.map((each) => fill(each) + words),
  ].join(" && ");
}

/** Returns a path of the workspace relative to a folder of it. */
export function pathFrom(folder: string, path: string): string {
  if (path.startsWith("/")) return path;
  const own = folder === "." ? [] : folder.split("/");
  const target = path === "." ? [] : path.split("/");
  let shared = 0;
  while (shared < own.length && own[shared] === target[shared]) shared++;
  return [...own.slice(shared).map(() => ".."), ...target.slice(shared)].join("/") || ".";
}
