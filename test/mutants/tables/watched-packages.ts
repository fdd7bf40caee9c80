// Mutants of scripts of many packages that start again at a change.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/runner/watch/watch-session.ts": [
    {
      fault: "what one makes in a folder that it lists ends it",
      text: "        if (this.#pending.has(task) && !known.of(task)!.inputs.hasRead(path)) continue;\n",
      becomes: "",
      tests: ["run/watch-cache"],
    },
    {
      fault: "what one that fails leaves in a folder that it lists is told as a change of the user's",
      text: "!isHeld && !isListed &&",
      becomes: "!isHeld &&",
      tests: ["run/watch-cache"],
    },
    {
      fault: "a task that has ended is not started again",
      text: "const again = this.#run!.again([...tasks]);",
      becomes: "const again = this.#run!.again([...tasks].filter((task) => this.#run!.isRunning(task)));",
      tests: ["run/watch-packages"],
    },
    {
      fault: "what a failing script writes is tried again without end",
      text: "isLeft ? [] : exact",
      becomes: "exact",
      tests: ["run/watch-cache"],
    },
    {
      fault: "what a script has found is a change for it",
      text: "this.#mayHaveSeen(task, path) || ",
      becomes: "",
      tests: ["run/watch-cache"],
    },
    {
      fault: "what concerns nobody is not said",
      text: '      notes.tellReasons(paths, "; nothing that was chosen depends on it");\n',
      becomes: "",
      tests: ["run/watch-packages"],
    },
    {
      fault: "reasons of a round are forgotten",
      text: "if (this.#isIdle) this.#reasons = [...this.#reasons, ...paths];",
      becomes: "if (this.#isIdle) this.#reasons = paths;",
      tests: ["run/watch-packages"],
      why: "two changes in the moment before a round begins cannot be made at will; then the first is not named",
    },
    {
      fault: "a change of all leaves the plan as it was",
      text: "      this.#isOver = true;\n",
      becomes: "",
      tests: ["run/watch-packages"],
    },
  ],
  "src/runner/watch/task-inputs.ts": [
    {
      fault: "one that has failed counts as what it was before",
      text: "isNewest: inputs !== undefined",
      becomes: "isNewest: true",
      tests: ["run/watch-cache"],
    },
  ],
  "src/runner/task-run/run-tasks.ts": [
    {
      fault: "the times of a round count from the beginning of the run",
      text: "      executor.beginRound();\n",
      becomes: "",
      tests: ["run/watch-reports"],
    },
  ],
  "src/tasks/execution/executor.ts": [
    {
      fault: "a script of which nothing has changed shows again what it did",
      text: "if (!isShown) await replay",
      becomes: "await replay",
      tests: ["run/watch-cache"],
    },
  ],
  "src/cache/tracing/recorded-inputs.ts": [
    {
      fault: "what is new where a link leads is not heard",
      text: "isFound(path) || linked.has(dirname(path));",
      becomes: "isFound(path);",
      tests: ["run/watch-cache"],
    },
    {
      fault: "what is written as it was is a change",
      text: "output && (await isOutput(output, state, world.hashes)))) return true;",
      becomes: "output && (await isOutput(output, state, world.hashes)))) return true;\n      return true;",
      tests: ["run/watch-cache"],
    },
    {
      fault: "what happens outside of the packages is not heard",
      text: "        this.directories.add(dirname(path));\n",
      becomes: "",
      tests: ["run/watch-cache"],
    },
    {
      fault: "listings do not count",
      text: "if (names && isListed(names",
      becomes: "if (!names && isListed(names!",
      tests: ["run/watch-cache"],
    },
  ],
  "src/reporters/report-files/own-report-paths.ts": [
    {
      fault: "a report behind a link is a change of the user's",
      text: "(realPath(target) ?? withRealFolder(target)) === name",
      becomes: "target === name",
      tests: ["run/watch-reports"],
    },
    {
      fault: "a report that is being written is a change of the user's",
      text: 'path.replace(DRAFT, "")',
      becomes: "path",
      tests: ["run/watch-reports"],
    },
    {
      fault: "every file with a report's name is one",
      text: "targets.includes(file)",
      becomes: 'targets.some((target) => target.split("/").at(-1) === file.split("/").at(-1))',
      tests: ["run/watch-reports"],
    },
  ],
  "src/watch/source-watcher.ts": [
    {
      fault: "a report that is named to be watched starts what it tells of",
      text: "if (path === file) return !isOwn?.(path);",
      becomes: "if (path === file) return true;",
      tests: ["run/watch-reports"],
    },
    {
      fault: "rt's own report is a change of the user's",
      text: "    return !isOwn?.(path);\n  }",
      becomes: "    return true;\n  }",
      tests: ["run/watch-reports"],
    },
    {
      fault: "a folder that took another's place is not watched",
      text: "if (isAnother(path)) leave(path);",
      becomes: "",
      tests: ["run/watch-cache"],
    },
    {
      fault: "of what was read and is ignored, what is above is not watched",
      text: "for (const each of [...foldersAbove(directory), directory])",
      becomes: "for (const each of [directory])",
      tests: ["run/watch-cache"],
    },
    {
      fault: "what was read and is ignored is not watched when it comes back",
      text: "          includeAgain(path);\n",
      becomes: "",
      tests: ["run/watch-cache"],
    },
  ],
  "src/runner/watch/affected-tasks.ts": [
    {
      fault: "what one that fails leaves in a folder that it lists starts it again",
      text: "inputs?.hasRead(path)",
      becomes: "inputs?.has(path)",
      tests: ["run/watch-cache"],
    },
    {
      fault: "a script that is known starts with its package all the same",
      text: "    if (isNewest) {",
      becomes: "    if (isNewest && inputs!.has(path)) {",
      tests: ["run/watch-cache"],
    },
  ],
  "src/runner/watch/script-watch.ts": [
    {
      fault: "the report of one script starts it again",
      text: "many?.reports ?? []",
      becomes: "[]",
      tests: ["run/watch-reports"],
    },
  ],
  "src/runner/watch/multi-package-watch.ts": [
    {
      fault: "a change while rt plans is forgotten",
      text: "if (reasons.length > 0 && session?.react(reasons)) reasons = [];",
      becomes: "session?.react(reasons);\n    reasons = [];",
      tests: ["run/watch-packages"],
    },
    {
      fault: "a workspace that cannot be planned ends the run",
      text: "        if (reasons.length === 0) await new Promise<void>((resolve) => (wake = resolve));",
      becomes: "        return 1;",
      tests: ["run/watch-packages"],
    },
    {
      fault: "the last signal wins",
      text: "    stop ??= signal;",
      becomes: "    stop = signal;",
      tests: ["run/watch-packages", "tasks/signals"],
      why: "at the first one nothing is waited for any more",
    },
    {
      fault: "a signal while nothing can be planned is not heard",
      text: "        if (stop) return { signal: stop };\n      }",
      becomes: "      }",
      tests: ["run/watch-packages"],
    },
    {
      fault: "what daemons leave behind is nobody's",
      text: "  trees.adoptOrphans();\n",
      becomes: "",
      tests: ["run/watch-packages", "run/watch"],
    },
  ],
  "src/tasks/execution/watched-process-trees.ts": [
    {
      fault: "what ignores the signal is waited for without end",
      text: '    if (performance.now() > deadline) trees.signalTrees(children, "SIGKILL", families);\n',
      becomes: "",
      tests: ["run/watch-packages"],
    },
    {
      fault: "a task starts again while something of it runs",
      text: "    await this.#endings.get(task);\n",
      becomes: "",
      tests: ["run/watch-packages"],
    },
    {
      fault: "what a task that has ended left behind stays",
      text: "(task) => !this.#endings.has(task) && (this.#active.has(task) || this.#children.has(task)),",
      becomes: "(task) => !this.#endings.has(task) && this.#active.has(task),",
      tests: ["run/watch-packages"],
    },
    {
      fault: "only what was started last is ended",
      text: "[...(this.#children.get(task) ?? []), child]",
      becomes: "[child]",
      tests: ["run/watch-packages"],
    },
    {
      fault: "what left its parent is not found",
      text: "const families = fresh.map(familyOf);",
      becomes: "const families: string[] = [];",
      tests: ["run/watch-packages"],
    },
  ],
} satisfies MutantTable;
