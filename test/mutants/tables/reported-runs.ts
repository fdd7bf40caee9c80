// Mutants of the reports of a run, and of what its scripts start and end: what a reader of them would be misled by.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/reporters/report-files/junit-reporter.ts": [
    {
      fault: "what could not be started is a failure",
      text: `return kind === "skipped" || kind === "stopped" ? "skipped" : "error";`,
      becomes: `return kind === "skipped" || kind === "stopped" ? "skipped" : "failure";`,
      tests: ["tasks/report-formats"],
    },
    {
      fault: "what was stopped has failed",
      text: `return kind === "skipped" || kind === "stopped" ? "skipped" : "error";`,
      becomes: `return kind === "skipped" ? "skipped" : "error";`,
      tests: ["tasks/report-formats"],
    },
    {
      fault: "times are milliseconds",
      text: "return (milliseconds / 1000).toFixed(3);",
      becomes: "return milliseconds.toFixed(3);",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "colours stand in the XML",
      text: "escapeXml(Bun.stripANSI(text))",
      becomes: "escapeXml(text)",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "a quote in a name ends the attribute",
      text: `.replace(/[<>&"]/g,`,
      becomes: ".replace(/[<>&]/g,",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "what is left out of an output is not said",
      text: 'const note = omitted > 0 ? `[${omitted} bytes are left out here]\\n` : "";',
      becomes: `const note = omitted > 1e9 ? "" : "";`,
      tests: ["tasks/report-formats", "tasks/record"],
    },
    {
      fault: "a suite begins when its last script does",
      text: "Math.min(...members.map(({ start }) => start))",
      becomes: "Math.max(...members.map(({ start }) => start))",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "the skipped count as tests that have passed",
      text: `    skipped: count("skipped"),`,
      becomes: `    skipped: 0 * count("skipped"),`,
      tests: ["tasks/report-formats"],
    },
  ],
  "src/reporters/report-files/json-reporter.ts": [
    {
      fault: "a task's start is its end",
      text: "start: round(at - duration),",
      becomes: "start: round(at),",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "a task that has run again is told twice",
      text: "        tasks.delete(task);\n        tasks.set(task, {",
      becomes: "        tasks.set({ ...task }, {",
      tests: ["tasks/report", "run/watch-packages"],
    },
    {
      fault: "steps of another task are told as well",
      text: "steps.get(`${task.index} ${scriptName}`) ?? []",
      becomes: "steps.get(`0 ${scriptName}`) ?? []",
      tests: ["tasks/report"],
    },
    {
      fault: "what a skipped script waited for is not told",
      text: "return { because: outcome.because.label };",
      becomes: "return {};",
      tests: ["tasks/report"],
    },
    {
      fault: "how much a hit has saved is not told",
      text: "outcome.saved === undefined ? { exitCode: 0 } : { exitCode: 0, saved: round(outcome.saved) }",
      becomes: "{ exitCode: 0 }",
      tests: ["cache/hits", "tasks/report", "tasks/report-formats"],
    },
    {
      fault: "a separator of lines stands in the JSON as it is",
      text: "escapeJson(JSON.stringify(report, null, 2))",
      becomes: "JSON.stringify(report, null, 2)",
      tests: ["tasks/report-formats"],
    },
  ],
  "src/reporters/report-files/trace-reporter.ts": [
    {
      fault: "scripts that ran at one time are in one lane",
      text: "let lane = free.findIndex((end) => end <= begin);",
      becomes: "let lane = free.findIndex((end) => end > 0);",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "each script has a lane of its own",
      text: "let lane = free.findIndex((end) => end <= begin);",
      becomes: "let lane = free.findIndex((end) => end < 0);",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "times are milliseconds",
      text: "return Math.round(milliseconds * 1000);",
      becomes: "return Math.round(milliseconds);",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "an arrow begins where what was waited for did",
      text: "ts: Math.min(ended, begin) });",
      becomes: "ts: micro(tasks[before]!.start) });",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "what never ran has a place",
      text: "if (lane.tid === 0) continue; // it never ran",
      becomes: "",
      tests: ["tasks/report-formats"],
    },
    {
      fault: "what comes from the cache looks as if it had run",
      text: `const cat = saved ? "cached" : "script";`,
      becomes: `const cat = saved ? "script" : "script";`,
      tests: ["tasks/report-formats", "cache/hits"],
    },
  ],
  "src/reporters/page/run-page-reporter.ts": [
    {
      fault: "what failed is shown as executed",
      text: `  failure: "failed",`,
      becomes: `  failure: "executed",`,
      tests: ["tasks/run-page", "tasks/report-formats"],
    },
    {
      fault: "what a signal has ended is shown as executed",
      text: `  signal: "failed",`,
      becomes: `  signal: "executed",`,
      tests: ["tasks/run-page", "tasks/report-formats"],
    },
    {
      fault: "what was stopped is shown as skipped",
      text: `  stopped: "stopped",`,
      becomes: `  stopped: "skipped",`,
      tests: ["tasks/run-page", "tasks/report-formats"],
    },
    {
      fault: "which secrets a script had is not shown",
      text: "secrets: (step.secrets ?? []).map(({ name }) => printable(name)),",
      becomes: "secrets: [],",
      tests: ["tasks/run-page", "secrets/mapping/scripts", "tasks/report-formats"],
    },
    {
      fault: "a sequential run has a critical path of one script",
      text: "      ? run.tasks.map((_, index) => (index > 0 ? [index - 1] : []))\n",
      becomes: "      ? run.tasks.map(() => [])\n",
      tests: ["tasks/run-page", "tasks/report-formats"],
    },
    {
      fault: "a run's limit is not told",
      text: "...(limit < tasks.length && { limit }),",
      becomes: "",
      tests: ["tasks/run-page", "tasks/report-formats"],
    },
  ],
  "src/reporters/report-files/truncated-output.ts": [
    {
      fault: "a line that is cut is shown as one",
      text: "const to = end.indexOf(NEWLINE) + 1;",
      becomes: "const to = 0;",
      tests: ["tasks/record", "tasks/report-formats"],
    },
    {
      fault: "how many bytes are left out is wrong",
      text: "omitted: this.#omitted + beginning.length - from + to,",
      becomes: "omitted: this.#omitted,",
      tests: ["tasks/record", "tasks/report-formats"],
    },
    {
      fault: "the end of what was written is kept in front of its beginning",
      text: "this.#buffer.set(old, bytes.length);",
      becomes: "this.#buffer.set(old, 0);",
      tests: ["tasks/record", "tasks/report-formats"],
    },
    {
      fault: "what a talkative script wrote is kept whole",
      text: "    if (this.#end.length > 2 * END) this.trim();\n",
      becomes: "",
      tests: ["tasks/record", "tasks/report-formats"],
    },
    {
      fault: "a character in two pieces is two",
      text: 'if (this.#omitted === 0)\n      return { beginning: decoder.decode(Buffer.concat([beginning, end])), omitted: 0, end: "" };',
      becomes:
        'if (this.#omitted === 0)\n      return { beginning: decoder.decode(beginning) + decoder.decode(end), omitted: 0, end: "" };',
      tests: ["tasks/record", "tasks/report-formats"],
    },
  ],
  "src/reporters/report-files/report-file.ts": [
    {
      fault: "a report is written where it lies",
      text: `    writeFileSync(draft, text, { flag: "wx" });\n    renameSync(draft, file);`,
      becomes: `    writeFileSync(file, text);`,
      tests: ["tasks/report", "tasks/no-room"],
    },
    {
      fault: "a folder that cannot be written to is told after the run",
      text: "if (replaced !== undefined) accessSync(dirname(replaced), constants.W_OK);",
      becomes: "void replaced;",
      tests: ["tasks/report", "tasks/no-room", "tasks/mistakes"],
    },
    {
      fault: "a pipe that nobody reads holds rt up though a second signal came",
      text: "await Promise.race([writeReport(target, text), queue.hurried.then(() => false)])",
      becomes: "await writeReport(target, text)",
      tests: ["tasks/report", "tasks/unread", "tasks/no-room"],
    },
    {
      fault: "a pipe becomes a file",
      text: "if (present) return present.isFile() ? realpathSync(target) : undefined;",
      becomes: "if (present) return realpathSync(target);",
      tests: ["tasks/report"],
    },
    {
      fault: "a report to /dev/stdout stands in front of the output",
      text: `if (target === "/dev/stdout") void queue.write(1, text);`,
      becomes: `if (target === "/dev/stdout/") void queue.write(1, text);`,
      tests: ["tasks/report"],
    },
  ],
  "src/reporters/terminal/github-reporter.ts": [
    {
      fault: "a script's name may be a command for the service",
      text: "`::group::${commandText(labelOf(entry.task))}\\n`",
      becomes: "`::group::${labelOf(entry.task)}\\n`",
      tests: ["tasks/names"],
    },
    {
      fault: "a warning is joined to an open line",
      text: `    const lead = isLineOpen ? "\\n" : "";\n    isLineOpen = false;\n    return queue.write(1, \`\${lead}::warning::`,
      becomes: `    const lead = "";\n    isLineOpen = false;\n    return queue.write(1, \`\${lead}::warning::`,
      tests: ["tasks/no-room"],
    },
    {
      fault: "what a signal has ended is no ::error",
      text: `outcome.kind === "failure" || outcome.kind === "signal" || outcome.kind === "unstartable";`,
      becomes: `outcome.kind === "failure" || outcome.kind === "unstartable";`,
      tests: ["tasks/output"],
    },
  ],
  "src/reporters/terminal/workflow-command.ts": [
    {
      fault: "a comma in a name ends a property",
      text: `.replaceAll(",", "%2C")`,
      becomes: "",
      tests: ["tasks/names"],
    },
    {
      fault: "a per cent sign in a name is a character of the service's",
      text: `oneLine(text).replaceAll("%", "%25")`,
      becomes: "oneLine(text)",
      tests: ["tasks/names"],
    },
  ],
  "src/reporters/terminal/plain-reporter.ts": [
    {
      fault: "a script that could not start ends without a word",
      text: `if (event.outcome.kind === "unstartable") say(`,
      becomes: `if (event.outcome.kind === "stopped") say(`,
      tests: ["cache/hits", "tasks/ending", "cache/followed-script", "cache/declared"],
    },
    {
      fault: "a hook that failed ends without a word",
      text: "if (exit.signal === null) say(`error: script",
      becomes: "if (exit.code < 0) say(`error: script",
      tests: ["cache/hits"],
    },
    {
      fault: "errors are output",
      text: "return queue.write(event.isError ? 2 : 1, event.bytes);",
      becomes: "return queue.write(1, event.bytes);",
      tests: ["cache/hits", "cache/followed-script", "cache/declared"],
    },
  ],
  "src/reporters/terminal/summary-reporter.ts": [
    {
      fault: "what a signal has ended is no failure",
      text: `return kind === "failure" || kind === "signal" || kind === "unstartable";`,
      becomes: `return kind === "failure" || kind === "unstartable";`,
      tests: ["tasks/several-scripts", "tasks/workspace-run"],
    },
    {
      fault: "more than three are called the slowest",
      text: "const SLOWEST = 3;",
      becomes: "const SLOWEST = 4;",
      tests: ["tasks/several-scripts", "tasks/workspace-run", "tasks/wording"],
    },
  ],
  "src/tasks/execution/spawn-error.ts": [
    {
      fault: "an environment that is too long is no 126",
      text: "  E2BIG: 126,\n",
      becomes: "",
      tests: ["tasks/ending", "tasks/mistakes", "tasks/no-room"],
    },
    {
      fault: "a directory that is not there is a program that is not there",
      text: `if (files.readFile(cwd, 1) === "ENOENT") return`,
      becomes: `if (files.readFile(cwd, 1) === "ENOTDIR") return`,
      tests: ["tasks/ending", "tasks/mistakes"],
    },
    {
      fault: "a lack of memory for a process is a failure of the script",
      text: `["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]`,
      becomes: `["EMFILE", "ENFILE"]`,
      tests: ["tasks/wording"],
    },
  ],
  "src/tasks/execution/concurrency-limiter.ts": [
    {
      fault: "what matters least goes first",
      text: "if (rank > this.#waiting[best]!.rank) best = at;",
      becomes: "if (rank < this.#waiting[best]!.rank) best = at;",
      tests: ["tasks/schedule"],
    },
    {
      fault: "a job that failed keeps its place",
      text: "    } finally {\n      this.#running -= 1;\n      this.#go();\n    }",
      becomes: "    } finally {\n      this.#go();\n    }",
      tests: ["tasks/schedule"],
    },
  ],
  "src/tasks/planning/shard.ts": [
    {
      fault: "a script that nothing waits for runs on two machines",
      text: "    owns[at]!.push(index);\n",
      becomes: "    owns[at]!.push(index);\n    owns[0]!.push(index);\n",
      tests: ["tasks/shard"],
    },
    {
      fault: "a script that others wait for is nobody's",
      text: "candidates.find(({ length }) => length === fewest)!.push(index);",
      becomes: "candidates.find(({ length }) => length < fewest)?.push(index);",
      tests: ["tasks/shard"],
    },
    {
      fault: "shards count from 0",
      text: "const { own, needed } = shares[number - 1]!;\n  const kept",
      becomes: "const { own, needed } = shares[number % count]!;\n  const kept",
      tests: ["tasks/shard"],
    },
    {
      fault: "two splits have one name",
      text: "JSON.stringify(lines)",
      becomes: "String(lines.length)",
      tests: ["tasks/shard"],
    },
  ],
  "src/tasks/execution/shutdown.ts": [
    {
      fault: "SIGHUP ends no script",
      text: `const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;`,
      becomes: `const FORWARDED = ["SIGINT", "SIGTERM"] as const;`,
      tests: ["tasks/ending", "tasks/signals"],
    },
    {
      fault: "what rt was started to ignore ends its scripts",
      text: "for (const signal of host.heeded(FORWARDED)) {",
      becomes: "for (const signal of FORWARDED) {",
      tests: ["tasks/ending", "tasks/signals", "run/ending"],
    },
    {
      fault: "Ctrl-C comes twice to a script that shares the terminal",
      text: "isToldAlready && !isImpatient",
      becomes: "false && !isImpatient",
      tests: ["run/terminal"],
    },
  ],
  "src/runner/task-run/run-tasks.ts": [
    {
      fault: "what could not be started ends with 1",
      text: `outcome.kind === "failure" || outcome.kind === "unstartable" ? outcome.code : 1`,
      becomes: `outcome.kind === "failure" ? outcome.code : 1`,
      tests: ["tasks/ending", "tasks/mistakes"],
    },
    {
      fault: "a dry run of packages that cannot be read is a success",
      text: "return status === 0 && plan.isIncomplete ? 1 : status;\n  }\n  await request.prepare",
      becomes: "return status;\n  }\n  await request.prepare",
      tests: ["workspace/unreadable-members"],
    },
    {
      fault: "a listing into a pipe that was closed is a success",
      text: `status = code === "EPIPE" ? { signal: "SIGPIPE" } : 1`,
      becomes: 'status = code === "" ? 1 : 0',
      tests: ["tasks/unread", "tasks/no-room", "tasks/signals", "run/unwritable"],
    },
  ],
  "src/runner/script/signal-forwarding.ts": [
    {
      fault: "a signal to rt alone is not passed on",
      text: "else if (!isFromTerminal) trees.signalTrees(children, signal);",
      becomes: "",
      tests: ["run/ending", "run/hooks"],
    },
    {
      fault: "a hang-up is not passed on",
      text: `const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;`,
      becomes: `const FORWARDED = ["SIGINT", "SIGTERM"] as const;`,
      tests: ["run/ending", "run/hooks", "run/terminal"],
    },
    {
      fault: "the last signal counts for a hook",
      text: "received ??= signal;",
      becomes: "received = signal;",
      tests: ["run/ending", "run/hooks", "tasks/ending", "run/signal-at"],
    },
    {
      fault: "signals that rt was started to ignore end its script",
      text: "const signals = host.heeded(HEEDED);",
      becomes: "const signals = HEEDED;",
      tests: ["run/ending", "run/inheritance", "run/hooks"],
    },
  ],
  "src/runner/script/environment.ts": [
    {
      fault: "a script is told that rt started it one level too few",
      text: "entries.filter((other) => other === entry).length < MOST_RECURSIONS",
      becomes: "entries.filter((other) => other === entry).length <= MOST_RECURSIONS + 4",
      tests: ["run/hooks", "run/environment"],
    },
    {
      fault: "a NUL character in package.json cuts a variable",
      text: `if (name.includes("\\0") || value.includes("\\0"))`,
      becomes: `if (name.includes("\\0"))`,
      tests: ["run/environment", "cli/malformed-package", "run/script"],
    },
    {
      fault: "an old value of npm_lifecycle_event reaches the script",
      text: "  environment.npm_lifecycle_event = context.event;\n",
      becomes: "",
      tests: ["run/environment", "run/hooks"],
    },
    {
      fault: "a config of any depth becomes variables",
      text: "if (depth > DEEPEST)",
      becomes: "if (depth > 100 * DEEPEST)",
      tests: ["run/environment", "cli/malformed-package", "workspace/hostile-files", "run/script"],
    },
    {
      fault: "a folder with a line break makes two entries of one script",
      text: `return entry.includes(ENTRY_SEPARATOR) ? entry.replaceAll(ENTRY_SEPARATOR, " ") : entry;`,
      becomes: "return entry;",
      tests: ["run/hooks", "run/environment"],
    },
  ],
  "src/tasks/execution/step-runner.ts": [
    {
      fault: "the post-hook runs though its script failed",
      text: 'if (outcome.kind !== "success") return outcome;',
      becomes: 'if (outcome.kind !== "success" && step === task.steps.at(-1)) return outcome;',
      tests: ["tasks/workspace-run", "tasks/several-scripts"],
    },
    {
      fault: "what was asked to stop and failed is the failure",
      text: 'if (this.#options.isEnding(task)) return { kind: "stopped", wasRunning: true };\n    if (exit',
      becomes: "if (exit",
      tests: ["tasks/ending", "tasks/signals", "tasks/several-scripts"],
    },
    {
      fault: "a script that could not be followed does not run",
      text: "if (this.#options.isOver() || (await isTraced)) return ended;",
      becomes: "return ended;",
      tests: ["cache/hits", "cache/doubts", "cache/followed-script"],
    },
  ],
} satisfies MutantTable;
