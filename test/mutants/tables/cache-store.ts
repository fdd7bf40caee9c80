// Mutants of what the cache keeps, for how long, and how it is put back.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/cache/store.ts": [
    {
      fault:
        "what another rt has kept in the same moment, and somebody reads on Windows, fails the run's keeping",
      text: "      if (!isThere()) throw error;\n",
      becomes: "      throw error;\n",
      tests: ["windows/cache"],
      why: "three have to meet in one moment: it reddened one of ten runs under Wine",
    },
    {
      fault: "what is no content is removed as a damaged one",
      text: `/^[\\da-f]{64}$/.test(hash) ? hash : "none"`,
      becomes: "hash",
      tests: ["cache/store"],
    },
    {
      fault: "of several who open a new store the last one's secret stays",
      text: "linkSync(draft, path);",
      becomes: "renameSync(draft, path);",
      tests: ["cache/store"],
    },
    {
      fault: "a damaged memory is believed",
      text: 'content && hashBytes(content) === bytes!.toString("latin1", 0, HEX) ? content',
      becomes: "content ? content",
      tests: ["run/remote-memory", "cache/recall"],
    },
    {
      fault: "nothing ever goes",
      text: "    this.shrink();\n",
      becomes: "",
      tests: ["cache/store"],
    },
    {
      fault: "all of it goes",
      text: "      if (total <= limit) return;\n",
      becomes: "",
      tests: ["cache/store"],
    },
    {
      fault: "what another rt is about to name goes",
      text: "Date.now() - blob.used < grace",
      becomes: "Date.now() - blob.used < 0",
      tests: ["cache/store"],
    },
    {
      fault: "a content that two entries have goes with the first",
      text: "if (left === 0) drop(hash);",
      becomes: "drop(hash);",
      tests: ["cache/store"],
    },
    {
      fault: "contents of what goes stay",
      text: "if (left === 0) drop(hash);",
      becomes: "",
      tests: ["cache/store"],
    },
    {
      fault: "contents that no entry has stay",
      text: "    for (const hash of blobs.keys()) if (!uses.has(hash)) drop(hash);\n",
      becomes: "",
      tests: ["cache/store"],
    },
    {
      fault: "every run looks at every file",
      text: "    if (Date.now() - timeOf(mark) < PAUSE) return;\n",
      becomes: "",
      tests: ["cache/store"],
    },
    {
      fault: "the runs of a script are kept without end",
      text: "    for (const { path } of this.#entryFiles(key).slice(MOST_ENTRIES)) rmSync(path, { force: true });\n",
      becomes: "",
      tests: ["cache/store"],
    },
    {
      fault: "the same is kept twice",
      text: "if (name.startsWith(conditions)) rmSync",
      becomes: "if (name === conditions) rmSync",
      tests: ["cache/store"],
    },
    {
      fault: "others can read contents",
      text: "      chmodSync(draft, 0o600);\n",
      becomes: "",
      tests: ["cache/store"],
    },
    {
      fault: "others can read logs",
      text: "writeFileSync(draft, bytes, { mode: 0o600 });",
      becomes: "writeFileSync(draft, bytes);",
      tests: ["cache/store"],
    },
    {
      fault: "others can read entries",
      text: "writeFileSync(draft, content, { mode: 0o600 });",
      becomes: "writeFileSync(draft, content);",
      tests: ["cache/store"],
    },
    {
      fault: "a key of any length is one",
      text: "if (bytes?.length === 32) return bytes;",
      becomes: "if (bytes) return bytes;",
      tests: ["cache/store"],
    },
    {
      fault: "damaged contents stay",
      text: "    if (bytes && hashBytes(bytes) === hash) return bytes;\n    rmSync(path, { force: true });",
      becomes: "    if (bytes && hashBytes(bytes) === hash) return bytes;",
      tests: ["cache/store"],
    },
  ],
  "src/cache/restore.ts": [
    {
      fault: "nobody is told that something is put back",
      text: "  const presence = announce();\n",
      becomes: "  const presence = { leave() {} };\n",
      tests: ["cache/presence"],
    },
    {
      fault: "who put something back is there for ever",
      text: "    presence.leave();\n",
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "what is there already is put back to others",
      text: "  if (missing.length === 0) return 0;\n",
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "a link is put back as another",
      text: "symlinkSync(output.target, draft)",
      becomes: "symlinkSync(output.target.slice(1), draft)",
      tests: ["cache/restore"],
    },
    {
      fault: "directories lose their permissions",
      text: `if (output.kind === "directory") chmodSync(output.path, output.mode);`,
      becomes: "void output;",
      tests: ["cache/restore"],
    },
    {
      fault: "what was removed with all in it stays",
      text: `return a.kind === "absent" ? -isBefore : isBefore;`,
      becomes: "return isBefore;",
      tests: ["cache/restore"],
    },
    {
      fault: "a draft stays where a file cannot be put back",
      text: "    rmSync(draft, { force: true });\n    throw error;",
      becomes: "    throw error;",
      tests: ["cache/restore"],
    },
    {
      fault: "a link in the place of a directory is left as it is",
      text: "return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;",
      becomes: "return realpathSync(path) !== '';",
      tests: ["cache/restore"],
    },
    {
      fault: "a file in the place of a directory stays",
      text: "      rmSync(path, { force: true });\n      mkdirSync",
      becomes: "      mkdirSync",
      tests: ["cache/restore"],
    },
    {
      fault: "what is taken away may be anywhere",
      text: "  requireInside(dirname(path), root, false);\n",
      becomes: "",
      tests: ["cache/restore"],
    },
    {
      fault: "damaged contents are put back",
      text: `if (output.kind === "file" && !(await store.checkBlob(output.hash))) return null;`,
      becomes: "",
      tests: ["cache/hits", "cache/restore", "cache/store"],
      why: "each is compared again when it has been copied",
    },
  ],
  "src/cache/check.ts": [
    {
      fault: "a link of the run's that leads elsewhere is left",
      text: 'state.kind === "link" && state.target === output.target;\n  if',
      becomes: 'state.kind === "link";\n  if',
      tests: ["cache/restore"],
    },
  ],
  "src/cache/key.ts": [
    {
      fault: "the umask does not count",
      text: '  add("the umask", (umask ??= process.umask()));\n',
      becomes: "",
      tests: ["cache/key"],
    },
    {
      fault: "arguments do not count",
      text: "step.argv.map(placeless)]",
      becomes: "[]]",
      tests: ["cache/key"],
    },
    {
      fault: "another directory has the same key",
      text: '  add("the package\'s directory", keepPath(packageDirectory, root));\n',
      becomes: "",
      tests: ["cache/stale"],
      why: "npm_package_json, which counts as well, says it too",
    },
    {
      fault: "settings do not count",
      text: "[rule.env, rule.inputs, rule.outputs, rule.ignore]",
      becomes: "[]",
      tests: ["cache/key"],
    },
  ],
  "src/cache/log.ts": [
    {
      fault: "standard error comes again as output",
      text: "view.setUint8(at + 1, isError ? 1 : 0);",
      becomes: "view.setUint8(at + 1, 0);",
      tests: ["cache/hits"],
    },
    {
      fault: "what writes without end is kept",
      text: "return this.#size > LARGEST;",
      becomes: "return false;",
      tests: ["cache/key"],
    },
  ],
  "src/cache/hashes.ts": [
    {
      fault: "a file that changes while it is read is remembered",
      text: `if (now.kind !== "file" || now.stamp !== stamp) return false;`,
      becomes: `if (now.kind !== "file") return false;`,
      tests: ["cache/stale"],
      why: "the change would have to come between two calls of rt's own",
    },
    {
      fault: "what was changed a moment ago is remembered",
      text: "if (now.isFresh) return true;",
      becomes: "",
      tests: ["cache/stale"],
      why: "two changes within one tick of the kernel's clock would have to leave one size",
    },
    {
      fault: "a file keeps the hash that it had before",
      text: "return known?.stamp === stamp ? known.hash : undefined;",
      becomes: "return known?.hash;",
      tests: ["run/remote-memory"],
    },
  ],
  "src/cache/patterns.ts": [
    {
      fault: "a project in a place for tools' caches has no inputs",
      text: "return always(root) ? () => false : always;",
      becomes: "return always;",
      tests: ["cache/tool-caches"],
    },
    {
      fault: "caches of another user do not matter",
      text: "`tsx-${USER}`",
      becomes: '"tsx-*"',
      tests: ["cache/tool-caches"],
    },
    {
      fault: "what Node.js compiles matters",
      text: '"node-compile-cache", ',
      becomes: "",
      tests: ["cache/tool-caches"],
    },
    {
      fault: "an exclamation mark takes nothing back",
      text: "isMatch = !isNot;",
      becomes: "isMatch = true;",
      tests: ["cache/key"],
    },
    {
      fault: "who leaves out what lies above leaves out the project",
      text: '  if (absolute === "/**" || ancestorsOf(root).some((each) => base.match(each))) return root;\n',
      becomes: "",
      tests: ["cache/key"],
    },
    {
      fault: "who leaves out what lies beside a package leaves out the package",
      text: "return isBeside ? directory : undefined;",
      becomes: "return undefined;",
      tests: ["cache/key"],
    },
  ],
  "src/cache/command.ts": [
    {
      fault: "who names a script loses all that is kept",
      text: `    case "clear":
      refuseWords(word, rest);`,
      becomes: `    case "clear":`,
      tests: ["cache/command-faults"],
    },
    {
      fault: "what cannot be looked at counts as not there",
      text: `if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;`,
      becomes: "return false;",
      tests: ["cache/command-faults"],
    },
    {
      fault: "what other versions have kept stays",
      text: "    if (/^scripts-\\d+$/.test(name) && name !== basename(directory))\n",
      becomes: '    if (name === "")\n',
      tests: ["cache/eviction"],
    },
    {
      fault: "prune leaves as much as ever",
      text: "text === undefined ? LARGEST : Number(text) * MEGABYTE",
      becomes: "LARGEST",
      tests: ["cache/eviction"],
    },
    {
      fault: "an unknown word clears the cache",
      text: '    case "clear":\n',
      becomes: "    default:\n",
      tests: ["cache/key"],
    },
  ],
  "src/cache/presence.ts": [
    {
      fault: "who comes later does not see who is there",
      text: "        this.#hasMet = true;\n",
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "who was there first is not told",
      text: '        writeFileSync(join(directory, other + MARK), "", { mode: 0o600 });\n',
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "a script meets itself",
      text: "        if (other === own) continue;\n",
      becomes: "",
      tests: ["cache/presence", "cache/hits"],
    },
    {
      fault: "all scripts meet",
      text: "const place = hashBytes(JSON.stringify(script));",
      becomes: 'const place = hashBytes("");',
      tests: ["cache/presence"],
    },
    {
      fault: "who could tell nobody is kept",
      text: '    if (this.#failure !== undefined) throw new Unkept("store", this.#failure);\n',
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "its lock is not given back",
      text: "      lock.release();\n",
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "its mark stays",
      text: "      rmSync(this.#path + MARK, { force: true });\n",
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "what a killed rt has left is somebody who is there",
      text: "    if (!isHeld) rmSync(",
      becomes: "    if (!isHeld) return true;\n    if (!isHeld) rmSync(",
      tests: ["cache/presence"],
    },
    {
      fault: "what a killed rt has left stays",
      text: "    if (!isHeld) rmSync(join(directory, name), { force: true });\n",
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "an end that cannot be written fails the script",
      text: "    } catch {\n      // Whoever comes next takes it away.\n    }",
      becomes: "    } finally {\n    }",
      tests: ["cache/presence"],
    },
  ],
  "platform/posix/file-lock.ts": [
    {
      fault: "it is seen before it is held",
      text: 'openSync(draft, "wx", 0o600)',
      becomes: 'openSync(path, "w", 0o600)',
      tests: ["posix/file-lock"],
    },
    {
      fault: "it is not held at all",
      text: "lock(descriptor, LOCK_EX)",
      becomes: "0",
      tests: ["posix/file-lock"],
    },
    {
      fault: "what could not be named is left",
      text: "    rmSync(draft, { force: true });\n",
      becomes: "",
      tests: ["posix/file-lock"],
    },
    {
      fault: "its name stays",
      text: "        rmSync(path, { force: true });\n",
      becomes: "",
      tests: ["posix/file-lock"],
    },
  ],
  "src/cache/run.ts": [
    {
      fault: "what overlapped is kept",
      text: "      this.#followed.requireAlone();\n",
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "it is there for ever",
      text: "      this.#followed.leave();\n",
      becomes: "",
      tests: ["cache/presence"],
    },
    {
      fault: "what could not be followed is kept",
      text: "    if (this.#followed.refusal) {",
      becomes: "    if (this.#followed.refusal && log === undefined) {",
      tests: ["cache/doubts"],
    },
    {
      fault: "a variable that a failing script names is not said",
      text: "lines.push(...this.#explainWithheld());",
      becomes: "this.#explainWithheld();",
      tests: ["cache/doubts"],
    },
    {
      fault: "--cache=local:r keeps",
      text: "      if (this.#settings.isWritten) this.#store.addEntry",
      becomes: "      this.#store.addEntry",
      tests: ["options/caching", "cache/remote"],
    },
  ],
  "src/cache/finding.ts": [
    {
      fault: "why it runs again does not say why it was not kept",
      text: "const [, reason] = this.last.text.split(UNKEPT);",
      becomes: "const reason = undefined;",
      tests: ["cache/doubts"],
    },
  ],
  "src/cache/environment.ts": [
    {
      fault: "what a build goes without is not told",
      text: "const built = makes ?",
      becomes: "const built = !makes ?",
      tests: ["cache/doubts", "cache/others-stale"],
    },
    {
      fault: "who is kept from being silent is not told",
      text: "const silencing = isOnline ?",
      becomes: "const silencing = !isOnline ?",
      tests: ["cache/doubts"],
    },
    {
      fault: "how deep shells are nested counts",
      text: '  if (variables.SHLVL !== undefined) variables.SHLVL = "1";\n',
      becomes: "",
      tests: ["cache/key"],
    },
  ],
  "src/cache/kept-files.ts": [
    {
      fault: "a hit is no use",
      text: "    utimesSync(path, new Date(), new Date());\n",
      becomes: "",
      tests: ["cache/store"],
    },
  ],
  "src/cache/server/shelf.ts": [
    {
      fault: "names of nothing take no room",
      text: "      if (!existsSync(place)) this.#size += NAME_SIZE;\n",
      becomes: "",
      tests: ["cache/server"],
    },
    {
      fault: "what breaks off leaves a draft",
      text: "      if (!isKept) rmSync(path, { force: true });\n",
      becomes: "",
      tests: ["cache/kept-files"],
    },
    {
      fault: "two servers write the same draft",
      text: `join(this.directory, "drafts", crypto.randomUUID())`,
      becomes: 'join(this.directory, "drafts", `${process.pid}-1`)',
      tests: ["cache/kept-files"],
    },
  ],
  "src/cache/candidates.ts": [
    {
      fault: "what cannot be kept here ends a hit",
      text: "  } catch {\n    // It comes from the others again.\n  }",
      becomes: "  } finally {\n    // It comes from the others again.\n  }",
      tests: ["cache/kept-files"],
    },
  ],
  "src/cache/followed-script.ts": [
    {
      fault: "a script whose start has failed meets itself when it is tried again",
      text: "      this.#presence.leave();\n",
      becomes: "",
      tests: ["cache/followed-script"],
    },
    {
      fault: "a launcher that may not be started fails the script",
      text: `["EACCES", "EPERM", "ENOENT"]`,
      becomes: "[]",
      tests: ["cache/doubts"],
    },
    {
      fault: "what was not followed is kept",
      text: `isTraced ? undefined : "refused"`,
      becomes: "undefined",
      tests: ["cache/doubts"],
    },
  ],
} satisfies MutantTable;
