// Mutants of what is left when rt ends, or a client of it: processes, sockets, locks, modes, and who may come by then.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/runner/task-run/run-tasks.ts": [
    {
      fault: "the signal of one of many scripts is told by a number",
      text: 'if (outcome.kind === "signal") return { signal: outcome.signal };',
      becomes: 'if (outcome.kind === "signal") return 128 + 15;',
      tests: ["run/ending"],
    },
  ],
  "platform/processes/posix/process.ts": [
    {
      fault: "rt that dies of a signal catches it itself",
      text: "  processLibc().signal(number, null);\n  processLibc().raise(number);",
      becomes: "  processLibc().raise(number);",
      tests: ["run/ending", "tasks/signals"],
    },
    {
      fault: "a variable that is taken away reaches the program",
      text: "if (value === undefined) unsetenv(cString(name));\n    else putenv",
      becomes: "if (value !== undefined) putenv",
      tests: ["runtime/own-variables"],
    },
    {
      fault: "with many variables the old value comes first",
      text: "environmentEntries().filter((entry) => !Object.hasOwn(changes, nameOf(readCString(entry))))",
      becomes: "environmentEntries().filter((entry) => nameOf(readCString(entry)) !== undefined)",
      tests: ["run/environment"],
    },
  ],
  "platform/processes/posix/spawn.ts": [
    {
      fault: "a value of a secret stays in memory behind the start of its program",
      text: "  for (const copy of copies) copy.fill(0);\n",
      becomes: "",
      tests: ["run/attended", "secrets/zeroing", "secrets/linux-product", "secrets/mapping/values"],
      why: "the same value is kept beside it as long as the program runs, since what it shows is compared with it, and nobody else may look into rt's memory then",
    },
    {
      fault: "a program that a signal has ended has ended well",
      text: `return { kind: "killed", signal: low };`,
      becomes: `return { kind: "exited", code: 0 };`,
      tests: ["run/attended"],
    },
    {
      fault: "an exit code is cut to seven bits",
      text: "code: (status[0]! >> 8) & 0xff }",
      becomes: "code: (status[0]! >> 8) & 0x7f }",
      tests: ["run/attended"],
    },
    {
      fault: "the program of a terminal of its own leads no session",
      text: "request.leadsSession || request.terminal !== undefined;",
      becomes: "request.leadsSession;",
      tests: ["run/attended"],
    },
  ],
  "platform/terminal/posix/terminal-session.ts": [
    {
      fault: "SIGWINCH is not passed on",
      text: `this.#hear("SIGWINCH", () => this.#isOver || this.#terminals.copySize());`,
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "Ctrl-C ends no shell that waits for rt",
      text: "      this.#send(0, signal);\n",
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "a program that stands still is not woken after fg",
      text: `    this.#send(stopped, "SIGCONT");\n`,
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "rt stands still and its program goes on",
      text: `    else this.#send(stopped, "SIGSTOP");\n`,
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
  ],
  "platform/terminal/posix/terminal-sync.ts": [
    {
      fault: "the terminal stays raw at the end",
      text: "  close(): void {\n    this.leave();",
      becomes: "  close(): void {\n    this.stopLooking();",
      tests: ["run/attended"],
    },
  ],
  "platform/processes/posix/output-reader.ts": [
    {
      fault: "what a slow reader has not taken is lost at the end",
      text: "setInterval(() => this.#isDelivering || this.#stopListening(), LINGER)",
      becomes: "setInterval(() => this.#stopListening(), LINGER)",
      tests: ["tasks/unread", "tasks/output", "tasks/signals", "tasks/no-room"],
      why: "what is in the pipe by then is read all the same; only what a background process writes later is not",
    },
    {
      fault: "descriptors of ended scripts stay open",
      text: "if (!this.#isClosed) closeDescriptor(this.#descriptor);\n    this.#isClosed = true;",
      becomes: "this.#isClosed = true;",
      tests: ["tasks/concurrency", "tasks/workspace-run", "posix/process-tree"],
    },
  ],
  "platform/processes/posix/kill-watchdog.ts": [
    {
      fault: "the guardian's own number is a child's",
      text: "return places.has(pid) || guardian?.shell.pid === pid;",
      becomes: "return places.has(pid);",
      tests: ["run/watch-packages", "run/watch", "run/first-process"],
    },
    {
      fault: "places in the list are given once",
      text: "  vacant.push(place);\n",
      becomes: "",
      tests: ["tasks/signals", "tasks/ending"],
      why: "the list grows by twelve bytes a script; what it says is the same",
    },
  ],
  "src/cache/restore/concurrent-run-detector.ts": [
    {
      fault: "who was there first does not hear of who came",
      text: `        writeFileSync(join(directory, other + MARK), "", { mode: 0o600 });\n`,
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "who came later takes itself for alone",
      text: "        this.#hasMet = true;\n",
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "where nobody can be told, everybody was alone",
      text: `if (this.#failure !== undefined) throw new Unkept("store", this.#failure);`,
      becomes: "",
      tests: ["cache/presence", "cache/store"],
    },
    {
      fault: "a presence that another took away was alone",
      text: " || !existsSync(this.#path);",
      becomes: ";",
      tests: ["cache/presence"],
    },
    {
      fault: "what a killed rt has left makes two of one",
      text: "    if (!isHeld) rmSync(join(directory, name), { force: true });\n    return isHeld && !name.endsWith(MARK);",
      becomes: "    return !name.endsWith(MARK);",
      tests: ["cache/presence", "cache/kill"],
    },
    {
      fault: "marks of the living are taken for those who are there",
      text: "return isHeld && !name.endsWith(MARK);",
      becomes: "return isHeld;",
      tests: ["cache/presence"],
    },
  ],
  "src/cache/entry/entry-validation.ts": [
    {
      fault: "a file that went out of a folder is no difference",
      text: "difference: removed === undefined ? null : `",
      becomes: "difference: removed !== null ? null : `",
      tests: ["cache/hits", "cache/stale"],
    },
    {
      fault: "a folder that cannot be listed any more is as it was",
      text: "difference: before.length === 0 ? null : `${path} cannot be listed`",
      becomes: "difference: null",
      tests: ["cache/seen"],
    },
    {
      fault: "what the script has made itself is a difference",
      text: "    if (output && (await isOutput(output, world.look(path), world.hashes))) continue;\n",
      becomes: "",
      tests: ["cache/hits", "cache/stale"],
    },
  ],
  "src/process-id.ts": [
    {
      fault: "what has a number that no process can have stays",
      text: "if (!Number.isInteger(pid) || pid < 1 || pid > MOST) return false;",
      becomes: "",
      tests: ["upgrade/upgrade", "secrets/import"],
    },
  ],
  "src/debugger/server/socket.ts": [
    {
      fault: "the engine's socket stays when the program has ended",
      text: "    .unlink()\n",
      becomes: "    .stat()\n",
      tests: ["debugger/ways", "debugger/admission", "options/inspect", "debugger/session"],
    },
    {
      fault: "sockets of programs that were killed stay",
      text: "if (owner !== undefined && !isTaken(Number(owner))) rmSync(`${directory}/${name}`, { force: true });",
      becomes: ";",
      tests: ["debugger/ways", "debugger/admission", "options/inspect", "debugger/session"],
    },
  ],
  "src/debugger/server/server.ts": [
    {
      fault: "anything may be posted to the debugger",
      text: 'if (method !== "GET") return new Response(null, { status: 405 });',
      becomes: "",
      tests: ["debugger/admission"],
    },
    {
      fault: "what comes before the engine has answered is lost",
      text: "    for (const text of data.early) client.receive(text);\n",
      becomes: "",
      tests: ["debugger/session", "debugger/remote-interface", "debugger/ways", "options/inspect"],
    },
    {
      fault: "a client that has gone before it was let in stays",
      text: "if (data.isClosed) return client.close();",
      becomes: "",
      tests: ["debugger/session", "debugger/admission"],
      why: "what is left of it is a connection within the process, which ends with it",
    },
  ],
  "src/debugger/server/client.ts": [
    {
      fault: "a client that sends no JSON ends the connection",
      text: 'return send(JSON.stringify({ error: { code: -32_700, message: "Message must be a valid JSON" } }));',
      becomes: "return;",
      tests: ["debugger/session"],
    },
    {
      fault: "an inherited name is a method",
      text: "if (!Object.hasOwn(COMMANDS, method))",
      becomes: "if (!(method in COMMANDS))",
      tests: ["debugger/session"],
    },
    {
      fault: "answers to one session go to all",
      text: "const head = { id, ...(sessionId === undefined ? {} : { sessionId }) };\n  if (!Object.hasOwn",
      becomes: "const head = { id, ...(sessionId === undefined ? {} : {}) };\n  if (!Object.hasOwn",
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/domains/evaluation.ts": [
    {
      fault: "code that may change nothing calls functions",
      text: "if (throwOnSideEffect && !(await isHarmless(expression, ask))) return sideEffect();\n  const options",
      becomes: 'if (throwOnSideEffect && expression === "") return sideEffect();\n  const options',
      tests: ["debugger/methods", "debugger/session", "debugger/remote-interface"],
    },
    {
      fault: "code of a stop that may change nothing calls functions",
      text: "if (throwOnSideEffect && !(await isHarmless(expression, ask))) return sideEffect();\n  const asked",
      becomes: 'if (throwOnSideEffect && expression === "") return sideEffect();\n  const asked',
      tests: ["debugger/methods", "debugger/session", "debugger/remote-interface"],
    },
    {
      fault: "a console leaves its require in the program",
      text: `  void backend.send("Runtime.evaluate", { expression: TAKE_REQUIRE });\n`,
      becomes: "",
      tests: ["debugger/methods", "debugger/session", "debugger/remote-interface"],
    },
  ],
  "src/debugger/domains/remote-object.ts": [
    {
      fault: "minus zero is zero",
      text: `["NaN", "Infinity", "-Infinity", "-0"]`,
      becomes: `["NaN", "Infinity", "-Infinity"]`,
      tests: ["debugger/methods", "debugger/session", "debugger/remote-interface"],
    },
    {
      fault: "a large integer has no n",
      text: `String(description ?? value).replace(/n?$/, "n")`,
      becomes: "String(description ?? value)",
      tests: ["debugger/methods", "debugger/session", "debugger/remote-interface"],
      why: "what the engine says of one has it already; this is for one of which it says nothing",
    },
    {
      fault: "an error that was thrown is a value",
      text: "if (!wasThrown) return { result: value };",
      becomes: "if (!wasThrown || value) return { result: value };",
      tests: ["debugger/methods", "debugger/session", "debugger/remote-interface"],
    },
  ],
  "src/secrets/age/command.ts": [
    {
      fault: "giving up at the question writes the file",
      text: "if (value === null) return 130;",
      becomes: "if (value === null) return DONE;",
      tests: ["secrets/share"],
    },
    {
      fault: "a reader that is none was removed",
      text: "    return ABSENT;\n  }\n  if (readers.length === 0)",
      becomes: "    return DONE;\n  }\n  if (readers.length === 0)",
      tests: ["secrets/share"],
    },
    {
      fault: "list shows values",
      text: "const names = [...secrets.keys()];",
      becomes: `const names = [...secrets].map((each) => each.join("="));`,
      tests: ["secrets/share"],
    },
    {
      fault: "a word too many is passed over",
      text: "if (rest.length < fewest || rest.length > most)",
      becomes: "if (rest.length < fewest)",
      tests: ["secrets/share"],
    },
    {
      fault: "deleting what is not there is a success",
      text: '    complain(`${printable(path)} has no entry "${printable(name)}"`);\n    return ABSENT;',
      becomes: '    complain(`${printable(path)} has no entry "${printable(name)}"`);\n    return DONE;',
      tests: ["secrets/share"],
    },
  ],
  "src/secrets/age/identity.ts": [
    {
      fault: "the store's key counts beside the variable's",
      text: "if (text) return { keys: readKeys(text), isFromVariable: true };",
      becomes:
        "if (text) return { keys: [...readKeys(text), ...[(await storedKey()) ?? []].flat()], isFromVariable: true };",
      tests: ["secrets/share"],
    },
    {
      fault: "comments of age-keygen's files are keys",
      text: `lines.filter((line) => line !== "" && !line.startsWith("#"))`,
      becomes: `lines.filter((line) => line !== "")`,
      tests: ["secrets/share"],
    },
  ],
  "src/secrets/scan/hook.ts": [
    {
      fault: "a hook in another language is changed",
      text: 'if (shebang !== "" && !/^#!',
      becomes: 'if (shebang === "\\0" && !/^#!',
      tests: ["secrets/check"],
    },
    {
      fault: "a hook that git does not run is added to",
      text: 'if (!isHuskys && OWN_SYSTEM !== "win32" && (stats.mode & 0o100) === 0)',
      becomes: 'if (!isHuskys && OWN_SYSTEM === "win32" && (stats.mode & 0o100) === 0)',
      tests: ["secrets/check"],
    },
    {
      fault: "a hook of ours alone stays, empty",
      text: 'if (after === "" || after === SHEBANG) rmSync(hook.path);\n  else writeHook',
      becomes: "writeHook",
      tests: ["secrets/check"],
    },
    {
      fault: "hooks that several repositories share are changed",
      text: "if (!own.some((each) => folder === each || folder.startsWith(each + sep)))",
      becomes: "if (own.length === 0)",
      tests: ["secrets/check"],
    },
    {
      fault: "what rt finds does not keep git from committing",
      text: "${commandOf(hook)} || exit $?",
      becomes: "${commandOf(hook)} || true",
      tests: ["secrets/check"],
    },
    {
      fault: "installing twice asks twice",
      text: `before?.replace(BLOCK, "") ?? (hook.isShared`,
      becomes: `before ?? (hook.isShared`,
      tests: ["secrets/check"],
    },
  ],
  "platform/files/state-directory.ts": [
    {
      fault: "another user's file is believed",
      text: "if (uid !== process.getuid!() || (Number(mode) & (WRITABLE_BY_GROUP",
      becomes: "if ((Number(mode) & (WRITABLE_BY_GROUP",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "a link to a file counts",
      text: "return lstatSync(path).isFile() ? readFileSync",
      becomes: "return lstatSync(path) ? readFileSync",
      tests: ["secrets/mapping/trust"],
      why: "on Linux a link has all permissions, so that it is refused as what others can write; elsewhere this refuses it",
    },
    {
      fault: "a file is there before all of it is",
      text: "        renameSync(draft, join(directory, name));\n",
      becomes: "        writeFileSync(join(directory, name), content);\n",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "a draft stays where there is no room",
      text: "        rmSync(draft, { force: true });\n",
      becomes: "",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "others may read what is remembered",
      text: `{ mode: 0o600, flag: "wx" }`,
      becomes: `{ mode: 0o644, flag: "wx" }`,
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "a relative XDG_STATE_HOME is one",
      text: "return base && isAbsolute(base) ? { base, below } : undefined;",
      becomes: "return base ? { base, below } : undefined;",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "another user's own folder above counts",
      text: "if (uid !== process.getuid!() || isOpen)",
      becomes: "if (isOpen)",
      tests: ["secrets/mapping/trust"],
    },
  ],
  "platform/files/private-file.ts": [
    {
      fault: "a directory for the user alone can be looked into",
      text: "mkdirSync(directory, { mode: 0o700 });",
      becomes: "mkdirSync(directory, { mode: 0o755 });",
      tests: ["run/own-places", "cache/server", "cache/store"],
    },
    {
      fault: "a place that somebody else can exchange is used",
      text: "isWindows ? place : requireOwnPath(place, usersFor(place))",
      becomes: "isWindows || requireOwnPath === undefined || usersFor === undefined ? place : place",
      tests: ["run/own-places", "run/unwritable"],
    },
    {
      fault: "XDG_RUNTIME_DIR of a .env file counts",
      text: `host.originalVariable("XDG_RUNTIME_DIR") || temporary`,
      becomes: `process.env.XDG_RUNTIME_DIR || temporary`,
      tests: ["run/own-places", "run/unwritable", "cli/environment-files", "runtime/own-variables"],
    },
  ],
} satisfies MutantTable;
