// A process survives, dies too early, or hangs.
import type { MutantTable } from "../mutant.ts";

export default {
  "platform/processes/posix/kill-watchdog.ts": [
    {
      fault: "SIGINT ends the guardian",
      text: "trap '' INT TERM HUP QUIT",
      becomes: "",
      tests: ["tasks/signals"],
    },
    {
      fault: "a process in another session survives rt",
      text: `case $doomed in *" $parent "*) doomed="$doomed$pid " ;; esac`,
      becomes: "",
      tests: ["tasks/signals"],
    },
  ],
  "platform/processes/posix/process-tree.ts": [
    {
      fault: "processes stay stopped after they were listed",
      text: `if (RELAYED.includes(signal)) for (const target of targets) send(target, "SIGCONT");`,
      becomes: "",
      tests: ["tasks/signals", "runner/process/exit-status"],
    },
    {
      fault: "child processes continue at Ctrl-Z",
      text: `signalTrees(stopped, "SIGSTOP");`,
      becomes: "",
      tests: ["tasks/suspension"],
    },
    {
      fault: "child processes stay stopped after `fg`",
      text: `signalTrees(stopped, "SIGCONT");`,
      becomes: "",
      tests: ["tasks/suspension"],
    },
  ],
  "platform/processes/posix/signals.ts": [
    {
      fault: "a signal that was ignored at start ends the run",
      text: "return read.ptr(ptr(action), 0) !== SIG_IGN;",
      becomes: "return true;",
      tests: ["runner/process/exit-status", "tasks/signals", "runner/hooks"],
    },
  ],
  "platform/processes/posix/process.ts": [
    {
      fault: "rt handles the signal by which it should die",
      text: `processLibc().signal(number, null);
  processLibc().raise(number);`,
      becomes: "processLibc().raise(number);",
      tests: ["runner/process/exit-status", "tasks/signals"],
    },
  ],
  "platform/processes/posix/spawn.ts": [
    {
      fault: "a program that a signal ended counts as successful",
      text: `return { kind: "killed", signal: low };`,
      becomes: `return { kind: "exited", code: 0 };`,
      tests: ["runner/redacted/terminal-and-pipes"],
    },
  ],
  "src/tasks/execution/shutdown.ts": [
    {
      fault: "SIGHUP does not end scripts",
      text: `const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;`,
      becomes: `const FORWARDED = ["SIGINT", "SIGTERM"] as const;`,
      tests: ["tasks/shutdown", "tasks/signals"],
    },
  ],
  "src/runner/script/signal-forwarding.ts": [
    {
      fault: "a signal to rt is not forwarded",
      text: "else if (!isFromTerminal) trees.signalTrees(children, signal);",
      becomes: "",
      tests: ["runner/process/exit-status", "runner/hooks"],
    },
    {
      fault: "a second signal does not kill",
      text: `if (received) trees.signalTrees(children, "SIGKILL");
      else if`,
      becomes: "if",
      tests: ["tasks/shutdown"],
    },
  ],
  "platform/terminal/posix/terminal-sync.ts": [
    {
      fault: "the terminal stays raw at exit",
      text: "if (this.#modes && !isInBackground(outer)) setModes(outer, this.#modes);",
      becomes: "",
      tests: ["runner/redacted/terminal-and-pipes", "runner/redacted/job-control"],
    },
  ],
  "platform/terminal/posix/terminal-session.ts": [
    {
      fault: "a program survives its terminal",
      text: "onEnd: () => this.hangUp(),",
      becomes: "onEnd() {},",
      tests: ["runner/redacted/terminal-and-pipes", "runner/redacted/job-control"],
    },
  ],
  "platform/processes/posix/output-reader.ts": [
    {
      fault: "a background process blocks the run",
      text: "const lingering = setInterval(() => this.#isDelivering || this.#stopListening(), LINGER);",
      becomes: "const lingering = undefined;",
      tests: ["tasks/signals"],
    },
  ],
} satisfies MutantTable;
