// Converts a task into an action of the Remote Execution API: its steps in one shell command, over a copy of its
// inputs.
//
// Invariants: the same task with the same files is the same action. Only collectInputs reads files.
//
// Non-obvious: all steps are one action, because a step needs the files of the previous one. A separator in the
// output marks the end of each step.
import { host } from "../../platform/processes/process.ts";
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import { type EncodedAction, encodeAction } from "../reapi/action.ts";
import { type Blob, blobOf } from "../reapi/cas-client.ts";
import { digestOf } from "../reapi/digest.ts";
import { buildInputRoot } from "../reapi/input-root.ts";
import { portVariables } from "../config/settings/port.ts";
import {
  type RemoteScript,
  type RemoteSettings,
  remoteScript,
  requireRemoteOutputs,
} from "../config/settings/remote.ts";
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
  /** Without the blobs of trees and of upstream outputs, which `inputs` has. */
  readonly blobs: readonly Blob[];
  /** Separator between the outputs of two steps. */
  readonly separator: string;
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/**
 * Runs each step with its lifecycle event. Binaries are found in node_modules/.bin from the package up to the
 * workspace's root.
 */
const RUN_STEPS = `for up in $RT_UP; do PATH="$PWD/$up/node_modules/.bin:$PATH"; done
mark=$RT_MARK; export PATH; unset RT_UP RT_MARK
while npm_lifecycle_event=$1 /bin/sh -c "$2" || exit; shift 2; [ $# -gt 0 ]; do
  printf %s "$mark"; printf %s "$mark" >&2
done`;

/** @param upstream outputs of the task's dependencies @throws UserError */
export async function prepareAction(
  task: ScriptTask,
  files: WorkspaceFiles,
  remote: RemoteSettings,
  { port }: ScriptSettings,
  upstream: readonly UpstreamOutputs[],
): Promise<RemoteAction> {
  const { packageDirectory, manifest, scriptName } = task;
  const owner = { name: textField(manifest, "name"), directory: packageDirectory };
  const script = remoteScript(remote, owner, scriptName);
  requireRemoteOutputs(script);
  const inputs = await collectInputs(files, packageDirectory, script, remote, upstream);
  const packagePath = files.pathOf(packageDirectory);
  const inputRoot = buildRoot(inputs);
  const steps = task.steps.flatMap(({ scriptName: event, command, isMain }) => [
    event,
    isMain ? appendArguments(command, task.args) : command,
  ]);
  const separator =
    steps.length > 2 ? `\0${digestOf(Buffer.from(steps.join("\0"))).hash}\0`.replaceAll("\0", "\n") : "";
  const depth = packagePath === "" ? 0 : packagePath.split("/").length;
  const environment: Record<string, string> = {
    PATH,
    npm_package_name: owner.name,
    npm_package_version: textField(manifest, "version"),
    RT_UP: Array.from({ length: depth + 1 }, (_, at) =>
      ["."].concat(Array(depth - at).fill("..")).join("/"),
    ).join(" "),
    ...(separator !== "" && { RT_MARK: separator }),
  };
  Object.assign(environment, portVariables(port));
  for (const variable of script.env) {
    const value = host.originalVariable(variable);
    if (value === undefined) continue;
    if (!value.isWellFormed())
      throw new UserError(
        `${variable} is not valid UTF-8, so it cannot be sent to another machine`,
        `set another value, or run ${task.label} without --remote`,
      );
    environment[variable] = value;
  }
  const action = encodeAction({
    argv: ["/bin/sh", "-c", RUN_STEPS, "sh", ...steps],
    environment,
    directory: packagePath,
    outputs: script.outputs,
    platform: remote.properties,
    inputRoot: inputRoot.digest,
  });
  const blobs = [...[...inputRoot.messages, ...action.messages].map(blobOf), ...inputs.blobs];
  return { script, inputs, action, blobs, separator };
}

function buildRoot({ entries }: ActionInputs) {
  try {
    return buildInputRoot(entries);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UserError(
      `The inputs of the script do not form a file tree: ${oneLine(error.message)}`,
      "an output in [run.remote.scripts] cannot be inside another script's output, or be a file where that has a directory",
    );
  }
}

/** The output of each step that ran. */
export function splitLogs(
  stdout: Uint8Array,
  stderr: Uint8Array,
  separator: string,
  steps: number,
): RemoteResult["logs"] {
  const [outputs, errors] = [stdout, stderr].map((bytes) => splitAt(bytes, separator, steps)) as [
    Uint8Array[],
    Uint8Array[],
  ];
  return outputs.map((each, index) => ({ stdout: each, stderr: errors[index] ?? new Uint8Array() }));
}

/** @param maxParts maximum number of parts, whatever a script writes */
function splitAt(bytes: Uint8Array, separator: string, maxParts: number): Uint8Array[] {
  if (separator === "") return [bytes];
  const parts: Uint8Array[] = [];
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let start = 0;
  for (
    let end = buffer.indexOf(separator);
    end >= 0 && parts.length < maxParts - 1;
    end = buffer.indexOf(separator, start)
  ) {
    parts.push(bytes.subarray(start, end));
    start = end + separator.length;
  }
  return [...parts, bytes.subarray(start)];
}
