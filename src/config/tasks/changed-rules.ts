// Compares rtfig.toml with an earlier version: which tasks have other settings now.
import { type Config, parseConfig } from "../rtfig.ts";
import { readTaskRules, type TaskOwner, type TaskRules } from "./task-rules.ts";

/**
 * Returns a function that says whether a task has other settings than before. Settings besides [tasks] are of all tasks.
 * @param before the text of the earlier file; null if there was none
 */
export function compareRules(
  config: Config,
  before: string | null,
  cwd: string,
): (owner: TaskOwner, name: string) => boolean {
  const [now, old] = [config, parseBefore(config, before)];
  if (!old || !Bun.deepEquals(withoutTasks(now), withoutTasks(old))) return () => true;
  const [rules, oldRules] = [readTaskRules(now, cwd), readRules(old, cwd)];
  if (oldRules === null) return () => true;
  return (owner, name) => !Bun.deepEquals(settingsOf(rules, owner, name), settingsOf(oldRules, owner, name));
}

/** Returns undefined for a file that this version of rt refuses. */
function parseBefore({ file }: Config, text: string | null): Config | undefined {
  try {
    return parseConfig(text ?? "", file);
  } catch {
    return undefined;
  }
}

function readRules(config: Config, cwd: string): TaskRules | undefined | null {
  try {
    return readTaskRules(config, cwd);
  } catch {
    return null;
  }
}

function withoutTasks({ content }: Config): object {
  const { tasks: _, ...others } = content;
  return others;
}

/** A description changes no result. */
function settingsOf(rules: TaskRules | undefined, owner: TaskOwner, name: string): object | undefined {
  const rule = rules?.ruleFor(owner, name);
  if (!rule) return undefined;
  const { sources: _, description: __, ...settings } = rule;
  return settings;
}
