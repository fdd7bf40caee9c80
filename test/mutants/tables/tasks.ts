// Mutants of src/reporters.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/tasks/planning/shard.ts": [
    {
      fault: "what a script waits for does not run on its machine",
      text: "for (const each of reached) running[at]!.add(each);",
      becomes: "running[at]!.add(index);",
      tests: ["tasks/shard"],
    },
    {
      fault: "the order in which packages are found decides which machine runs them",
      text: "const sorted = [...keys.keys()].sort(isBefore);",
      becomes: "const sorted = [...keys.keys()];",
      tests: ["tasks/shard"],
    },
    {
      fault: "what a machine runs already counts again",
      text: "reached.filter((each) => !present.has(each))",
      becomes: "reached.filter((each) => present.size >= 0 || each)",
      tests: ["tasks/shard"],
    },
    {
      fault: "what was never measured counts next to nothing",
      text: "known[known.length >> 1] ?? 1",
      becomes: "1",
      tests: ["tasks/shard"],
    },
  ],
  "src/tasks/planning/shard-times.ts": [
    {
      fault: "which report is read last decides how long a script takes",
      text: "Math.max(time, times.get(name) ?? 0)",
      becomes: "time",
      tests: ["tasks/shard"],
    },
    {
      fault: "what the cache has counts as quick",
      text: "const time = saved ?? duration;",
      becomes: "const time = duration;",
      tests: ["tasks/shard"],
    },
    {
      fault: "a script that was skipped tells how long it takes",
      text: `outcome === "success" || outcome === "failure"`,
      becomes: "outcome !== undefined",
      tests: ["tasks/shard"],
    },
  ],
  "src/tasks/execution/watched-process-trees.ts": [
    {
      fault: "what others have left ends with a script that starts again",
      text: "trees.signalTrees(children, signal, families);\n    const ended",
      becomes: "trees.signalTrees(children, signal);\n    const ended",
      tests: ["run/watch-packages"],
    },
    {
      fault: "a script starts again before what it has left is gone",
      text: "await this.#endings.get(task);",
      becomes: "",
      tests: ["run/watch-packages"],
    },
    {
      fault: "what does not end for a restart is not killed",
      text: `if (performance.now() > deadline) trees.signalTrees(children, "SIGKILL", families);`,
      becomes: "",
      tests: ["run/watch-packages"],
    },
  ],
  "src/tasks/execution/executor.ts": [
    {
      fault: "what was seen of files stays known where others bring some",
      text: "if (this.#watched || remote) request.beforeStart?.();",
      becomes: "if (this.#watched) request.beforeStart?.();",
      tests: ["run/remote-many"],
    },
  ],
  "src/tasks/execution/shutdown.ts": [
    {
      fault: "what a script that has ended left in the background stays when rt is asked to end",
      text: '    this.#endLeft(isImpatient ? "SIGKILL" : signal);\n',
      becomes: "",
      tests: ["tasks/ending"],
    },
    {
      fault:
        "what a script that has ended left in the background is told of Ctrl-C, which it does not heed, and so is killed",
      text: 'trees.signalTrees(left, signal === "SIGINT" ? "SIGTERM" : signal);',
      becomes: "trees.signalTrees(left, signal);",
      tests: ["tasks/ending"],
      why: "it is killed after the grace: only the time differs",
    },
    {
      fault: "what was left and does not heed a signal stays",
      text: "    this.#stopped.push(...left);\n",
      becomes: "",
      tests: ["tasks/ending"],
    },
    {
      fault: "nothing is killed after the grace",
      text: `this.#killTimer ??= setTimeout(() => trees.signalTrees(this.#stopped, "SIGKILL"), GRACE);`,
      becomes: "",
      tests: ["tasks/ending"],
    },
    {
      fault: "three INTs kill instead of two",
      text: "this.#interrupts > 1 && signal",
      becomes: "this.#interrupts > 2 && signal",
      tests: ["tasks/ending"],
    },
    {
      fault: "a second signal of any kind kills",
      text: `const isImpatient = this.#interrupts > 1 && signal === "SIGINT";`,
      becomes: "const isImpatient = this.#interrupts > 1;",
      tests: ["tasks/ending"],
    },
    {
      fault: "what is left of stopped scripts is not waited for",
      text: "while (this.#hasStopped && trees.hasSurvivors(this.#stopped)) await Bun.sleep(LOOK_AGAIN_AFTER);",
      becomes: "",
      tests: ["tasks/ending", "tasks/signals"],
    },
  ],
  "src/tasks/execution/step-runner.ts": [
    {
      fault: "a script that starts again gets the secrets of its first start",
      text: "if (this.#again.delete(task)) await request.prepare?.([task]);",
      becomes: "",
      tests: ["secrets/mapping/values"],
    },
    {
      fault: "what has lost its parent lives on when its script starts again",
      text: "family: familyOf(task)",
      becomes: "family: undefined",
      tests: ["run/watch-packages"],
    },
    {
      fault: "the script runs although its pre-hook failed",
      text: `if (outcome.kind !== "success") return outcome;`,
      becomes: "",
      tests: ["tasks/workspace-run", "tasks/several-scripts"],
    },
    {
      fault: "hooks get the arguments too",
      text: "args: step.isMain ? task.args : []",
      becomes: "args: task.args",
      tests: ["tasks/workspace-run", "tasks/several-scripts"],
    },
    {
      fault: "colour is forced on scripts that say otherwise",
      text: "{ ...extraEnvironment, ...command.env }",
      becomes: "{ ...command.env, ...extraEnvironment }",
      tests: ["tasks/live"],
    },
    {
      fault: "what a script that rt evaluates prints is lost",
      text: "if (stdout.length > 0) await deliver(stdout, false);",
      becomes: "",
      tests: ["run/built-in-shell"],
    },
  ],
  "src/tasks/execution/spawn-error.ts": [
    {
      fault: "a program that is not there is 126",
      text: "ENOENT: 127,",
      becomes: "ENOENT: 126,",
      tests: ["tasks/ending"],
    },
    {
      fault: "a program that may not be started is 127",
      text: "EACCES: 126,",
      becomes: "EACCES: 127,",
      tests: ["tasks/ending"],
    },
  ],
  "src/runner/task-run/run-tasks.ts": [
    {
      fault: "the last signal wins over the first",
      text: "interruptedBy ??= signal;",
      becomes: "interruptedBy = signal;",
      tests: ["tasks/ending"],
    },
    {
      fault: "a run goes on after an internal error",
      text: "    thrown ??= { error };\n    end();\n",
      becomes: "    thrown ??= { error };\n",
      tests: ["tasks/no-room"],
    },
    {
      fault: "a reader that has gone is a success",
      text: `if (code === "EPIPE") interruptedBy ??= "SIGPIPE";`,
      becomes: "",
      tests: ["tasks/signals"],
    },
    {
      fault: "a report that cannot be written is a success",
      text: "if (!(await finishReporter(reporter))) isComplete = false;",
      becomes: "await finishReporter(reporter);",
      tests: ["tasks/no-room", "tasks/report"],
    },
    {
      fault: "a run with an unreadable package is a success",
      text: "queue, notices);\n  return status === 0 && plan.isIncomplete ? 1 : status;",
      becomes: "queue, notices);\n  return status;",
      tests: ["tasks/workspace-run", "tasks/mistakes"],
    },
    {
      fault: "--no-exit-on-error stops at the first failure",
      text: `if (noExitOnError) return "continue";`,
      becomes: "",
      tests: ["tasks/workspace-run", "tasks/several-scripts"],
    },
    {
      fault: "a failure in packages stops the others",
      text: `return parallel || sequential ? "stop" : "skip";`,
      becomes: `return "stop";`,
      tests: ["tasks/workspace-run"],
    },
    {
      fault: "a cycle of packages is not told without its end",
      text: "[...cycle, cycle[0]]",
      becomes: "cycle",
      tests: ["tasks/workspace-run"],
    },
  ],
  "src/tasks/execution/schedule.ts": [
    {
      fault: "one more than the limit runs",
      text: "place.running < place.limit",
      becomes: "place.running <= place.limit",
      tests: ["tasks/schedule", "tasks/concurrency"],
    },
    {
      fault: "what runs elsewhere takes places here",
      text: "elsewhere?.has(tasks[index]!) ? there : here",
      becomes: "here",
      tests: ["tasks/schedule"],
    },
    {
      fault: "who has no room is not named",
      text: "reject(error.cause ?? error)",
      becomes: "reject(error)",
      tests: ["tasks/schedule", "run/remote-many"],
    },
    {
      fault: "the failure that came last counts",
      text: "first ??= { task, outcome };",
      becomes: "first = { task, outcome };",
      tests: ["tasks/schedule", "tasks/workspace-run"],
    },
    {
      fault: "tasks that became ready run in any order",
      text: "while (at > 0 && ready[at - 1]! < index) at--;",
      becomes: "",
      tests: ["tasks/schedule"],
    },
    {
      fault: "what depends on a skipped package runs",
      text: "queue.push(...(dependents[index] ?? []));",
      becomes: "",
      tests: ["tasks/schedule", "tasks/workspace-run"],
    },
    {
      fault: "what depends on a task that runs again stays as it is",
      text: "for (const dependent of dependents[index] ?? []) reached.add(dependent);",
      becomes: "",
      tests: ["tasks/schedule"],
    },
    {
      fault: "a failure is not tried again for what waits for it",
      text: `if (outcomes[target] && outcomes[target].kind !== "success") reached.add(target);`,
      becomes: ";",
      tests: ["tasks/schedule", "run/watch-packages"],
    },
    {
      fault: "a task starts again before it has ended",
      text: "if (running.has(index)) ending.add(index);",
      becomes: "running.delete(index);",
      tests: ["tasks/schedule"],
    },
    {
      fault: "the limit stays where the system refused",
      text: "    place.limit = place.running;\n",
      becomes: "",
      tests: ["tasks/schedule"],
    },
    {
      fault: "running tasks are told twice to stop",
      text: `if (isFailure && onFailure === "stop" && !isHalted && !isStopped) {`,
      becomes: `if (isFailure && onFailure === "stop") {`,
      tests: ["tasks/schedule"],
    },
    {
      fault: "a task that was stopped counts as the failure",
      text: `!(outcome.kind === "stopped" && (isHalted || isStopped))`,
      becomes: "true",
      tests: ["tasks/schedule"],
    },
  ],
  "src/tasks/planning/graph.ts": [
    {
      fault: "the package that could start last starts first",
      text: "sort((a, b) => b - a); // smallest last",
      becomes: "sort((a, b) => a - b);",
      tests: ["tasks/graph", "tasks/workspace-run"],
    },
    {
      fault: "a package without the script breaks the order",
      text: "else for (const further of nearest.get(target) ?? []) found.add(further);",
      becomes: "",
      tests: ["tasks/graph", "tasks/workspace-run"],
    },
    {
      fault: "a cycle is told with the way to it",
      text: "path.slice(path.findIndex(({ node }) => node === target))",
      becomes: "path",
      tests: ["tasks/graph", "tasks/workspace-run"],
    },
    {
      fault: "the search for a place is off by one",
      text: "low = middle + 1;\n    else high = middle;",
      becomes: "low = middle + 1;\n    else high = Math.max(middle - 1, low);",
      tests: ["tasks/graph"],
    },
  ],
  "src/tasks/planning/plan.ts": [
    {
      fault: "a glob's scripts come in the order of the file",
      text: ".filter((name) => glob.match(name))\n    .sort();",
      becomes: ".filter((name) => glob.match(name));",
      tests: ["tasks/several-scripts", "tasks/report"],
    },
    {
      fault: "a script that two names mean runs twice",
      text: "[...new Set(names)].map((scriptName, index)",
      becomes: "names.map((scriptName, index)",
      tests: ["tasks/several-scripts"],
    },
    {
      fault: "--parallel waits for dependencies",
      text: "const isOrdered = !request.parallel && !request.sequential;",
      becomes: "const isOrdered = !request.sequential;",
      tests: ["tasks/workspace-run", "tasks/several-scripts"],
    },
    {
      fault: "--workspaces passes over a package without the script",
      text: "const needsAll = request.workspaces && ",
      becomes: "const needsAll = false && ",
      tests: ["tasks/workspace-run", "tasks/mistakes"],
    },
    {
      fault: "a package without a name has no label",
      text: `return name === "" ? path : name;`,
      becomes: "return name;",
      tests: ["tasks/workspace-run", "tasks/several-scripts"],
    },
  ],
  "src/reporters/terminal/github-reporter.ts": [
    {
      fault: "::endgroup:: is joined to an open line",
      text: `\${isLineOpen ? "\\n" : ""}::endgroup::`,
      becomes: "::endgroup::",
      tests: ["tasks/output"],
    },
    {
      fault: "what cannot start is no ::error",
      text: ` || outcome.kind === "unstartable";`,
      becomes: ";",
      tests: ["tasks/output"],
    },
    {
      fault: "what others wrote meanwhile is lost",
      text: "while (!front.log.isEmpty) for (const bytes of front.log.take()) await show(bytes);",
      becomes: "",
      tests: ["tasks/output"],
    },
    {
      fault: "the last group stays open",
      text: "      await advancing;\n      await advance();",
      becomes: "",
      tests: ["tasks/output"],
      why: "the group of what ended last is closed when it ends; waiting here is for readers that are slow",
    },
  ],
  "src/reporters/reporter-selection.ts": [
    {
      fault: "a script that has the terminal is missing in the page",
      text: " && !isShown",
      becomes: "",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "CI gets the live view on its terminal",
      text: " && !env.CI",
      becomes: "",
      tests: ["tasks/live"],
    },
    {
      fault: "a dumb terminal gets the live view",
      text: ` && env.TERM !== "dumb"`,
      becomes: "",
      tests: ["tasks/live"],
    },
    {
      fault: "--silent has a summary",
      text: "  if (!request.silent)\n",
      becomes: "",
      tests: ["tasks/live-silent", "tasks/output"],
    },
    {
      fault: "scripts lose their colours",
      text: `isPassedOn ? { FORCE_COLOR: "1" } : {}`,
      becomes: "{}",
      tests: ["tasks/live"],
    },
    {
      fault: "NO_COLOR is overruled for scripts",
      text: " && !env.NO_COLOR",
      becomes: "",
      tests: ["tasks/output", "tasks/live"],
      why: "with NO_COLOR, useColor is false already",
    },
  ],
  "src/tasks/execution/concurrency-limit.ts": [
    {
      fault: "scripts that are followed take no more descriptors than others",
      text: "trees.childLimit(openCached !== undefined)",
      becomes: "trees.childLimit(false)",
      tests: ["cache/hits"],
    },
    {
      fault: "--sequential runs as many as fit",
      text: "if (sequential) return 1;",
      becomes: "",
      tests: ["tasks/several-scripts", "tasks/concurrency"],
    },
  ],
  "src/reporters/plan/plan-graph.ts": [
    {
      fault: "the page of a plan counts what need not run",
      text: "describeCount(plan.tasks.length, needless)",
      becomes: "describeCount(plan.tasks.length, needless * 0)",
      tests: ["cache/hits"],
    },
    {
      fault: "Mermaid knows no --sequential",
      text: "    waitsFor(plan, index, request).map((from) =>",
      becomes: "    (plan.waitsFor[index] ?? []).map((from) =>",
      tests: ["tasks/plan-page"],
    },
    {
      fault: "a bracket of a name is Mermaid's",
      text: "[^\\p{Letter}\\p{Number} ,/.-]",
      becomes: "[^\\p{Letter}\\p{Number} ,/.\\]-]",
      tests: ["tasks/plan-page"],
    },
  ],
  "src/reporters/plan/graph-layout.ts": [
    {
      fault: "an arrow that goes without saying is drawn",
      text: "!before.some((other) => above[other]!.has(each))",
      becomes: "true",
      tests: ["tasks/plan-page"],
    },
    {
      fault: "what waits stands in the column of what it waits for",
      text: "columns[each]!)) + 1;",
      becomes: "columns[each]!), 0);",
      tests: ["tasks/plan-page"],
    },
  ],
  "src/tasks/planning/critical-path.ts": [
    {
      fault: "a chain goes through the task that ends first",
      text: "ends[position]! > ends[latest]!",
      becomes: "ends[position]! < ends[latest]!",
      tests: ["tasks/report-formats"],
    },
  ],
  "src/reporters/page/document.ts": [
    {
      fault: "what a script wrote ends the page's data",
      text: '.replaceAll("<", ',
      becomes: '.replaceAll("\\u0000", ',
      tests: ["tasks/run-page"],
    },
  ],
  "src/reporters/report-files/junit-reporter.ts": [
    {
      fault: "a control character stands in the XML",
      text: "[\\0-\\x08",
      becomes: "[\\0-\\x00",
      tests: ["tasks/report-formats"],
    },
  ],
  "src/reporters/report-files/json-reporter.ts": [
    {
      fault: "the exit code of what a signal ended is told",
      text: "event.exit.signal === null ? event.exit.code : null",
      becomes: "event.exit.code",
      tests: ["tasks/report"],
    },
    {
      fault: "a package without a name is called nothing",
      text: `task.packageName === "" ? null : task.packageName`,
      becomes: "task.packageName",
      tests: ["tasks/report"],
    },
  ],
  "src/reporters/report-files/report-file.ts": [
    {
      fault: "the report's draft is left behind",
      text: "    rmSync(draft, { force: true });\n",
      becomes: "",
      tests: ["tasks/no-room"],
    },
    {
      fault: "a link to a report becomes a file",
      text: "present.isFile() ? realpathSync(target) : undefined",
      becomes: "present.isFile() ? target : undefined",
      tests: ["tasks/report"],
    },
    {
      fault: "a descriptor's file is replaced",
      text: "if (DESCRIPTOR.test(target)) return undefined;",
      becomes: "",
      tests: ["tasks/report"],
    },
  ],
  "src/tasks/output-queue.ts": [
    {
      fault: "what a full pipe did not take is written again",
      text: "    this.#keepFrom(start);\n",
      becomes: "",
      tests: ["tasks/output"],
    },
    {
      fault: "a slow reader does not slow the scripts",
      text: "return this.#length > FLUSH_AT ? this.#draining : undefined;",
      becomes: "return undefined;",
      tests: ["tasks/unread"],
    },
    {
      fault: "a reader that has gone is told of",
      text: `    if (failure.code === "EPIPE") this.#broken.add(1).add(2);\n    else void`,
      becomes: "    void",
      tests: ["tasks/no-room", "tasks/signals"],
    },
    {
      fault: "a disk that is full is told to nobody",
      text: "    else void this.write(2, `error: ${failure.message}\\n`);",
      becomes: "",
      tests: ["tasks/no-room"],
    },
  ],
  "src/reporters/terminal/line-prefixer.ts": [
    {
      fault: "an open line of another script is continued",
      text: "if (this.#owner !== null && this.#owner !== next) this.#owner.breakLine();",
      becomes: "",
      tests: ["tasks/output"],
    },
    {
      fault: "the last line without a line break is lost",
      text: "    this.#releaseHeld();\n    if (this.#isOpen) this.#options.openLine.take(null, false);",
      becomes: "    if (this.#isOpen) this.#options.openLine.take(null, false);",
      tests: ["tasks/output", "tasks/several-scripts"],
    },
    {
      fault: "the last line does not get a line break",
      text: "if (this.#isOpen) this.#options.openLine.take(null, false);",
      becomes: "",
      tests: ["tasks/output", "tasks/several-scripts"],
      why: "how a script ended is always said behind it, and ends the line as well",
    },
    {
      fault: "a line that goes on gets a prefix in its middle",
      text: "if (!(start === 0 && this.#isOpen) && !isBare(line))",
      becomes: "if (!isBare(line))",
      tests: ["tasks/output"],
    },
  ],
  "src/reporters/terminal/summary-reporter.ts": [
    {
      fault: "the fastest are called the slowest",
      text: "b.duration - a.duration ||",
      becomes: "a.duration - b.duration ||",
      tests: ["tasks/several-scripts"],
    },
    {
      fault: "scripts that could not start are no failures",
      text: ` || kind === "unstartable"`,
      becomes: "",
      tests: ["tasks/workspace-run", "tasks/mistakes", "tasks/several-scripts"],
    },
    {
      fault: "one script has a summary",
      text: "if (results.length > 1)",
      becomes: "if (results.length > 0)",
      tests: ["tasks/workspace-run", "tasks/output"],
    },
  ],
  "src/reporters/task-log.ts": [
    {
      fault: "a long output is read from its file once more",
      text: "    this.#fileSize = 0;\n",
      becomes: "",
      tests: ["tasks/output", "tasks/live"],
    },
    {
      fault: "what is kept of a long output has a name",
      text: "      unlinkSync(path);\n",
      becomes: "",
      tests: ["tasks/no-room", "tasks/output"],
    },
  ],
  "src/tasks/labels.ts": [
    {
      fault: "a minute is 60.00 s",
      text: "milliseconds < 59_995",
      becomes: "milliseconds < 60_000",
      tests: ["tasks/wording"],
    },
    {
      fault: "a second is 1000 ms",
      text: "milliseconds < 999.5",
      becomes: "milliseconds < 1000",
      tests: ["tasks/wording"],
    },
  ],
  "src/reporters/terminal/workflow-command.ts": [
    {
      fault: "text that begins with colons is a command",
      text: "/^(?:::[a-z][\\w-]*[ :]|##\\[)/",
      becomes: "/^(?:::|##\\[)/",
      tests: ["tasks/output"],
    },
  ],
  "src/reporters/terminal/live-reporter.ts": [
    {
      fault: "a failed script's whole output is not shown",
      text: "        printLog(live);\n      }\n      return isComplete;",
      becomes: "      }\n      return isComplete;",
      tests: ["tasks/live"],
    },
    {
      fault: "the view goes on where the shell has written",
      text: "          drawn = { lines: [] }; // the shell has written below\n",
      becomes: "",
      tests: ["tasks/suspension", "tasks/live"],
    },
    {
      fault: "a resized terminal is not drawn anew",
      text: `process.on("SIGWINCH", resized);`,
      becomes: "",
      tests: ["tasks/live"],
    },
    {
      fault: "--silent shows the commands",
      text: `command: silent ? "" : command,`,
      becomes: "command,",
      tests: ["tasks/live-silent"],
    },
  ],
  "src/reporters/report-files/run-record.ts": [
    {
      fault: "what failed is shortened, what succeeded is not",
      text: `outcome.kind === "success" && this.#size > MUCH`,
      becomes: `outcome.kind !== "success" && this.#size > MUCH`,
      tests: ["tasks/record"],
    },
  ],
} satisfies MutantTable;
