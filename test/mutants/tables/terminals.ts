// Mutants of a script's own terminal, and of who stands between it and the one that rt is on.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/runner/script/redacted-process.ts": [
    {
      fault: "what was made too early stays when rt becomes the script",
      text: `  if (way.way !== "terminal") early?.close();\n`,
      becomes: "",
      tests: ["run/attended-start"],
    },
    {
      fault: "a reader that is gone is a failure",
      text: `code !== "EPIPE" && code !== "EIO"`,
      becomes: `code !== "EIO"`,
      tests: ["run/attended"],
    },
    {
      fault: "output that could not be written is a success",
      text: "if (isIncomplete && code === 0) return 1;\n",
      becomes: "",
      tests: ["run/attended"],
    },
    {
      fault: "a signal during a script's last command stops nothing after it",
      text: `return received && code === 0 && next !== "end" ? { signal: received } : code;`,
      becomes: "return code;",
      tests: ["run/attended"],
    },
    {
      fault: "values stay in memory after the program",
      text: "    redaction?.zero();\n",
      becomes: "",
      tests: ["run/attended", "secrets/zeroing"],
      why: "rt ends with the program, and what it keeps of values nobody else can look into",
    },
    {
      fault: "what is held back at the end is lost",
      text: "void (isOver ? redactor.end() : redactor.release())",
      becomes: "void redactor.release()",
      tests: ["run/attended"],
    },
    {
      fault: "a signal that comes while a reader is waited for ends nothing",
      text: "isOver && all.forEach(({ queue }) => queue.hurry())",
      becomes: "all.length === 0",
      tests: ["run/attended"],
    },
  ],
  "src/runner/script/stdio-strategy.ts": [
    {
      fault: "a program without anything to hide is attended",
      text: 'if (!hasRedacted) return { way: "become" };\n',
      becomes: "",
      tests: ["run/attended"],
    },
  ],
  "platform/terminal/posix/terminal.ts": [
    {
      fault: "rt keeps the ends of pipes that the program writes to",
      text: "        closeWriters();\n        if (typeof attended",
      becomes: "        if (typeof attended",
      tests: ["run/attended-start"],
    },
    {
      fault: "without terminals to be had it starts all the same",
      text: "if (isOnTerminal && !pair) return errorCode(EMFILE);\n",
      becomes: "",
      tests: ["run/attended"],
    },
    {
      fault: "a program that is not found leaves the terminal raw",
      text: "        session?.close();\n        closeAll();\n        return attended;\n",
      becomes: "        closeAll();\n        return attended;\n",
      tests: ["run/attended"],
      why: "the end of rt puts its modes back as well",
    },
    {
      fault: "its last words are lost",
      text: "      await Promise.all(outlets.map((outlet) => outlet.finish()));\n",
      becomes: "",
      tests: ["run/attended"],
    },
  ],
  "platform/terminal/linux/job-monitor.ts": [
    {
      fault: "the kernel lets no Ctrl-Z stop what catches it",
      text: `return openProgram("monitor");`,
      becomes: "return undefined;",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "a script begins where rt was started",
      text: `here === from ? "" : here`,
      becomes: `""`,
      tests: ["run/attended-start"],
    },
    {
      fault: "a monitor that is not needed is left for the script to wait for",
      text: "      closeDescriptor(report);\n      waitForEnd(pid);\n    },\n  };",
      becomes: "    },\n  };",
      tests: ["run/attended-start"],
    },
    {
      fault: "a monitor whose program cannot be started is not waited for",
      text: "      waitForEnd(pid);\n      return { error };",
      becomes: "      return { error };",
      tests: ["run/attended-start"],
      why: "rt ends then",
    },
    {
      fault: "an order stays in memory",
      text: "      bytes.fill(0);\n",
      becomes: "",
      tests: ["run/attended-start"],
      why: "nobody else can look into what rt keeps",
    },
  ],
  "src/runner/execution.ts": [
    {
      fault: "a terminal is made when all is known",
      text: `early = (await import("./script/places.ts")).openEarly(descriptors);`,
      becomes: `await import("./script/places.ts");`,
      tests: ["run/attended-start"],
    },
  ],
  "src/runner/script/launch.ts": [
    {
      fault: "a script is to run where its hook has",
      text: "    early = undefined;\n",
      becomes: "",
      tests: ["run/attended-start"],
    },
  ],
  "platform/native/linux/job-monitor.c": [
    {
      fault: "a program in C is changed and not compiled anew",
      text: "else if (signal > 0) CALL(kill, script, signal, 0, 0, 0);",
      becomes: "",
      tests: ["posix/native"],
    },
  ],
  "platform/terminal/posix/terminal-session.ts": [
    {
      fault: "a terminal that went away before its first key was waited for is not missed",
      text: "    if (descriptor < 0 && !modesOf(this.#outer)) this.hangUp();\n",
      becomes: "",
      tests: ["run/attended"],
      why: "it takes a terminal that goes away within the first milliseconds, which the tests meet only now and then",
    },
    {
      fault: "a program that was stopped is shown in front of what it put right",
      text: "if (this.#isMonitored) await this.#awaitRest(group);",
      becomes: "if (this.#isMonitored) void group;",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "that a program died while it stood still is never known",
      text: "    this.#ask(); // of the stop nobody needs to be told; of an end, yes\n",
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
      why: "The signal of an end that is on its way is heard later as well. Looking earlier keeps one of a stop from being taken for another stop, where it is on its way for longer than two turns.",
    },
    {
      fault: "a stop that is sent to rt is not passed on",
      text: "isMonitored ? this.#send(pid, signal) : void this.#suspend()",
      becomes: "isMonitored ? undefined : void this.#suspend()",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "signals are told twice",
      text: "this.#told.delete(signal) || this.#send(pid, signal)",
      becomes: "this.#send(pid, signal)",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "a shell's own jobs cannot be stopped",
      text: "return foregroundOf(this.#pair.master) === this.#program;",
      becomes: "return true;",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "a key that stops is not shown",
      text: "if (showsKeys(modes!))",
      becomes: "if (modes === null)",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "the key that stops is typed as well",
      text: "rest = rest.subarray(at + 1);",
      becomes: "rest = rest.subarray(at);",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "what was typed in front of the key that stops is lost",
      text: "await this.#write(before);",
      becomes: "if (at < 0) await this.#write(before);",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "a program that stopped itself leaves the shell waiting",
      text: "    if (!this.#isSuspended) void this.#suspend();\n",
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "the terminal's size while rt stood still is not told",
      text: "    this.#terminals.look();\n    this.#terminals.copySize();\n    this.#send(stopped",
      becomes: "    this.#terminals.look();\n    this.#send(stopped",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "what was written before it was stopped comes after it",
      text: "    await this.#request.flush();\n    this.#terminals.leave();",
      becomes: "    this.#terminals.leave();",
      tests: ["run/attended", "run/attended-jobs"],
      why: "a terminal that takes what is written has it when the turn of the event loop ends",
    },
    {
      fault: "the shell gets a raw terminal while rt stands still",
      text: "    this.#terminals.leave();\n    stopJob();",
      becomes: "    stopJob();",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "listeners stay",
      text: "    for (const remove of this.#removers) remove();\n",
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
      why: "a listener that is left sends to a number that nobody has any more",
    },
  ],
  "platform/terminal/posix/terminal-sync.ts": [
    {
      fault: "the first size is not told",
      text: '    process.on("exit", this.#atExit);\n    this.copySize();',
      becomes: `    process.on("exit", this.#atExit);`,
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "the program's terminal has other modes",
      text: "      setModes(inner, isBehind ? withOutputChanged(modes, false) : modes);\n",
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "a fault of rt's own leaves the terminal raw",
      text: '    process.on("exit", this.#atExit);\n',
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
      why: "every end that is known puts them back by itself; this is for the others",
    },
    {
      fault: "in the background the terminal is taken",
      text: "    const isFront = !isInBackground(outer);",
      becomes: "    const isFront = true;",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "a job that comes to the front leaves line ends as they were",
      text: "    if (this.#isOutputOff === isFront) this.#changeOutput(inner, isFront);\n",
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
  ],
  "platform/terminal/posix/terminal-modes.ts": [
    {
      fault: "rt's terminal is inherited by what it starts",
      text: "  calls.fcntl(master, F_SETFD, ...repeat(FD_CLOEXEC));\n",
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "a byte that the terminal does not heed stops a job",
      text: "return isHeeded && key !==",
      becomes: "return key !==",
      tests: ["run/attended", "run/attended-jobs"],
    },
  ],
  "platform/terminal/posix/keyboard.ts": [
    {
      fault: "what was read after the stop is the program's",
      text: "    if (this.#reader !== reader) return;\n",
      becomes: "",
      tests: ["run/attended"],
    },
  ],
} satisfies MutantTable;
