// Reports what the permissions of a running task refuse.
import type { ChildRequest } from "../../../platform/processes/contract/process-tree.ts";
import type { TaskEvent } from "../task-events.ts";
import type { ScriptTask, SpawnCommand } from "../task.ts";

/** The permissions that a step starts with. Each refusal is emitted as a notice. */
export function permissionsOf(
  task: ScriptTask,
  { permissions, hide }: SpawnCommand,
  emit: (event: TaskEvent) => void | Promise<void>,
): ChildRequest["permissions"] {
  if (!permissions) return undefined;
  const { rules, variables, explain } = permissions;
  // A program may put a secret into a path or the name of a socket.
  const redact = (text: string) => hide?.(text, true) ?? text;
  return {
    rules,
    variables,
    onRefusal(refusal) {
      const explained = explain(refusal);
      if (!explained) return;
      const { allow } = explained;
      const texts = {
        target: redact(explained.target),
        message: redact(explained.message),
        ...(allow !== undefined && { allow: redact(allow) }),
      };
      void emit({ type: "notice", message: texts.message, refused: { task, ...explained, ...texts } });
    },
  };
}
