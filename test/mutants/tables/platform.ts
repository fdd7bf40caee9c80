// Mutants of platform and of platform/processes/posix.
import type { MutantTable } from "../mutant.ts";

export default {
  "platform/native/posix/pipe.ts": [
    {
      fault: "where the ends of a pipe are told moves when many were opened",
      text: "new Int32Array(new ArrayBuffer(8))",
      becomes: "new Int32Array(2)",
      tests: ["posix/pipe"],
    },
  ],
  "platform/processes/posix/subreaper.ts": [
    {
      fault: "whose child a process was is asked of its first thread alone",
      text: "for (const thread of threads())",
      becomes: "for (const thread of [pid])",
      tests: ["run/watch-packages"],
    },
    {
      fault: "a process that has an environment of its own is anybody's once its first thread has ended",
      text: `environment === "" ? isEnding === true : families.includes(familyIn(environment) ?? "")`,
      becomes: `isEnding === true || families.includes(familyIn(environment) ?? "")`,
      tests: ["run/watch-packages"],
    },
    {
      fault: "what is ending is nobody's",
      text: `environment === "" ? isEnding === true : `,
      becomes: "",
      tests: ["run/watch-packages"],
      why: "it lasts from the moment in which a process has no memory to that in which it has no files: none that a test could hold",
    },
    {
      fault: "orphans stay in the process table",
      text: "waitpid(pid, null, WNOHANG);",
      becomes: ";",
      tests: ["run/first-process"],
    },
    {
      fault: "what came between two looks stays in the process table",
      text: `if (listOrphans().length > 0) process.emit("SIGCHLD", "SIGCHLD");`,
      becomes: "",
      tests: ["run/first-process"],
      why: "what ends later tells of itself; this is for what ends while the second look is taken",
    },
  ],
  "platform/files/private-file.ts": [
    {
      fault: "a socket is to be made where nothing can be written",
      text: "accessSync(directory, constants.W_OK | constants.X_OK);",
      becomes: "accessSync(directory, constants.F_OK);",
      tests: ["debugger/ways"],
    },
    {
      fault: "another user's directory is trusted",
      text: "uid !== process.getuid!() || ",
      becomes: "",
      tests: ["run/own-places"],
    },
    {
      fault: "a directory that others may write to is trusted",
      text: " || (mode & 0o022) !== 0",
      becomes: "",
      tests: ["run/own-places", "run/unwritable"],
    },
    {
      fault: "a directory that another has linked is trusted",
      text: "const { uid, mode } = readOwner(directory) ?? make(directory);",
      becomes: `const { uid, mode } = (require("node:fs") as typeof import("node:fs")).statSync(directory, { throwIfNoEntry: false }) ?? make(directory);`,
      tests: ["run/own-places"],
    },
    {
      fault: "the second place is not tried",
      text: "      failures.push(explain(error as NodeJS.ErrnoException, place));\n",
      becomes: "      failures.push(explain(error as NodeJS.ErrnoException, place));\n      break;\n",
      tests: ["run/unwritable"],
    },
    {
      fault: "half a file is left on a full disk",
      text: "      rmSync(draft, { force: true });\n",
      becomes: "",
      tests: ["run/own-places"],
    },
    {
      fault: "others may read what is the user's own",
      text: "{ mode: 0o600 }",
      becomes: "{ mode: 0o644 }",
      tests: ["run/own-places"],
    },
    {
      fault: "the last failure is told",
      text: "${failures[0]}",
      becomes: "${failures.at(-1)}",
      tests: ["run/unwritable"],
    },
  ],
  "platform/files/shim-links.ts": [
    {
      fault: "a link to another program is taken for ours",
      text: "return readlinkSync(path) === program;",
      becomes: "return readlinkSync(path) !== undefined;",
      tests: ["run/own-places"],
    },
    {
      fault: "a link that is there is not replaced",
      text: "  // Renamed into place: another rt may be making the same link.\n  const draft = `${path}.${process.pid}`;",
      becomes: "  const draft = path;",
      tests: ["run/own-places"],
    },
  ],
  "platform/processes/posix/kill-watchdog.ts": [
    {
      fault: "the number of a child that has ended is killed",
      text: `  note(place, "");\n`,
      becomes: "",
      tests: ["tasks/ending"],
    },
    {
      fault: "a zombie counts as alive",
      text: `[ "$1" = Z ] || `,
      becomes: "",
      tests: ["tasks/signals"],
      why: "a signal to a zombie does nothing",
    },
    {
      fault: "the guardian ends by Ctrl-C",
      text: "trap '' INT TERM HUP QUIT\n",
      becomes: "",
      tests: ["tasks/signals"],
    },
    {
      fault: "what escaped into another session lives on",
      text: `      case $doomed in *" $parent "*) doomed="$doomed$pid " ;; esac\n`,
      becomes: "",
      tests: ["tasks/signals"],
    },
    {
      fault: "a child's place in the list is given away while it lives",
      text: "const place = vacant.pop() ?? places.size;",
      becomes: "const place = vacant.pop() ?? 0;",
      tests: ["tasks/signals"],
    },
    {
      fault: "a list that cannot be written is believed",
      text: `  guardian.shell.kill("SIGKILL");\n  closeGuardian(guardian);\n`,
      becomes: "",
      tests: ["tasks/signals"],
    },
    {
      fault: "the guardian is left behind",
      text: `  dismissed.shell.kill("SIGKILL");\n  await dismissed.shell.exited;\n`,
      becomes: "",
      tests: ["run/hooks", "run/inheritance", "tasks/signals"],
    },
  ],
  "platform/processes/posix/process-table.ts": [
    {
      fault: "zombies are counted",
      text: "(hasEnded(state, threads) ? [] : [entry])",
      becomes: "[entry]",
      tests: ["posix/process-table"],
    },
    {
      fault: "a process whose first thread has ended counts as ended",
      text: `(state === "Z" && threads <= 1)`,
      becomes: `state === "Z"`,
      tests: ["run/watch", "run/watch-packages"],
    },
    {
      fault: "zombies are counted where ps is asked",
      text: ` && !state?.startsWith("Z")`,
      becomes: "",
      tests: ["posix/process-table"],
    },
    {
      fault: "a command with parentheses in its name is misread",
      text: `stat.lastIndexOf(")")`,
      becomes: `stat.indexOf(")")`,
      tests: ["posix/process-tree"],
    },
    {
      fault: "children in another session are left out",
      text: " && runs(parent, relay));",
      becomes: ");",
      tests: ["posix/process-tree"],
    },
    {
      fault: "only the children of the root are found",
      text: "      members.add(pid);\n      grew = true;",
      becomes: "      members.add(pid);",
      tests: ["posix/process-tree"],
    },
  ],
  "platform/processes/posix/output-reader.ts": [
    {
      fault: "a background process holds the run up for ever",
      text: "const lingering = setInterval(() => this.#isDelivering || this.#stopListening(), LINGER);",
      becomes: "const lingering = undefined;",
      tests: ["tasks/signals"],
    },
    {
      fault: "what a script wrote at its end is lost",
      text: "      const isAtEnd = await this.#drain();\n      if (!isAtEnd) this.attach();",
      becomes: "",
      tests: ["tasks/output", "tasks/several-scripts"],
    },
  ],
  "platform/processes/posix/process-tree.ts": [
    {
      fault: "descriptors stay open after a start that failed",
      text: "    for (const { reader } of pipes) closeDescriptor(reader);\n    throw error;",
      becomes: "    throw error;",
      tests: ["posix/process-tree"],
    },
    {
      fault: "the writing ends of pipes stay open",
      text: "    for (const { writer } of pipes) closeDescriptor(writer);\n",
      becomes: "",
      tests: ["posix/process-tree"],
    },
    {
      fault: "what was stopped to be looked at stays so",
      text: `if (RELAYED.includes(signal)) for (const target of targets) send(target, "SIGCONT");`,
      becomes: "",
      tests: ["tasks/signals", "run/ending"],
    },
    {
      fault: "what forks while it is looked for escapes",
      text: "reading < MOST_READINGS",
      becomes: "reading < 1",
      tests: ["posix/process-tree"],
    },
    {
      fault: "another rt's children hear a signal twice",
      text: "const relay = RELAYED.includes(signal) ? process.execPath : null;",
      becomes: "const relay = null;",
      tests: ["posix/process-tree"],
    },
    {
      fault: "error output is taken for output",
      text: "request.onOutput(bytes, index === 1)",
      becomes: "request.onOutput(bytes, index === 0)",
      tests: ["tasks/output", "tasks/several-scripts"],
    },
    {
      fault: "the children do not stop at Ctrl-Z",
      text: `    signalTrees(stopped, "SIGSTOP");\n`,
      becomes: "",
      tests: ["tasks/suspension"],
    },
    {
      fault: "the children do not go on at fg",
      text: `    signalTrees(stopped, "SIGCONT");\n`,
      becomes: "",
      tests: ["tasks/suspension"],
    },
  ],
  "platform/processes/posix/process.ts": [
    {
      fault: "a script ignores SIGPIPE",
      text: "  for (const number of IGNORED_BY_ENGINE) signal(number, null);\n",
      becomes: "",
      tests: ["run/inheritance", "run/ending"],
    },
    {
      fault: "a script does not inherit descriptors",
      text: "  for (const descriptor of descriptors) ioctl(descriptor, constants.FIONCLEX);\n",
      becomes: "",
      tests: ["run/inheritance"],
    },
    {
      fault: "the highest descriptor is not inherited",
      text: "for (let descriptor = 3; descriptor <= HIGHEST_DESCRIPTOR; descriptor += 1) {",
      becomes: "for (let descriptor = 3; descriptor < HIGHEST_DESCRIPTOR; descriptor += 1) {",
      tests: ["run/inheritance"],
    },
    {
      fault: "what the user's code starts becomes the engine",
      text: "if (!isSwitchOpen) entries.push(cString(`${ENGINE_SWITCH}=${users ?? SWITCHED_OFF}`));",
      becomes: "",
      tests: ["runtime/engine-switch"],
    },
    {
      fault: "an empty PATH has no shell",
      text: "for (const PATH of [path, SHELL_DIRECTORIES]) {",
      becomes: "for (const PATH of [path]) {",
      tests: ["run/script"],
    },
    {
      fault: "sh comes before bash",
      text: `const SHELLS = ["bash", "sh", "zsh"];`,
      becomes: `const SHELLS = ["sh", "bash", "zsh"];`,
      tests: ["run/script"],
    },
  ],
  "platform/processes/posix/signals.ts": [
    {
      fault: "a signal that rt was started to ignore ends the run",
      text: "return read.ptr(ptr(action), 0) !== SIG_IGN;",
      becomes: "return true;",
      tests: ["run/ending", "tasks/signals", "run/hooks"],
    },
    {
      fault: "after Ctrl-Z once, it is not heard again",
      text: "  processLibc().signal(number, handler);\n",
      becomes: "",
      tests: ["tasks/suspension"],
    },
  ],
  "platform/terminal/posix/output.ts": [
    {
      fault: "a full pipe holds rt up",
      text: "O_WRONLY | O_NONBLOCK | O_CLOEXEC",
      becomes: "O_WRONLY | O_CLOEXEC",
      tests: ["tasks/unread"],
    },
    {
      fault: "a full pipe is a failure",
      text: "failure === EAGAIN || failure === EINTR",
      becomes: "failure === EINTR",
      tests: ["tasks/unread"],
    },
  ],
  "platform/processes/posix/byte-exact-spawn.ts": [
    {
      fault: "a value's bytes are not looked at",
      text: "value === undefined ? [] : [name, value]",
      becomes: "value === undefined ? [] : [name]",
      tests: ["run/bytes"],
    },
    {
      fault: "a name's bytes are not looked at",
      text: "value === undefined ? [] : [name, value]",
      becomes: "value === undefined ? [] : [value]",
      tests: ["run/bytes"],
    },
    {
      fault: "it starts where rt is",
      text: "      directory: cwd,\n",
      becomes: "",
      tests: ["run/bytes"],
    },
    {
      fault: "it reads what is rt's to read",
      text: "inheritStdin ? undefined : openNothing()",
      becomes: "inheritStdin || true ? undefined : openNothing()",
      tests: ["run/bytes"],
    },
    {
      fault: "what was kept of standard input is not given to it",
      text: "input ? openInput(input) : ",
      becomes: "",
      tests: ["run/bytes"],
    },
    {
      fault: "it gets variables of rt's besides",
      text: "      isWhole: true,\n",
      becomes: "",
      tests: ["run/bytes"],
    },
  ],
  "platform/native/posix/surrogate-escape.ts": [
    {
      fault: "a character behind plain text is taken for bytes",
      text: "bytes[start + length]! < 0x80",
      becomes: "bytes[start + length]! <= 0xff",
      tests: ["run/arguments"],
    },
    {
      fault: "bytes become characters of another place",
      text: "bytes.push(code - 0xdc00)",
      becomes: "bytes.push(code - 0xdc01)",
      tests: ["run/arguments"],
    },
    {
      fault: "the first bytes that stand for themselves do not",
      text: "code >= 0xdc80 &&",
      becomes: "code > 0xdc80 &&",
      tests: ["run/arguments"],
    },
  ],
  "platform/files/posix/files.ts": [
    {
      fault: "a pipe in the place of a file stops rt",
      text: " | constants.O_NONBLOCK",
      becomes: "",
      tests: ["posix/files"],
    },
    {
      fault: "a file of just the buffer's size is cut",
      text: "while (length < limit) {\n      if (length === buffer.length) {",
      becomes: "while (length < limit && length < scratch.length) {\n      if (length === buffer.length) {",
      tests: ["posix/files"],
    },
    {
      fault: "a Java class is a program",
      text: " && readWord(start, 4) < MOST_ARCHITECTURES",
      becomes: "",
      tests: ["posix/files"],
    },
    {
      fault: "a name with a NUL is another file's",
      text: `if (path.includes("\\0")) return "ENOENT";`,
      becomes: "",
      tests: ["posix/files"],
    },
  ],
  "platform/files/posix/directories.ts": [
    {
      fault: "links to directories are not told",
      text: "type === DT_LNK) links.push(name);",
      becomes: "type === DT_LNK) directories.push(name);",
      tests: ["posix/directories"],
    },
    {
      fault: "a file that fills the buffer is cut",
      text: "count > 0 && count < content.length",
      becomes: "count > 0",
      tests: ["posix/directories"],
    },
    {
      fault: "a file that may not be read is not there",
      text: `failure === ENOENT || failure === ENOTDIR ? null : ""`,
      becomes: "null",
      tests: ["posix/directories"],
    },
    {
      fault: "a name that is too long is cut",
      text: `if (taken < name.length || written === path.length) return "";`,
      becomes: "",
      tests: ["posix/directories"],
      why: "the system refuses a path of that length itself; without this it is read beyond the end of the buffer",
    },
  ],
  "platform/processes/engine-file.ts": [
    {
      fault: "the engine's file is left behind",
      text: "  unlinkSync(path);\n",
      becomes: "",
      tests: ["run/build"],
    },
    {
      fault: "a target of another system gets this system's engine",
      text: "if (!OWN_TARGETS.test(targets.join())) return undefined;",
      becomes: "",
      tests: ["run/build"],
    },
  ],
  "platform/secrets/foreign-threads.ts": [
    {
      fault: "one call that waits for a person holds up all",
      text: "if (this.#ended === ended) this.#waiting.shift()!(this.#start());",
      becomes: "",
      tests: ["macos/keychain"],
    },
    {
      fault: "a library that is not there is not named",
      text: "if (failure !== undefined) return scope.postMessage({ failure });",
      becomes: "",
      tests: ["posix/foreign-threads"],
    },
  ],
  "platform/processes/posix/environment.ts": [
    {
      fault: "bytes of variables become other characters on the way to what rt starts",
      text: "  if (!text.includes(REPLACEMENT)) return text;\n",
      becomes: "  if (text !== null) return text;\n",
      tests: ["run/bytes"],
    },
    {
      fault: "the last entry of a variable counts",
      text: "if (!Object.hasOwn(result, name)) result[name] =",
      becomes: "result[name] =",
      tests: ["run/environment", "cli/environment-files"],
    },
  ],
} satisfies MutantTable;
