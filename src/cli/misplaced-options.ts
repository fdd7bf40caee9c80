// Rejects run options before a command that does not accept them, and script options without a script.
import { acceptsRestriction, COMMANDS, RESTRICTING_OPTIONS } from "../options/commands.ts";
import { type Given, type Invocation, UsageError } from "../options/parse.ts";
import { printable } from "../printable.ts";
import { quoteArgument } from "../shell-quoting.ts";
import { openWorkspace } from "../workspace/members.ts";
import { findPackageJson, scriptOf } from "../workspace/package-json.ts";

/** Rejects run options before a built-in command: `rt --dry-run publish` must not publish. @throws UsageError */
export function refuseOptionsOfRuns(command: string, { options }: Invocation): void {
  if (COMMANDS[command]!.by === "rt") refuseConfig(command, options);
  const accepted = acceptsRestriction(command) ? RESTRICTING_OPTIONS : [];
  const misplaced = options.find(
    ({ option }) => option.group === "Workspaces" && !accepted.includes(option.name),
  );
  if (!misplaced) return;
  throw new UsageError(
    `--${misplaced.option.name} is an option of rt run, but "${command}" is a command of rt`,
    `to run a script of that name: rt run ${options.map(spell).join(" ")} ${command}`,
  );
}

function spell({ option, value }: Given): string {
  return quoteArgument(value === undefined ? `--${option.name}` : `--${option.name}=${value}`);
}

/** Matches options of the command line that have no effect without a script. */
const NEEDS_SCRIPT = ({ option: { name, aliasOf = name, many }, isConfigured }: Given) =>
  !isConfigured && (many === "scripts" || name === "affected" || aliasOf === "preload");

/**
 * Rejects a run without a script if an option consumed the script's name as its value, or needs a script. For example,
 * `rt run -r build` must not list the scripts and succeed.
 * @throws UsageError
 */
export function refuseWithoutScript({ options }: Invocation, cwd: string): void {
  const taken = options.findLast(({ option, value }) => isScriptName(option.name, value, cwd));
  if (taken)
    throw new UsageError(
      `No script given: "${taken.value}" is the value of --${taken.option.name}`,
      adviseOn(taken),
    );
  const unused = options.some(({ option }) => option.name === "pick")
    ? undefined
    : options.find(NEEDS_SCRIPT);
  if (unused)
    throw new UsageError(
      `--${unused.option.name} needs the name of a script`,
      "list the scripts: rt run, or rt run --workspaces for all packages",
    );
}

/** Options whose values are paths or package patterns, and so never a script's name. */
const PATH_OPTIONS = ["cwd", "config", "filter"];

function isScriptName(option: string, value: string | undefined, cwd: string): boolean {
  if (value === undefined || PATH_OPTIONS.includes(option)) return false;
  const located = findPackageJson(cwd);
  if (!located) return false;
  if (scriptOf(located.manifest, value) !== null) return true;
  return openWorkspace(cwd).members.some(({ manifest }) => scriptOf(manifest, value) !== null);
}

/** In pnpm and yarn, -r selects all packages; in rt it is --preload. */
function adviseOn({ option, value }: Given): string[] {
  const name = quoteArgument(value!);
  const own = `run the script: rt run ${name}`;
  return option.name === "preload" ? [own, `run it in all packages: rt run --workspaces ${name}`] : [own];
}

/** Commands that report on a configuration file with their own --config. Reporting on another file would mislead. */
const CONFIG_COMMANDS: Readonly<Record<string, string>> = { secrets: "rt secrets env", trust: "rt trust" };

function refuseConfig(command: string, options: Invocation["options"]): void {
  const config = options.findLast(({ option }) => option.name === "config");
  if (!config) return;
  const own = CONFIG_COMMANDS[command];
  throw new UsageError(
    `--config before "${command}" has no effect, because "${command}" is a command of rt`,
    own === undefined ? `see rt help ${command}` : `${own} --config=${printable(config.value ?? "")}`,
  );
}
