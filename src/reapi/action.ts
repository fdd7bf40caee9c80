// Encodes an action of the Remote Execution API: command, environment, outputs and input root.
//
// Invariants: pure and canonical: variables and properties are sorted by name, outputs are sorted and unique.
//
// Non-obvious: outputs are listed twice, because servers before 2.1 read output files and directories, later ones
// output paths.
import { type Digest, type Encoded, encode, toMessage } from "./digest.ts";
import { compareBytes } from "./input-root.ts";
import { Action as ActionMessage, Command } from "./messages/remote_execution.ts";

export interface ActionCommand {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Relative to the input root; "" for the root. */
  readonly directory: string;
  /** Relative to the directory. A name that ends in `/`, or has no dot, is a directory. */
  readonly outputs: readonly string[];
  readonly platform: Readonly<Record<string, string>>;
  readonly inputRoot: Digest;
}

export interface EncodedAction {
  readonly digest: Digest;
  readonly messages: readonly Encoded[];
}

export function encodeAction(work: ActionCommand): EncodedAction {
  const outputs = [...new Set(work.outputs.map(withoutSlash))].sort(compareBytes);
  const isDirectory = (path: string) =>
    work.outputs.includes(`${path}/`) || !path.slice(path.lastIndexOf("/") + 2).includes(".");
  const platform = { properties: sorted(work.platform) };
  const command = encode(Command, {
    arguments: [...work.argv],
    environmentVariables: sorted(work.environment),
    outputFiles: outputs.filter((path) => !isDirectory(path)),
    outputDirectories: outputs.filter(isDirectory),
    outputPaths: outputs,
    workingDirectory: work.directory,
    platform,
  });
  const action = encode(ActionMessage, {
    commandDigest: toMessage(command.digest),
    inputRootDigest: toMessage(work.inputRoot),
    doNotCache: false,
    platform,
  });
  return { digest: action.digest, messages: [command, action] };
}

export function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

function sorted(values: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(values)
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([name, value]) => ({ name, value }));
}
