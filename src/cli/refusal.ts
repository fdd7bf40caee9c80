// What a command of rt's, or a tool, cannot be told in front of its name.
import { COMMANDS } from "../options/commands.ts";
import { type Invocation, UsageError } from "../options/parse.ts";
import { printable } from "../printable.ts";

/** `rt --dry-run publish` must not publish. Throws UsageError. */
export function refuseOptionsOfRuns(command: string, { options }: Invocation): void {
  if (COMMANDS[command]!.by === "rt") refuseConfig(command, options);
  const lost = options.find(({ option }) => option.group === "Workspaces");
  if (!lost) return;
  const flag = `--${lost.option.name}`;
  throw new UsageError(
    `${flag} is an option of rt run, and "${command}" is a command of rt`,
    `the script is run by: rt run ${flag} ... ${command}; options of the command stand behind it`,
  );
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
