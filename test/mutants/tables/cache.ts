// Mutants of src/cache and of what follows scripts for it: each would be a stale hit, a wrong output, or a gap in the record.
import type { MutantTable } from "../mutant.ts";

export default {
  "platform/tracing/linux/syscalls.ts": [
    {
      fault: "openat is not followed",
      text: `{ ...call("openat", 257, 56, at("probe")), open: { flags: 2 } },`,
      becomes: "",
      tests: ["cache/stale"],
    },
    {
      fault: "newfstatat is not followed",
      text: `call("newfstatat", 262, 79, at("probe", unless(3))),`,
      becomes: "",
      tests: ["cache/strace", "cache/stale"],
    },
    {
      fault: "listings are not followed",
      text: `call("getdents64", 217, 61, { directory: 0, access: "list", follows: true }),`,
      becomes: "",
      tests: ["cache/stale"],
    },
    {
      fault: "programs are not followed",
      text: `call("execve", 59, 221, plain("run")),`,
      becomes: "",
      tests: ["cache/stale"],
    },
    {
      fault: "a number is wrong",
      text: `call("readlinkat", 267, 78, at("probe", false)),`,
      becomes: `call("readlinkat", 460, 78, at("probe", false)),`,
      tests: ["cache/calls", "cache/census"],
    },
    {
      fault: "a rarely used call is not followed",
      text: `call("lgetxattr", 192, 9, plain("probe", 0, false)),`,
      becomes: "",
      tests: ["cache/census"],
    },
  ],
  "platform/tracing/linux/seccomp-filter.ts": [
    {
      fault: "from the gate a file is opened to be written, unseen",
      text: `{ code: JUMP_EQUAL, value: 0, yes: "allow" },`,
      becomes: `{ code: JUMP_EQUAL, value: 0, yes: "allow", no: "allow" },`,
      tests: ["cache/calls"],
    },
    {
      fault: "calls of 32 bits are not looked at",
      text: `value: AUDIT_ARCHITECTURES[architecture], no: "notify"`,
      becomes: `value: AUDIT_ARCHITECTURES[architecture], no: "allow"`,
      tests: ["cache/calls"],
    },
    {
      fault: "datagrams are not looked at",
      text: `{ code: JUMP_EQUAL, value: AF_UNIX, no: "notify" },`,
      becomes: `{ code: JUMP_EQUAL, value: AF_UNIX, no: "allow" },`,
      tests: ["cache/doubts"],
    },
  ],
  "platform/native/linux/tracee-launcher.c": [
    {
      fault: "a program in C is changed and not compiled anew",
      text: "leave(error == ENOENT ? NOT_FOUND : NOT_STARTED);",
      becomes: "leave(NOT_STARTED);",
      tests: ["posix/native"],
    },
  ],
  "platform/native/linux/memory-program.ts": [
    {
      fault: "that nothing is started from memory is taken for another refusal",
      text: `{ code: "EACCES" }`,
      becomes: `{ code: "EIO" }`,
      tests: ["cache/doubts"],
    },
  ],
  "platform/native/linux/recorder/tracee-memory.h": [
    {
      fault: "of a long path only the end is read",
      text: "return end - to;",
      becomes: "return memmove(to, to + length, end - to - length), end - to - length;",
      tests: ["cache/stale"],
    },
    {
      fault: "a directory that has been removed is one of that name",
      text: "memcmp(target + length - DELETED_LENGTH, DELETED, DELETED_LENGTH) != 0;",
      becomes: "1;",
      tests: ["cache/recorder"],
    },
  ],
  "platform/native/linux/recorder/path-table.h": [
    {
      fault: "a file that was written a moment ago keeps a script out",
      text: "wait < MOST_WAITS;",
      becomes: "wait < 0;",
      tests: ["cache/seen"],
    },
    {
      fault: "what the script was to change is not looked at again",
      text: "(entry->number && !entry->is_touched && !is_asked)",
      becomes: "(entry->number && !is_asked)",
      tests: ["cache/stale", "cache/doubts"],
    },
    {
      fault: "the same path is told under many numbers",
      text: "if (!entry->number) entry->number = ++sight->told;",
      becomes: "entry->number = ++sight->told;",
      tests: ["cache/recorder"],
      why: "each number of a path means the same to whoever reads them",
    },
  ],
  "platform/native/linux/recorder/path-resolution.h": [
    {
      fault: "slashes and dots in a path of /proc hide it",
      text: "      tidy(path);\n",
      becomes: "      if (*path == 0) tidy(path);\n",
      tests: ["cache/recorder"],
    },
    {
      fault: "links in /proc, /sys and /dev lead nowhere",
      text: "if (length <= 0) {",
      becomes: "if (1) {",
      tests: ["cache/recorder"],
    },
    {
      fault: "the caller's own thread is another one",
      text: "if (at == path + sizeof OWN_THREAD - 1 && after(path, OWN_THREAD)) {",
      becomes: "if (pid == 0 && at == path + sizeof OWN_THREAD - 1) {",
      tests: ["cache/recorder"],
    },
    {
      fault: "a link in /dev/shm is none in front of two dots",
      text: 'if (after(path, "/dev/shm/")) return -1;',
      becomes: "",
      tests: ["cache/recorder"],
    },
    {
      fault: "standard input is no directory",
      text: "if (behind && (*behind == 0 || *behind == '/')) {",
      becomes: "if (behind && *behind == 0) {",
      tests: ["cache/recorder"],
    },
    {
      fault: "links in a directory that is known are not followed",
      text: "if (entry->state.what == LINK_ && (!is_last || follows || is_directory)) {",
      becomes: "if (entry->state.what == LINK_ && (!is_last || is_directory)) {",
      tests: ["cache/stale"],
    },
    {
      fault: "links on the way are not recorded",
      text: "      note(sight, entry, PROBE);\n      if (++links",
      becomes: "      if (++links",
      tests: ["cache/stale"],
    },
    {
      fault: "directories on the way are not recorded",
      text: "if (!is_last) note(sight, entry, PROBE);",
      becomes: "if (is_last) note(sight, entry, PROBE);",
      tests: ["cache/recorder"],
    },
    {
      fault: "what is in a process's own directory is looked for in another's",
      text: "        is_special = 1;\n",
      becomes: "",
      tests: ["cache/stale"],
    },
    {
      fault: "where a link of /dev or /proc leads is not looked at",
      text: "      if (turned == 0) return (struct found)",
      becomes: "      return (struct found)",
      tests: ["cache/stale"],
    },
  ],
  "platform/native/linux/recorder/file-contents.h": [
    {
      fault: "what the kernel opens for a program is not recorded",
      text: "    if (named.length == 0) break;",
      becomes: "    break;",
      tests: ["cache/stale"],
    },
    {
      fault: "what is below a directory that is moved stays where it was",
      text: "    note_change(sight, from, source_length, REMOVE);\n    note_change(sight, to, target_length, REPLACE);\n",
      becomes: "",
      tests: ["cache/restore", "cache/doubts", "cache/recorder"],
    },
  ],
  "platform/native/linux/recorder/syscall-handlers.h": [
    {
      fault: "whether a folder can be removed depends on nothing",
      text: "access == LIST || (access == REMOVE && entry->state.what == DIRECTORY)",
      becomes: "access == LIST",
      tests: ["cache/left-behind"],
    },
    {
      fault: "whether a folder can be replaced depends on nothing",
      text: "  if (target) tell_names_for(",
      becomes: "  if (0) tell_names_for(",
      tests: ["cache/left-behind"],
    },
    {
      fault: "what one thread makes in a folder that another makes first is not seen",
      text: "  else note_behind(",
      becomes: "  else if (0) note_behind(",
      tests: ["cache/left-behind"],
    },
    {
      fault: "a program that is started again has no witness",
      text: "!is_change(argument->access) && argument->access != RUN;",
      becomes: "!is_change(argument->access);",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "what a path means after the script has changed it is not seen",
      text: "unsigned long words[] = {recorder->changes,",
      becomes: "unsigned long words[] = {0,",
      tests: ["cache/stale"],
    },
    {
      fault: "where a directory was is remembered when links are turned",
      text: "  if (access == REPLACE || access == REMOVE) recorder->sight.lap++;",
      becomes: "",
      tests: ["cache/recorder", "cache/stale"],
    },
    {
      fault: "the same where a directory is moved away",
      text: "  recorder->changes++;\n  sight->lap++;\n",
      becomes: "  recorder->changes++;\n",
      tests: ["cache/recorder", "cache/stale"],
    },
    {
      fault: "that two paths are exchanged is no doubt",
      text: "    tell_unusual(recorder, EXCHANGED, NO_TEXT, paths[0]);",
      becomes: "    sight->lap++;",
      tests: ["cache/recorder"],
    },
  ],
  "platform/native/linux/recorder/interposer-log.h": [
    {
      fault: "who has called and who has looked need not agree",
      text: "  if (!agrees(told, found) && found->entry)",
      becomes: "  if (!agrees(told, found) && !found->entry)",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "what is not there for the program may be there for rt",
      text: "  if (told->error) return !is_there ||",
      becomes: "  if (told->error) return 1 || !is_there ||",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "what is no directory for the program may be one for rt",
      text: "(told->error != ENOTDIR || state->what != DIRECTORY)",
      becomes: "1",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "what is no directory has to be absent",
      text: "(told->error != ENOTDIR || state->what != DIRECTORY)",
      becomes: "told->error != ENOTDIR",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "a directory is as good as a file",
      text: "return S_ISDIR(told->mode) && state->what == DIRECTORY;",
      becomes: "return 1;",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "a link is as good as a file",
      text: "return !S_ISREG(told->mode) && state->what != FILE_;",
      becomes: "return 1;",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "what the script itself has changed is held against it",
      text: "if (!found->entry || found->entry->is_touched) return 1;",
      becomes: "if (!found->entry) return 1;",
      tests: ["cache/witness/witness", "cache/corpus"],
      why: "what the script has changed counts as it is in the end, whether or not they agree: this spares a line in the journal",
    },
    {
      fault: "a process's own directory is looked for too late",
      text: "  if (found->is_special) tell_unusual(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);\n",
      becomes: "",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "of a call that is told the flags do not count",
      text: "      data->args[3] = told->flags;\n",
      becomes: "",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "the log can be made smaller under rt",
      text: "F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL",
      becomes: "F_SEAL_GROW | F_SEAL_SEAL",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "a program may tell of more calls than there is room for",
      text: "  if (count > MOST_TOLD) count = MOST_TOLD;\n",
      becomes: "",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "memory is given back that is still to be read",
      text: "  unsigned over = kept->done - kept->done % FREED_AT_ONCE;",
      becomes: "  unsigned over = kept->done - kept->done % FREED_AT_ONCE + FREED_AT_ONCE;",
      tests: ["cache/witness/witness"],
    },
  ],
  "platform/native/linux/recorder/preload-injection.h": [
    {
      fault: "where nothing could be given the call is not answered",
      text: "  if (descriptor < 0) return 0;\n  struct seccomp_notif_addfd",
      becomes: "  if (descriptor < 0) return 1;\n  struct seccomp_notif_addfd",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "every program has a witness",
      text: "length_of(WORTH[each]))) return 1;\n  return 0;",
      becomes: "length_of(WORTH[each]))) return 1;\n  return 1;",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "no program has one",
      text: "  if (is_worth(program)) *arrival",
      becomes: "  if (is_worth(program) && 0) *arrival",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "whoever asks finds the list",
      text: "  if (!arrival) return 0;\n  unsigned long id",
      becomes:
        "  if (!arrival) arrival = usher->arrivals, arrival->pid = recorder->notice.pid, arrival->stage = FOR_LIST;\n  unsigned long id",
      tests: ["cache/witness/witness", "cache/strace"],
    },
    {
      fault: "what was given stays open in rt",
      text: "  CALL(close, descriptor, 0, 0, 0, 0);\n  return given >= 0;",
      becomes: "  return given >= 0;",
      tests: ["cache/witness/witness"],
    },
  ],
  "platform/native/linux/interposer/interposer.c": [
    {
      fault: "a path that ends behind the log's room is told without its end",
      text: "while (length < LONGEST_TOLD && path[length]) length++;\n  if (length == LONGEST_TOLD ||",
      becomes: "while (length < LONGEST_TOLD - 1 && path[length]) length++;\n  if (",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "one letter more is told than there is room for",
      text: "while (length < LONGEST_TOLD && path[length]) length++;\n  if (length == LONGEST_TOLD ||",
      becomes: "while (length <= LONGEST_TOLD && path[length]) length++;\n  if (length > LONGEST_TOLD ||",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "what does not fit in the log is not asked about",
      text: "  if (!told) return finish(CALL(newfstatat, directory, path, found, flags, 0));",
      becomes: "  if (!told) return finish(PASS(newfstatat, directory, path, found, flags, 0));",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "what belongs to each process is told and not asked about",
      text: "  if (!log || !path || path[0] != '/' || is_own(path)) return NULL;",
      becomes: "  if (!log || !path || path[0] != '/' || (0 && is_own(path))) return NULL;",
      tests: ["cache/witness/witness", "cache/strace"],
      why: "the recorder then finds that they do not agree, and the script is not kept: nothing wrong, but slower",
    },
    {
      fault: "about a file that was changed a moment ago rt is not asked",
      text: "(is_file && is_fresh(told))",
      becomes: "(0 && is_file && is_fresh(told))",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "to open for writing only looks",
      text: "(flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC))",
      becomes: "!(flags & (O_CREAT | O_TRUNC))",
      tests: ["cache/witness/witness"],
      why: "it is told of then: what a script has made may be changed, and what was there before is in doubt, sooner or later",
    },
    {
      fault: "to make a file only looks",
      text: "(flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC))",
      becomes: "(flags & O_ACCMODE) == O_RDONLY",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "an error has no number",
      text: "  *__errno_location() = -error;\n",
      becomes: "  (void)error;\n",
      tests: ["cache/witness/witness"],
    },
  ],
  "platform/native/linux/recorder/recorder.c": [
    {
      fault: "a change goes on before what was told is looked at",
      text: "    hear_all(recorder, &work->testimony);\n    recorder->notice = *notice;\n",
      becomes: "",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "what was told last is not looked at",
      text: "    if (next != WAITING) hear_all(recorder, &work->testimony);\n",
      becomes: "",
      tests: ["cache/witness/witness"],
    },
    {
      fault: "each call that is followed is answered on another processor",
      text: "CALL(ioctl, listener, SET_FLAGS, SYNC_WAKE_UP, 0, 0);",
      becomes: "CALL(ioctl, listener, SET_FLAGS, SYNC_WAKE_UP * 0, 0, 0);",
      tests: ["cache/strace"],
    },
    {
      fault: "what has become of a path while the script ran is not looked at",
      text: "      look_again(&recorder->sight);\n",
      becomes: "      if (0) look_again(&recorder->sight);\n",
      tests: ["cache/stale", "cache/doubts"],
    },
    {
      fault: "the thread gets rt's signals",
      text: "  CALL(rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof all, 0);\n",
      becomes: "  (void)all;\n",
      tests: ["cache/recorder"],
    },
    {
      fault: "half a journal is one",
      text: "  order->is_lost = recorder->sight.journal.is_lost;\n",
      becomes: "",
      tests: ["cache/recorder"],
    },
  ],
  "platform/tracing/linux/trace-builder.ts": [
    {
      fault: "what has become of a path while the script ran is not told",
      text: "paths.push(isKept ? entry : { ...entry, last, isWritten: entry.isWritten || entry.isAttempted });",
      becomes: "paths.push(entry);",
      tests: ["cache/stale", "cache/doubts"],
    },
    {
      fault: "what a thread makes while another one looks for it is somebody else's",
      text: "isWritten: entry.isWritten || entry.isAttempted",
      becomes: "isWritten: entry.isWritten",
      tests: ["cache/left-behind"],
    },
    {
      fault: "the lookup of a name hides what was connected to",
      text: " || (this.#doubt.isVague && kind === this.#doubt.kind && !isVague)",
      becomes: "",
      tests: ["cache/doubts"],
    },
    {
      fault: "what was read before it was written is the script's own",
      text: `if (!isOwn && access === "modify") entry.isRead = true;`,
      becomes: "",
      tests: ["cache/doubts"],
    },
    {
      fault: "what was appended to is the script's own",
      text: `      case "append":
        if (!isOwn && isThere) entry.isRead = true;`,
      becomes: `      case "append":`,
      tests: ["cache/doubts"],
    },
    {
      fault: "what could not be changed is the script's own",
      text: "if (isSame(entry.now, entry.first)) entry.isWritten = false;",
      becomes: "if (false) entry.isWritten = false;",
      tests: ["cache/recorder", "cache/stale"],
    },
  ],
  "platform/tracing/linux/recorder-thread.ts": [
    {
      fault: "what was opened for a script that has ended stays open",
      text: "    closeDescriptor(journal);\n",
      becomes: "",
      tests: ["cache/recorder"],
    },
  ],
  "platform/tracing/linux/journal-reader.ts": [
    {
      fault: "a record that comes in two pieces is lost",
      text: "if (end > bytes.length) return at;",
      becomes: "if (end > bytes.length) return bytes.length;",
      tests: ["cache/recorder"],
    },
    {
      fault: "a name that is no text is no doubt",
      text: `      this.#observation.doubt("name", path);`,
      becomes: "      void path;",
      tests: ["cache/recorder"],
    },
  ],
  "platform/tracing/linux/tracer.ts": [
    {
      fault: "what one step has seen is taken for what the last one has",
      text: "observation.finish(steps === 1 ? observation.lookBack : look)",
      becomes: "observation.finish(observation.lookBack)",
      tests: ["cache/recorder", "cache/doubts"],
      why: "what has changed meanwhile is another one when its content is asked for, and when it is compared the next time",
    },
    {
      fault: "what is left running is no doubt",
      text: "      hasSurvivor = true;\n",
      becomes: "",
      tests: ["cache/doubts"],
    },
    {
      fault: "nobody answers for what is left running",
      text: "      leave(program, left);\n",
      becomes: "",
      tests: ["cache/doubts"],
    },
  ],
  "src/cache/entry/modified-input-hint.ts": [
    {
      fault: "what is advised means other files than the script's",
      text: "literally(withSlashes(relative(packageDirectory, path)))",
      becomes: "withSlashes(relative(packageDirectory, path))",
      tests: ["cache/doubts"],
    },
    {
      fault: "somebody's sources are proposed as outputs",
      text: "if (rewritten.some((path) => sources.has(path)))",
      becomes: "if (false)",
      tests: ["cache/doubts"],
    },
    {
      fault: "each of many files is proposed by itself",
      text: "files.length > MOST_NAMED ? foldersOf(files)",
      becomes: "files.length > 1000 ? foldersOf(files)",
      tests: ["cache/doubts"],
    },
    {
      fault: "what else the script makes is not proposed",
      text: 'glob.endsWith("/**") && isOwn(glob)',
      becomes: "false",
      tests: ["cache/doubts"],
    },
    {
      fault: "a source beside a folder counts as in it",
      text: "path.startsWith(folder.slice(0, -2))",
      becomes: "path.startsWith(folder.slice(0, -3))",
      tests: ["cache/doubts"],
    },
    {
      fault: "a folder with sources is proposed",
      text: 'glob.endsWith("/**") && isOwn(glob)',
      becomes: 'glob.endsWith("/**")',
      tests: ["cache/doubts"],
    },
  ],
  "src/cache/entry/entry-builder.ts": [
    {
      fault: "what lies in a folder of outputs before it is made anew counts for nothing",
      text: "if (!world.isIgnored(traced.path)) recordNames(",
      becomes: "if (!world.isIgnored(traced.path) && !world.isDeclared(traced.path)) recordNames(",
      tests: ["cache/doubts", "cache/left-behind"],
    },
    {
      fault: "what another run has left in a folder that a script makes stays beside what it makes",
      text: "if (!names && !isMade) return;",
      becomes: "if (!names || isMade) return;",
      tests: ["cache/left-behind"],
    },
    {
      fault: "what somebody else puts into a folder that a script makes is its own",
      text: `if (seen.join("/") !== wanted.join("/"))`,
      becomes: `if (!isMade && seen.join("/") !== wanted.join("/"))`,
      tests: ["cache/left-behind"],
    },
    {
      fault: "what a script makes and takes away again may be there before",
      text: `if (!isDeclared) recorded.conditions.push(["absent", path]);`,
      becomes: "",
      tests: ["cache/left-behind"],
    },
    {
      fault: "a source that outputs name is an output",
      text: "return (await world.sourcesAmong([...found])) ?? new Set();",
      becomes: "return new Set();",
      tests: ["cache/stale"],
    },
    {
      fault: "a source that nobody has looked at is replaced",
      text: "      if (!seen.has(path)) conditions.push(await conditionNow(path, state, world));\n",
      becomes: "",
      tests: ["cache/stale"],
    },
    {
      fault: "what was not there is no condition",
      text: "  else conditions.push([first.kind, path]);",
      becomes: `  else if (first.kind === "other") conditions.push([first.kind, path]);`,
      tests: ["cache/stale"],
    },
    {
      fault: "a pipe that a script looks at is no condition",
      text: "  else conditions.push([first.kind, path]);",
      becomes: `  else if (first.kind === "absent") conditions.push([first.kind, path]);`,
      tests: ["cache/left-behind"],
    },
    {
      fault: "listings are no condition",
      text: `conditions.push(["names", path, seen]);`,
      becomes: "",
      tests: ["cache/stale"],
    },
    {
      fault: "links are no condition",
      text: `conditions.push(["link", path, first.target]);`,
      becomes: "conditions.push();",
      tests: ["cache/stale"],
    },
    {
      fault: "inputs that changed meanwhile are taken as they are at the end",
      text: `if (last || (first.kind === "file" && first.isFresh)) throw new Unkept("changed", path);`,
      becomes: "",
      tests: ["cache/stale", "cache/doubts"],
    },
    {
      fault: "a file that was read and changed is an output",
      text: "if (isRewritten(traced) && !world.isDeclared(path)) rewritten.push(path);\n      else ",
      becomes: "",
      tests: ["cache/doubts"],
    },
    {
      fault: "what a script declares to be its own may not be changed either",
      text: "if (isRewritten(traced) && !world.isDeclared(path))",
      becomes: "if (isRewritten(traced))",
      tests: ["cache/doubts"],
    },
    {
      fault: "what is outside the project is an output",
      text: `  if (!isBelow(path, world.root)) throw new Unkept("outside", path);
  if (first.kind === "other"`,
      becomes: `  if (first.kind === "other"`,
      tests: ["cache/doubts"],
    },
    {
      fault: "declared outputs that were left alone are not kept",
      text: "await addDeclared(recorded, listed, world, sources);",
      becomes: "",
      tests: ["config/caching"],
    },
    {
      fault: "what is declared is listed twice",
      text: "await addDeclared(recorded, listed, world, sources);",
      becomes: "await addDeclared(recorded, await listDeclared(declared), world, sources);",
      tests: ["cache/restore"],
    },
  ],
  "src/cache/restore/stale-outputs.ts": [
    {
      fault: "what is left counts with whatever else lies in it",
      text: "        if (!(await this.#collect(`${path}/${name.slice(1)}`, found, files))) return false;\n",
      becomes: "        await this.#collect(`${path}/${name.slice(1)}`, found, files);\n",
      tests: ["cache/left-behind"],
    },
    {
      fault: "what is left counts as it was, whatever it is now",
      text: "if (await isOutput(output, look(path), hashes)) return true;",
      becomes: "if ((await isOutput(output, look(path), hashes)) || output) return true;",
      tests: ["cache/left-behind"],
    },
    {
      fault: "what git does not ignore is taken away",
      text: "sources ? !sources.has(file) : this.#world.isDeclared(file)",
      becomes: "sources !== null || this.#world.isDeclared(file)",
      tests: ["cache/left-behind"],
    },
    {
      fault: "without git all that is left is taken away",
      text: "sources ? !sources.has(file) : this.#world.isDeclared(file)",
      becomes: "!sources?.has(file)",
      tests: ["cache/left-behind"],
    },
  ],
  "src/cache/entry/entry-validation.ts": [
    {
      fault: "what others have left of a file that is replaced counts",
      text: "if (!isReplaced || !(await left.has(path))) return",
      becomes: "if (true) return",
      tests: ["cache/left-behind"],
    },
    {
      fault: "what anybody has put where a file is replaced does not count",
      text: "if (!isReplaced || !(await left.has(path))) return",
      becomes: "if (!isReplaced) return",
      tests: ["cache/left-behind", "cache/stale"],
    },
    {
      fault: "in a folder that is only read, what others have left is taken away",
      text: `const isMade = outputs.get(path)?.kind === "directory";`,
      becomes: "const isMade = true;",
      tests: ["cache/left-behind"],
    },
    {
      fault: "a folder may have other permissions than a script saw",
      text: "    return state.mode === condition[2] ? null : `${path} has other permissions`;\n",
      becomes: "    return null;\n",
      tests: ["cache/left-behind"],
    },
    {
      fault: "what a script made and took away is not seen in a listing",
      text: "  const own = new Set(outputs.keys());\n",
      becomes: "  const own = new Set([...outputs.keys(), ...entry.own]);\n",
      tests: ["cache/left-behind"],
      why: "that it must not be there is a condition of its own",
    },
    {
      fault: "a link in the place of a folder that a script makes is listed",
      text: `if (condition[2].length === 0 && world.look(path).kind !== "directory") continue;`,
      becomes: "",
      tests: ["cache/restore"],
    },
    {
      fault: "a folder of the script's own may have any permissions",
      text: `state.kind === "directory" && state.mode === output.mode`,
      becomes: `state.kind === "directory"`,
      tests: ["cache/left-behind"],
    },
    {
      fault: "permissions do not count",
      text: "if (state.mode !== condition[3]) return",
      becomes: "if (state.mode < 0) return",
      tests: ["cache/stale"],
    },
    {
      fault: "contents do not count",
      text: "return (await hashes.hash(path, state)) === condition[2] ? null",
      becomes: "return (await hashes.hash(path, state)) !== null ? null",
      tests: ["cache/stale"],
    },
    {
      fault: "an output of another content is left as it is",
      text: "return (await hashes.hash(output.path, state)) === output.hash;",
      becomes: "return true;",
      tests: ["cache/hits"],
    },
  ],
  "src/cache/restore/restore.ts": [
    {
      fault: "the length of a name is counted in characters",
      text: "return new TextDecoder().decode(Buffer.from(name).subarray(0, 100), { stream: true });",
      becomes: "return name.slice(0, 100);",
      tests: ["cache/restore"],
    },
    {
      fault: "links lead out of the project",
      why: "each directory on the way is a condition of its own: this is the second lock",
      text: "if (real !== root && !isBelow(real, root)) throw new Error(`${directory} is outside`);",
      becomes: "",
      tests: ["cache/restore"],
    },
    {
      fault: "files lose their permissions",
      text: "      chmodSync(draft, output.mode);",
      becomes: "",
      tests: ["cache/hits"],
    },
    {
      fault: "what the script removed stays",
      text: `if (output.kind === "absent") return remove(path, root);`,
      becomes: `if (output.kind === "absent") return;`,
      tests: ["cache/hits"],
    },
  ],
  "src/cache/entry/stored-entry.ts": [
    {
      fault: "damaged entries are believed",
      text: "if (!bytes || hashBytes(bytes) !== hash) return null;",
      becomes: "if (!bytes) return null;",
      tests: ["cache/store"],
    },
  ],
  "src/cache/store/cache-store.ts": [
    {
      fault: "what was used last goes first",
      text: "sort((a, b) => a.used - b.used)",
      becomes: "sort((a, b) => b.used - a.used)",
      tests: ["cache/eviction"],
    },
    {
      fault: "what others need goes",
      text: "if (left === 0) drop(hash);",
      becomes: "drop(hash);",
      tests: ["cache/eviction"],
    },
    {
      fault: "damaged logs are believed",
      text: "if (bytes && hashBytes(bytes) === hash) return bytes;",
      becomes: "if (bytes) return bytes;",
      tests: ["cache/store"],
    },
  ],
  "src/cache/restore/input-verification.ts": [
    {
      fault: "undeclared files are not named",
      text: "if (!isOfOthers) read.push(shown);",
      becomes: "",
      tests: ["options/caching"],
    },
  ],
  "src/cache/key/cache-key.ts": [
    {
      fault: "a hard link that is made at that moment gives it another key",
      text: "const MOST_READINGS = 3;",
      becomes: "const MOST_READINGS = 1;",
      tests: ["cache/key"],
    },
    {
      fault: "values that are not UTF-8 are all one",
      text: "value.isWellFormed() ? value : ",
      becomes: "value.isWellFormed() || true ? value : ",
      tests: ["run/bytes"],
    },
    {
      fault: "variables do not count",
      text: "fields.push({ name: `the variable ${name}`, hash: hashesOf(meant) });",
      becomes: "void hash;",
      tests: ["cache/stale"],
    },
    {
      fault: "declared inputs do not count",
      text: "hash: await hashInput(path, hashes, look) });",
      becomes: 'hash: "" });',
      tests: ["config/caching"],
    },
  ],
  "src/cache/key/declared-inputs.ts": [
    {
      fault: "a folder of the project does not count where a link leads to it",
      text: 'if (kind === "link") addLinked(',
      becomes: "if (false) addLinked(",
      tests: ["cache/link-ends"],
    },
    {
      fault: "a source that outputs name does not count",
      text: "!world.isDeclared(path) || tracked.has(path)",
      becomes: "!world.isDeclared(path)",
      tests: ["cache/stale"],
    },
    {
      fault: "packages that it depends on do not count",
      text: "return [packageDirectory, ...directoriesNeeded(root, packageDirectory)];",
      becomes: "return [packageDirectory];",
      tests: ["cache/declared"],
    },
    {
      fault: "lockfiles do not count",
      text: "new Set(sharedFiles(root))",
      becomes: "new Set<string>()",
      tests: ["cache/declared"],
    },
  ],
  "src/cache/entry/root-path-detector.ts": [
    {
      fault: "a word in the middle of another one counts",
      text: "if (!isOfWord(text[at + word.length]) && (",
      becomes: "if (true || (",
      tests: ["cache/sharing"],
    },
    {
      fault: "what stands behind an escape is a part of a word",
      text: "(!isOfWord(text[at - 1]) || isBehindEscape(text, at))",
      becomes: "!isOfWord(text[at - 1])",
      tests: ["cache/sharing"],
    },
    {
      fault: "colours are a part of a word",
      text: String.raw`/\[[0-?]*[ -/]*[@-~]$/,`,
      becomes: "",
      tests: ["cache/sharing"],
    },
    {
      fault: "a percent sign and a number are a part of a word",
      text: String.raw`/%[\da-f]{2}$/i,`,
      becomes: "",
      tests: ["cache/sharing"],
    },
    {
      fault: "quotation marks of books are letters",
      text: "(byte >= 97 && byte <= 122);",
      becomes: "(byte >= 97 && byte <= 122) || byte >= 128;",
      tests: ["cache/sharing"],
    },
  ],
  "src/cache/entry/relocation.ts": [
    {
      fault: "a script that shows its path shares what it made",
      text: "if (!isSamePlace(mentioned, first, root)) return null;",
      becomes: "",
      tests: ["cache/sharing"],
    },
    {
      fault: "what is above another checkout does not count",
      text: "...seenFrom(root, outside, first, isFixed)",
      becomes: "",
      tests: ["cache/sharing"],
    },
    {
      fault: "only one folder above another checkout counts",
      text: "index <= Math.max(level, now.length - 1)",
      becomes: "index <= level",
      tests: ["cache/sharing"],
    },
  ],
  "src/cache/key/environment.ts": [
    {
      fault: "a script gets every variable",
      text: "else withheld.push(name);",
      becomes: "else variables[name] = value;",
      tests: ["cache/doubts"],
    },
  ],
  "src/cache/cached-run.ts": [
    {
      fault: "of what lies beside the package git is not asked",
      text: "await sourcesAmong([...paths, ...made, ...read.filter((path) => isBelow(path, root))])",
      becomes:
        "await sourcesAmong([...paths, ...made, ...read].filter((path) => isBelow(path, packageDirectory)))",
      tests: ["cache/doubts"],
    },
    {
      fault: "a failure is kept",
      text: `if (outcome !== "success") return lines;`,
      becomes: "",
      tests: ["cache/doubts"],
    },
    {
      fault: "a secret that was printed is kept",
      text: `if (shown !== undefined) throw new Unkept("secret", shown);`,
      becomes: "",
      tests: ["cache/doubts"],
    },
  ],
  "src/cache/cache.ts": [
    {
      fault: "it is followed twice",
      text: "if (!rule || host.originalVariable(MARK) !== undefined) return undefined;",
      becomes: "if (!rule) return undefined;",
      tests: ["cache/nested"],
    },
  ],
  "src/cache/remote/signature.ts": [
    {
      fault: "what is not signed is used",
      text: `if (!this.#key || isSigned(tag, this.#key, id, this.#teamId, bytes)) return bytes;`,
      becomes: `if (!this.#key || tag !== id) return bytes;`,
      tests: ["cache/remote-lies"],
    },
    {
      fault: "every signature is right",
      text: `return given.length === right.length && timingSafeEqual(given, right);`,
      becomes: `return given.length >= 0;`,
      tests: ["cache/remote-artifact"],
    },
    {
      fault: "lengths are not signed",
      text: `hasher.update(length.buffer);`,
      becomes: "",
      tests: ["cache/remote-artifact"],
    },
  ],
  "src/cache/remote/turbo-client.ts": [
    {
      fault: "a redirect leads from https to http",
      text: `return from.protocol === "https:" && next.protocol !== "https:" ? undefined : next;`,
      becomes: "return next;",
      tests: ["cache/remote-lies"],
    },
    {
      fault: "the token is sent to another origin",
      text: `...(at.origin === address.origin && {`,
      becomes: `...(at !== undefined && {`,
      tests: ["cache/remote-lies"],
    },
  ],
  "src/cache/remote/reapi-backend.ts": [
    {
      fault: "an index is used without its signature",
      text: `return this.#seal.open(id, sealed.subarray(end + 1), tag);`,
      becomes: `return tag === id ? undefined : sealed.subarray(end + 1);`,
      tests: ["cache/remote-reapi-lies"],
    },
    {
      fault: "what a server says that it does not take is sent",
      text: "if (!connection.takesResults) {",
      becomes: "if (connection.store === undefined) {",
      tests: ["cache/remote-reapi"],
    },
    {
      fault: "as much is fetched as a server says",
      text: "digests.length === hashes.length && size <= LARGEST_TAR",
      becomes: "digests.length === hashes.length",
      tests: ["cache/remote-reapi-lies"],
    },
    {
      fault: "a run waits for a server as long as that takes",
      text: "const answer = await Promise.race([ask(), late]);",
      becomes: "const answer = await ask();",
      tests: ["cache/remote-reapi-lies"],
    },
  ],
  "src/cache/remote/shareable-outputs.ts": [
    {
      fault: "a repository's own folder may be written",
      text: "some((name) => REPOSITORY.test(name))",
      becomes: `some((name) => name === ".git")`,
      tests: ["cache/remote-artifact"],
    },
    {
      fault: "links may lead out",
      text: `return end === root || isBelow(end, root);`,
      becomes: `return end !== "";`,
      tests: ["cache/remote-artifact"],
    },
    {
      fault: "other packages may be written",
      text: `if (!isBelow(path, packageDirectory) && !place.isDeclared(path)) return false;`,
      becomes: "",
      tests: ["cache/remote-artifact"],
    },
  ],
  "src/cache/remote/artifact.ts": [
    {
      fault: "contents are not compared with their digests",
      text: `!wanted.has(digest) || hashBytes(content) !== digest`,
      becomes: `!wanted.has(digest)`,
      tests: ["cache/remote-artifact"],
    },
  ],
  "src/cache/server/server.ts": [
    {
      fault: "a question may be as long as an artifact",
      text: "    if (size > LARGEST_QUESTION) return undefined;\n",
      becomes: "",
      tests: ["cache/server"],
    },
    {
      fault: "a token of its own scope writes the main one",
      text: `return { scope: token.access === "write-own" ? token.name : MAIN, team, kind };`,
      becomes: `return { scope: MAIN, team, kind };`,
      tests: ["cache/server"],
    },
    {
      fault: "a token that may read writes",
      text: `if (token.access === "read") return undefined;`,
      becomes: "",
      tests: ["cache/server"],
    },
  ],
  "src/cache/server/artifact-store.ts": [
    {
      fault: "a damaged artifact is sent",
      text: `(found) => found === hash,`,
      becomes: `() => true,`,
      tests: ["cache/server"],
    },
  ],
  "src/config/settings/remote-cache.ts": [
    {
      fault: "the file wins over variables",
      text: `slug: own("TURBO_TEAM") ?? (table?.team as string | undefined),`,
      becomes: `slug: (table?.team as string | undefined) ?? own("TURBO_TEAM"),`,
      tests: ["config/shared-cache"],
    },
  ],
  "src/cache/import/command.ts": [
    {
      fault: "the turbo.json of a package is imported for all",
      text: "if (content.extends !== undefined || (root !== null && root !== directory))",
      becomes: "if (false)",
      tests: ["cache/import"],
    },
    {
      fault: "what packages say of their tasks is left out",
      text: "if (member.isRoot) return [];",
      becomes: "if (member.directory) return [];",
      tests: ["cache/import"],
    },
  ],
  "src/cache/import/turbo-package.ts": [
    {
      fault: "a list of a package adds to the root's without being asked",
      text: "Array.isArray(value) && value.includes(EXTENDS) && Array.isArray(before)",
      becomes: "Array.isArray(value) && Array.isArray(before)",
      tests: ["cache/import"],
    },
    {
      fault: "a task that is not to inherit does",
      text: "if (isInherited !== false) task",
      becomes: "if (true) task",
      tests: ["cache/import"],
    },
    {
      fault: "a package inherits nothing of others",
      text: "if (other && !seen.has(other.path) && other.path !== path)",
      becomes: "if (false)",
      tests: ["cache/import"],
    },
  ],
  "src/cache/import/turbo.ts": [
    {
      fault: "each file that turbo does not keep is no input",
      text: "CACHE.test(each) && ",
      becomes: "",
      tests: ["cache/import"],
    },
  ],
  "src/cache/entry/uncacheable-reasons.ts": [
    {
      fault: "of too much output it is said that it is no file",
      text: 'flood: ["it wrote more than $ to the terminal", "let it say less, or write that into a file"],',
      becomes:
        'flood: ["it wrote $, which is neither a file nor a link", "list it in ignore of [run.cache]"],',
      tests: ["cache/key"],
    },
  ],
  "src/tasks/labels.ts": [
    {
      fault: "what need not run is counted",
      text: "  if (needless === all) return `${count} would not run again`;\n",
      becomes: "",
      tests: ["cache/hits"],
    },
  ],
} satisfies MutantTable;
