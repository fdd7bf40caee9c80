// Decides whether a single target is run by the scheduler, because [tasks] declares something for it.
//
// Non-obvious: a script for which [tasks] declares nothing of the kind replaces rt, as in a project without [tasks].
import { isGlob } from "../../workspace/glob.ts";
import { permissionsFor } from "../../config/settings/permissions.ts";
import type { TaskRule } from "../../config/tasks/task-rules.ts";
import { splitTaskName } from "../../config/tasks/task-name.ts";
import type { ManySettings } from "../../config/settings/many.ts";
import type { RunSettings } from "../../config/settings/settings.ts";
import { reportLine } from "../../output.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../../source-extensions.ts";
import { findPackageJson, scriptOf, textField } from "../../workspace/package-json.ts";
import { resolveTarget } from "../resolve/resolution.ts";
import { isExplicitPath } from "../resolve/target.ts";
import { describeOptionArgument } from "./option-argument.ts";

/** Returns the settings of the run; undefined for a target that runs alone. @throws PackageJsonError */
export function findTaskRun(settings: RunSettings, cwd: string): ManySettings | undefined {
  const { tasks: rules, permissions, single, target: name, isExplicit, code } = settings;
  if (!rules || !single || name === undefined || name === "-" || isExplicitPath(name))
    return !rules && permissions ? findScriptRun(settings, cwd) : undefined;
  const located = findPackageJson(cwd);
  const owner = rules.ownerIn({
    name: located ? textField(located.manifest, "name") : "",
    directory: located?.directory ?? cwd,
  });
  const commands = rules.commandsOf(owner);
  const isTask = (word: string) =>
    (located !== null && scriptOf(located.manifest, word) !== null) ||
    word in commands ||
    rules.isRootCommand(word);
  const isOwn = !isGlob(name) && isTask(name);
  if (!isOwn && splitTaskName(name).package === undefined) return undefined;
  const { kind } = resolveTarget({ name, cwd, explicitRun: isExplicit, forceRuntime: code.forceRuntime });
  if (!isOwn) return kind === "missing" ? single : undefined;
  const isFile = kind === "file" && !isExplicit && SOURCE_EXTENSIONS.includes(extensionOf(name));
  if (isFile) return undefined;
  const notice = describeOptionArgument(single);
  if (notice) reportLine(`warning: ${notice}`);
  const isScript = kind === "script";
  const mentionsTask = !single.isSeparated && single.args.some((word) => word !== "--" && isTask(word));
  const rule = rules.ruleFor(owner, name);
  // A task with permissions does not replace rt, which decides its connections.
  const isRestricted = permissionsFor(permissions, rule) !== undefined;
  return !isScript || mentionsTask || isRestricted || needsSchedule(rule) ? single : undefined;
}

/** Without [tasks]: a script with permissions runs alone, with all words as its arguments. */
function findScriptRun(
  { single, target: name, isExplicit, code }: RunSettings,
  cwd: string,
): ManySettings | undefined {
  if (!single || name === undefined || name === "-" || isExplicitPath(name)) return undefined;
  const { kind } = resolveTarget({ name, cwd, explicitRun: isExplicit, forceRuntime: code.forceRuntime });
  return kind === "script" ? { ...single, isSeparated: true } : undefined;
}

function needsSchedule(rule: TaskRule | undefined): boolean {
  if (!rule) return false;
  const { dependsOn = [], timeout, retries = 0, lock, service, restart } = rule;
  const restarts = service === true && restart !== undefined;
  return dependsOn.length > 0 || timeout !== undefined || retries > 0 || lock !== undefined || restarts;
}
