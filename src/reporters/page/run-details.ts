// Renders the details of a script: dependencies, concurrent scripts, commands and output.
import { formatDuration } from "../../tasks/labels.ts";
import { element } from "./elements.ts";
import type { RunData, RunTask } from "./run-data.ts";
import { renderOutput } from "./terminal-text.ts";

/** Shorter waits are only the time to start a process. */
const MIN_WAIT = 20; // ms
const MAX_NAMED = 12;

export function createDetails(task: RunTask, data: RunData): HTMLElement {
  const { tasks } = data;
  const details = element("div", { class: "details" });
  const facts: [string, string][] = [["Outcome", task.message]];
  if (task.machine !== undefined) facts.push(["Machine", task.machine]);
  if (task.why !== undefined) facts.push([task.state === "cached" ? "Cache hit" : "Cache miss", task.why]);
  if (task.where !== undefined) facts.push(["Where", task.where]);
  if (task.steps.length > 0)
    facts.push([
      "Ran",
      `from ${formatDuration(task.start)} to ${formatDuration(task.start + task.duration)}`,
    ]);
  const waits = describeWaits(task, data);
  if (waits !== "") facts.push(["Waited", waits]);
  const concurrent = findConcurrent(task, tasks);
  if (concurrent.length > 0) facts.push(["Concurrent", nameSome(concurrent)]);
  const after = tasks.filter(({ before }) => before.some((index) => tasks[index] === task));
  if (after.length > 0) facts.push(["Dependents", nameSome(after)]);
  if (task.directory !== "") facts.push(["Folder", task.directory]);
  for (const refusal of task.refusals ?? []) facts.push(["Refused", refusal]);
  const secrets = task.steps.flatMap((step) => step.secrets);
  if (secrets.length > 0) facts.push(["Secrets", secrets.join(", ")]);
  details.append(
    element("dl", {}, ...facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])),
  );
  for (const { script, command, duration } of task.steps)
    details.append(
      element(
        "p",
        { class: "command" },
        element("code", {}, `$ ${command}`),
        ` ${script}${duration === null ? "" : `, ${formatDuration(duration)}`}`,
      ),
    );
  details.append(createOutput(task));
  return details;
}

function createOutput({ label, output, omitted, outputEnd }: RunTask): HTMLElement {
  if (output + outputEnd === "" && omitted === 0) return element("p", { class: "fine" }, "No output");
  const text = element(
    "pre",
    { tabindex: "0", role: "region", "aria-label": `Output of ${label}` },
    ...renderOutput(output),
  );
  if (omitted > 0)
    text.append(
      element("span", { class: "omitted" }, `\n[${omitted.toLocaleString("en")} bytes omitted]\n`),
      ...renderOutput(outputEnd),
    );
  return text;
}

function describeWaits({ ready, start, last, steps }: RunTask, data: RunData): string {
  if (steps.length === 0) return "";
  const parts: string[] = [];
  if (last !== undefined && ready > MIN_WAIT)
    parts.push(`${formatDuration(ready)} until ${data.tasks[last]!.label} had ended`);
  if (start - ready > MIN_WAIT) {
    const why = data.isSequential
      ? "for its turn: --sequential"
      : `for a free slot${data.limit === undefined ? "" : `: ${data.limit} run at a time`}`;
    parts.push(`${formatDuration(start - ready)} ${why}`);
  }
  return parts.join(", then ");
}

function findConcurrent(task: RunTask, tasks: readonly RunTask[]): RunTask[] {
  const end = task.start + task.duration;
  if (task.steps.length === 0) return [];
  return tasks.filter(
    (each) =>
      each !== task && each.steps.length > 0 && each.start < end && each.start + each.duration > task.start,
  );
}

function nameSome(some: readonly RunTask[]): string {
  const names = some.slice(0, MAX_NAMED).map(({ label }) => label);
  const rest = some.length - names.length;
  return names.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
