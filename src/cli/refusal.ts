// What a command of rt's, or a tool, cannot be told in front of its name.
import { type Invocation, UsageError } from "../options/parse.ts";

/** `rt --dry-run publish` must not publish. Throws UsageError. */
export function refuseOptionsOfRuns(command: string, { options }: Invocation): void {
  const lost = options.find(({ option }) => option.group === "Workspaces");
  if (!lost) return;
  const flag = `--${lost.option.name}`;
  throw new UsageError(
    `${flag} is an option of rt run, and "${command}" is a command of rt`,
    `the script is run by: rt run ${flag} ... ${command}; options of the command stand behind it`,
  );
}
