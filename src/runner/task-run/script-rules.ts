// Collects the sections of rtfig.toml whose rules are named after scripts, to warn about rules that match no
// script.
import { folderOfConfig } from "../../config/config-file-name.ts";
import type { Config } from "../../config/rtfig.ts";
import { isNamed, type ScriptRules } from "../../config/unmatched-rules.ts";
import type { SecretProvision } from "../../secrets/grants/secret-provisioning.ts";
import type { RunSettings } from "../../config/settings/settings.ts";

export function rulesOf(
  { cache, remote, tasks }: Pick<RunSettings, "cache" | "remote" | "tasks">,
  config: Config | undefined,
  cwd: string,
  provision: SecretProvision | undefined,
): ScriptRules[] {
  const namesOf = (rules: readonly { readonly name: string }[]) => rules.map(({ name }) => name);
  const rules: ScriptRules[] = [];
  if (tasks) rules.push(tasks.asRules());
  if (cache)
    rules.push({ section: "run.cache", folder: cache.root, names: namesOf(cache.rules), isForOne: isNamed });
  if (remote && config) {
    const folder = folderOfConfig(config.file, cwd);
    rules.push({ section: "run.remote.scripts", folder, names: namesOf(remote.scripts), isForOne: isNamed });
  }
  return provision?.rows ? [...rules, provision.rows] : rules;
}
