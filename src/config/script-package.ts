// Names the package of a script, for rules of rtfig.toml.
import { type PackageJson, textField } from "../workspace/package-json.ts";

/** The package of a script, as rules name it. */
export interface ScriptPackage {
  /** "" without a name. */
  readonly name: string;
  readonly directory: string;
}

export function packageOf(task: {
  readonly manifest: PackageJson;
  readonly packageDirectory: string;
}): ScriptPackage {
  return { name: textField(task.manifest, "name"), directory: task.packageDirectory };
}
