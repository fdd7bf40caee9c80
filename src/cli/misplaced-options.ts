// Refuses options in front of a command that does not take them, and options of scripts without a script.
import { COMMANDS } from "../options/commands.ts";
import { type Given, type Invocation, UsageError } from "../options/parse.ts";
import { printable } from "../printable.ts";
import { quoteArgument } from "../shell-quoting.ts";
import { openWorkspace } from "../workspace/members.ts";
import { findPackageJson, scriptOf } from "../workspace/package-json.ts";

/** `rt --dry-run publish` must not publish. Throws UsageError. */
export function refuseOptionsOfRuns(command: string, { options }: Invocation): void {
  if (COMMANDS[command]!.by === "rt") refuseConfig(command, options);
  const lost = options.find(({ option }) => option.group === "Workspaces");
  if (!lost) return;
  throw new UsageError(
    `--${lost.option.name} is an option of rt run, and "${command}" is a command of rt`,
    `a script of that name: rt run ${options.map(spell).join(" ")} ${command}`,
  );
}

function spell({ option, value }: Given): string {
  return quoteArgument(value === undefined ? `--${option.name}` : `--${option.name}=${value}`);
}

/** Options that act on scripts, and where none was named have nothing to act on. */
const NEEDS_SCRIPT = ({ option }: Given) => option.many === "scripts" || option.name === "affected";

/**
 * `rt run -r build` must not list scripts and succeed: an option has taken the script's name as its value, or acts on a script
 * that is missing. Throws UsageError.
 */
export function refuseWithoutScript({ options, command }: Invocation, cwd: string): void {
  const taken = options.findLast(({ option, value }) => isName(option.name, value, cwd));
  if (taken)
    throw new UsageError(
      `No script is named: "${taken.value}" is the value of --${taken.option.name}`,
      adviseOn(taken),
    );
  const lone = options.some(({ option }) => option.name === "pick") ? undefined : options.find(NEEDS_SCRIPT);
  if (lone && command === "run")
    throw new UsageError(
      `--${lone.option.name} needs the name of a script`,
      "rt run lists those of this package, rt run --workspaces those of all packages",
    );
}

/** Paths and patterns of packages name no script, whatever they are called. */
const NAMELESS = ["cwd", "config", "filter"];

function isName(option: string, value: string | undefined, cwd: string): boolean {
  if (value === undefined || NAMELESS.includes(option)) return false;
  const located = findPackageJson(cwd);
  if (!located) return false;
  if (scriptOf(located.manifest, value) !== null) return true;
  return openWorkspace(cwd).members.some(({ manifest }) => scriptOf(manifest, value) !== null);
}

/** -r is pnpm's and yarn's option for all packages. */
function adviseOn({ option, value }: Given): string[] {
  const name = quoteArgument(value!);
  const own = `run the script: rt run ${name}`;
  return option.name === "preload" ? [own, `run it in all packages: rt run --workspaces ${name}`] : [own];
}

/** These tell what is allowed of a file, and must not tell it of another one. */
const ABOUT_CONFIG: Readonly<Record<string, string>> = { secrets: "rt secrets env", trust: "rt trust" };

function refuseConfig(command: string, options: Invocation["options"]): void {
  const config = options.findLast(({ option }) => option.name === "config");
  if (!config) return;
  const own = ABOUT_CONFIG[command];
  throw new UsageError(
    `--config in front of "${command}" is not read, since "${command}" is a command of rt`,
    own === undefined
      ? `rt help ${command} says what it takes`
      : `${own} --config=${printable(config.value ?? "")}`,
  );
}
