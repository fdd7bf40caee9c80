// A script as an action of the Remote Execution API: its steps, one after another, in a copy of what it reads.
//
// Contract: pure but for what collectInputs reads, and the same script with the same files is the same action. All steps
// are one action, since each needs what the one before it has made; what each has written is told apart by a mark.
import { host } from "../../platform/processes/process.ts";
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import { type EncodedAction, describeAction } from "../reapi/action.ts";
import { type Blob, blobOf } from "../reapi/cas-client.ts";
import { digestOf } from "../reapi/digest.ts";
import { buildInputRoot } from "../reapi/input-root.ts";
import { portVariables } from "../config/settings/port.ts";
import { type RemoteScript, type RemoteSettings, remoteScript } from "../config/settings/remote.ts";
import type { ScriptSettings } from "../config/settings/script.ts";
import type { RemoteResult } from "../tasks/execution/placement.ts";
import type { ScriptTask } from "../tasks/task.ts";
import { textField } from "../workspace/package-json.ts";
import { appendArguments } from "../shell-quoting.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";
import { collectInputs, type ActionInputs, type UpstreamOutputs } from "./inputs.ts";

export interface RemoteAction {
  readonly script: RemoteScript;
  readonly inputs: ActionInputs;
  readonly action: EncodedAction;
  /** But for what `inputs` says of trees, and of what others have made. */
  readonly blobs: readonly Blob[];
  /** Between what one step has written and what the next has. */
  readonly mark: string;
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Each step with the name of its event in front; binaries are found from the package up to the workspace's root. */
const RUN_STEPS = `for up in $RT_UP; do PATH="$PWD/$up/node_modules/.bin:$PATH"; done
mark=$RT_MARK; export PATH; unset RT_UP RT_MARK
while npm_lifecycle_event=$1 /bin/sh -c "$2" || exit; shift 2; [ $# -gt 0 ]; do
  printf %s "$mark"; printf %s "$mark" >&2
done`;

/** @param made by the scripts that this one waits for. Throws Failure. */
export async function prepareJob(
  task: ScriptTask,
  files: WorkspaceFiles,
  remote: RemoteSettings,
  { port }: ScriptSettings,
  made: readonly UpstreamOutputs[],
): Promise<RemoteAction> {
  const { packageDirectory, manifest, scriptName } = task;
  const packageName = textField(manifest, "name");
  const script = remoteScript(remote, packageName, scriptName);
  const inputs = await collectInputs(files, packageDirectory, script, remote, made);
  const own = files.pathOf(packageDirectory);
  const inputRoot = buildRoot(inputs);
  const steps = task.steps.flatMap(({ scriptName: event, command, isMain }) => [
    event,
    isMain ? appendArguments(command, task.args) : command,
  ]);
  const mark =
    steps.length > 2 ? `\0${digestOf(Buffer.from(steps.join("\0"))).hash}\0`.replaceAll("\0", "\n") : "";
  const depth = own === "" ? 0 : own.split("/").length;
  const environment: Record<string, string> = {
    PATH,
    npm_package_name: packageName,
    npm_package_version: textField(manifest, "version"),
    RT_UP: Array.from({ length: depth + 1 }, (_, at) =>
      ["."].concat(Array(depth - at).fill("..")).join("/"),
    ).join(" "),
    ...(mark !== "" && { RT_MARK: mark }),
  };
  Object.assign(environment, portVariables(port));
  for (const variable of script.env) {
    const value = host.originalVariable(variable);
    if (value === undefined) continue;
    if (!value.isWellFormed())
      throw new UserError(
        `${variable} has bytes that are not UTF-8, and no script on another machine can be given those`,
        `set another value, or run ${task.label} without --remote`,
      );
    environment[variable] = value;
  }
  const action = describeAction({
    argv: ["/bin/sh", "-c", RUN_STEPS, "sh", ...steps],
    environment,
    directory: own,
    outputs: script.outputs,
    platform: remote.properties,
    inputRoot: inputRoot.digest,
  });
  const blobs = [...[...inputRoot.messages, ...action.messages].map(blobOf), ...inputs.blobs];
  return { script, inputs, action, blobs, mark };
}

function buildRoot({ entries }: ActionInputs) {
  try {
    return buildInputRoot(entries);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UserError(
      `What the script reads is no tree of files: ${oneLine(error.message)}`,
      "no output in [run.remote.scripts] may lie in another script's, or be a file where that has a directory",
    );
  }
}

/** What each step has written, of those that have run. */
export function splitLogs(
  stdout: Uint8Array,
  stderr: Uint8Array,
  mark: string,
  steps: number,
): RemoteResult["logs"] {
  const [outputs, errors] = [stdout, stderr].map((bytes) => splitAt(bytes, mark, steps)) as [
    Uint8Array[],
    Uint8Array[],
  ];
  return outputs.map((each, index) => ({ stdout: each, stderr: errors[index] ?? new Uint8Array() }));
}

/** @param most parts, whatever a script may write */
function splitAt(bytes: Uint8Array, mark: string, most: number): Uint8Array[] {
  if (mark === "") return [bytes];
  const parts: Uint8Array[] = [];
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let start = 0;
  for (let end = whole.indexOf(mark); end >= 0 && parts.length < most - 1; end = whole.indexOf(mark, start)) {
    parts.push(bytes.subarray(start, end));
    start = end + mark.length;
  }
  return [...parts, bytes.subarray(start)];
}
