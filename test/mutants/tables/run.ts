// Mutants of src/runner and of src/main.ts.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/runner/resolve/shadowed-script.ts": [
    {
      fault: "a script that means the command gets a hint",
      text: "if (script === null || [`rt ${command}`, `bun ${command}`].includes(script.trim())) return;",
      becomes: "if (script === null) return;",
      tests: ["cli/command-line"],
    },
    {
      fault: "the command within its script gets a hint",
      text: `if (host.originalVariable("npm_lifecycle_event") === command) return;`,
      becomes: "",
      tests: ["cli/command-line"],
    },
  ],
  "src/runner/watch/script-watch.ts": [
    {
      fault: "a watched script of a first process has died of the signal",
      text: "if (stop && process.pid === 1) return await ending;",
      becomes: "",
      tests: ["run/first-process"],
    },
    {
      fault: "what does not end after the grace is not killed",
      text: `if (performance.now() > deadline) trees.signalTrees([child], "SIGKILL");`,
      becomes: "",
      tests: ["tasks/ending"],
    },
    {
      fault: "a second signal kills nothing",
      text: `if (stop && child) trees.signalTrees([child], "SIGKILL"); // asked twice`,
      becomes: "",
      tests: ["tasks/ending"],
    },
    {
      fault: "the last signal wins over the first",
      text: "stop ??= signal;",
      becomes: "stop = signal;",
      tests: ["tasks/ending"],
    },
    {
      fault: "a script starts again before all of the last start has ended",
      text: "while (!isOver || trees.hasSurvivors([child])) {",
      becomes: "while (!isOver) {",
      tests: ["options/watch"],
      why: "elsewhere than on Windows, whose jobs are asked here, nothing is found below a child that has ended",
    },
    {
      fault: "a script that has ended does not start again",
      text: "if (reasons.length === 0 && !stop) await woken;",
      becomes: "if (reasons.length === 0 && !stop) break;",
      tests: ["options/watch"],
    },
    {
      fault: "every signal is taken for one to end by",
      text: "const signal = known.find((each) => each === name);",
      becomes: "const signal = name as StopSignal;",
      tests: ["cli/wrong-values"],
    },
  ],
  "src/watch/change-debouncer.ts": [
    {
      fault: "a file that was only emptied starts the script again",
      text: "this.#contents.isEmptied(path)",
      becomes: "false",
      tests: ["run/watch"],
    },
  ],
  "src/runner/watch/watch-session.ts": [
    {
      fault: "a change starts every script again",
      text: "this.#run!.again([...tasks])",
      becomes: "this.#run!.again(this.#plan.tasks)",
      tests: ["run/watch-packages"],
    },
    {
      fault: "what one start has written is a change for the one that follows",
      text: "this.#counts.set(affected, count + 1);",
      becomes: "this.#counts.set(affected, count);",
      tests: ["run/watch-packages"],
    },
  ],
  "src/runner/watch/affected-tasks.ts": [
    {
      fault: "a package.json is a file like others",
      text: "package\\.json|rtfig",
      becomes: "rtfig",
      tests: ["run/watch-packages"],
    },
  ],
  "src/runner/script/signal-forwarding.ts": [
    {
      fault: "process 1 keeps signals that are meant for the program",
      text: "process.pid === 1 ? [...FORWARDED, ...PASSED_ON] : FORWARDED",
      becomes: "FORWARDED",
      tests: ["run/first-process"],
    },
    {
      fault: "a second signal does not kill",
      text: `if (received) trees.signalTrees(children, "SIGKILL");\n      else if`,
      becomes: "if",
      tests: ["tasks/ending"],
    },
    {
      fault: "Ctrl-C is told twice",
      text: "else if (!isFromTerminal) trees",
      becomes: "else trees",
      tests: ["run/terminal"],
    },
    {
      fault: "a signal that comes as the hook ends is forgotten",
      text: "      await turnLoop();\n",
      becomes: "",
      tests: ["run/signal-at"],
      why: "the engine takes turns itself to tell of the end, and nothing can be made to send a signal after those",
    },
  ],
  "src/runner/script/step-wait.ts": [
    {
      fault: "what a hook inherits moves to other places",
      text: "descriptors.includes(index + 3) ? index + 3 : undefined",
      becomes: "descriptors[index]",
      tests: ["run/inheritance", "run/bytes"],
    },
    {
      fault: "a hook that a signal was sent to is a success",
      text: `return received && code === 0 && next !== "end" ? { signal: received } : code;`,
      becomes: "return code;",
      tests: ["run/ending", "run/hooks", "run/signal-at"],
    },
    {
      fault: "a hook with a code of its own has died of the signal",
      text: "received && code === 0 && ",
      becomes: "received && ",
      tests: ["run/ending", "run/hooks", "run/signal-at"],
    },
    {
      fault: "the script of a first process that ends well has died of the signal",
      text: ` && next !== "end"`,
      becomes: "",
      tests: ["run/first-process"],
    },
    {
      fault: "rt's guardian is left to the script",
      text: `next === "replacement" && trees.leaveNothing()`,
      becomes: "false",
      tests: ["run/hooks", "run/inheritance"],
    },
  ],
  "src/runner/watch/engine-watch.ts": [
    {
      fault: "the entry point's return is not noticed",
      text: `const signal = isThere ? "returned" : await event.promise;`,
      becomes: `const signal = isThere ? "returned" : ("SIGTERM" as const);`,
      tests: ["options/watch"],
      why: "the file would have to be back within the 50 ms or so in which rt waits to be told; later returns are events",
    },
    {
      fault: "a signal before the program is there again is lost",
      text: "if (!child) event.resolve(signal);",
      becomes: "if (!child) return;",
      tests: ["options/watch"],
    },
    {
      fault: "another module's return is not noticed",
      text: `if (performance.now() - since >= GONE_AFTER) event.resolve("returned");`,
      becomes: "",
      tests: ["options/watch"],
    },
  ],
  "src/watch/source-watcher.ts": [
    {
      fault: "node_modules are watched",
      text: "isIgnored(path, true, [...stack, ignore])",
      becomes: "false",
      tests: ["run/watch"],
    },
    {
      fault: "a directory that comes back is not entered again",
      text: "if (leave(path)) onChange(path, true);",
      becomes: "",
      tests: ["run/watch"],
    },
    {
      fault: "what is in a new directory is not told",
      text: "enterUnlessIgnored(path, stack!, true) : undefined",
      becomes: "enterUnlessIgnored(path, stack!, false) : undefined",
      tests: ["options/watch"],
    },
    {
      fault: "ignore files above the project do not hold",
      text: "const above = ignoreFilesAbove(directory);",
      becomes: "const above: IgnoreFile[] = [];",
      tests: ["run/watch"],
    },
    {
      fault: ".env files are no sources",
      text: ` || name.startsWith(".env.")`,
      becomes: "",
      tests: ["run/watch"],
    },
  ],
  "src/watch/gitignore.ts": [
    {
      fault: "nothing is taken back in",
      text: "if (isNegated) pattern = pattern.slice(1);",
      becomes: "",
      tests: ["options/watch"],
    },
    {
      fault: "a pattern for directories holds for files",
      text: " || (isForDirectories && !isDirectory)",
      becomes: "",
      tests: ["run/gitignore"],
    },
    {
      fault: "an anchored pattern holds everywhere",
      text: "isAnchored ? pattern : ",
      becomes: "",
      tests: ["run/gitignore"],
    },
  ],
  "src/runner/script/launch.ts": [
    {
      fault: "a program whose interpreter is not there is 126",
      text: `outcome === "ENOENT" ? 127 : 126`,
      becomes: "126",
      tests: ["run/programs"],
    },
    {
      fault: "what cannot be started is 127",
      text: `outcome === "ENOENT" ? 127 : 126`,
      becomes: "127",
      tests: ["run/programs"],
    },
    {
      fault: "the script runs although its pre-hook failed",
      text: "    if (ending === 0) continue;\n",
      becomes: "    if (ending) continue;\n",
      tests: ["run/hooks"],
    },
    {
      fault: "the arguments go to the hooks",
      text: "isMain ? appendArguments(command, host.exactArguments(args)) : command",
      becomes: "appendArguments(command, host.exactArguments(args))",
      tests: ["run/hooks", "run/arguments"],
    },
    {
      fault: "--silent shows the command",
      text: "function echo(command: string, { silent }: ScriptSettings): void {\n  if (silent) return;",
      becomes: "function echo(command: string, _: ScriptSettings): void {",
      tests: ["run/script", "options/general"],
    },
    {
      fault: "an answer that cannot be written is a success",
      text: `if (answer.output === "" || host.write(1, answer.output)) return answer.code;`,
      becomes: "host.write(1, answer.output);\n    return answer.code;",
      tests: ["run/answer"],
    },
    {
      fault: "process 1 becomes the script",
      text: "return process.pid === 1;",
      becomes: "return false;",
      tests: ["run/first-process"],
    },
    {
      fault: "descriptors of rt's own reach the script behind a hook",
      text: "inherited ?? context.descriptors ?? (steps.length > 0 ? host.inheritedDescriptors() : undefined);",
      becomes: "undefined;",
      tests: ["run/inheritance", "run/hooks"],
    },
    {
      fault: "Ctrl-C in a hook is told as a failure",
      text: `if (ending.signal === "SIGINT") return;`,
      becomes: "",
      tests: ["run/terminal", "run/hooks", "run/ending"],
    },
  ],
  "src/runner/script/path-shims.ts": [
    {
      fault: "rt stands in for a bun that is installed",
      text: "findOnPath(name, { PATH: path }) ? undefined : tryLink(name)",
      becomes: "tryLink(name)",
      tests: ["run/stand-in"],
    },
    {
      fault: "rt stands in for a node that is installed",
      text: `installed === null ? tryLink("node") : undefined`,
      becomes: `tryLink("node")`,
      tests: ["run/stand-in"],
    },
    {
      fault: "--rt leaves an installed node",
      text: `forceRuntime ? tryLink("node", warnOfNode) : installed === null`,
      becomes: "!forceRuntime && installed === null",
      tests: ["run/stand-in"],
    },
    {
      fault: "--rt that has no place for its link says nothing",
      text: `tryLink("node", warnOfNode)`,
      becomes: `tryLink("node")`,
      tests: ["run/unwritable"],
    },
    {
      fault: "no place for links ends every run",
      text: `if ((error as Error).name !== "PrivateDirectoryError") throw error;`,
      becomes: "throw error;",
      tests: ["run/unwritable", "run/stand-in"],
    },
    {
      fault: "each run of a script warns of a place for links",
      text: "if (isWarned) return;",
      becomes: "",
      tests: ["run/unwritable"],
      why: "a run opens its links once, whatever it starts; this holds should that change",
    },
    {
      fault: "a word that has rt in it is taken for it",
      text: "new RegExp(`\\\\b${name}\\\\b`).test(command)",
      becomes: "command.includes(name)",
      tests: ["run/stand-in", "run/environment"],
      why: "a link too many on PATH, which no script looks for",
    },
  ],
  "src/runner/engine/engine.ts": [
    {
      fault: "RT_BECAME is not told from another process's",
      text: "host.originalVariable(BECAME) === `${pid}`",
      becomes: "host.originalVariable(BECAME) !== undefined",
      tests: ["run/environment", "runtime/engine-switch"],
    },
    {
      fault: "a bunfig.toml of the working directory is read",
      text: `if (!isTool || CONFIGURED.includes(\` \${argv[0]} \`)) ours.unshift(\`--config=\${config}\`);`,
      becomes: "",
      tests: ["config/running", "config/packages", "options/context"],
    },
    {
      fault: "the engine is called bunx",
      text: `process.argv0.endsWith("bunx") ? "rt" : process.argv0`,
      becomes: "process.argv0",
      tests: ["run/stand-in"],
    },
  ],
  "src/runner/script/environment.ts": [
    {
      fault: "a script may start itself for ever",
      text: "< MOST_RECURSIONS) return undefined;",
      becomes: "< 10 * MOST_RECURSIONS) return undefined;",
      tests: ["run/hooks"],
    },
    {
      fault: "PATH grows with each script below a script",
      text: "path.split(pathSeparator).filter((entry) => !own.includes(entry))",
      becomes: "path.split(pathSeparator)",
      tests: ["run/environment"],
    },
    {
      fault: "INIT_CWD is the package",
      text: "INIT_CWD: context.initialDirectory",
      becomes: "INIT_CWD: context.directory",
      tests: ["run/environment"],
    },
    {
      fault: "a bin of one path keeps the scope",
      text: `name.slice(name.indexOf("/") + 1)`,
      becomes: "name",
      tests: ["run/environment"],
    },
    {
      fault: "the installed programs come behind those of the system",
      text: "return [...own, ...inherited].join(pathSeparator);",
      becomes: "return [...inherited, ...own].join(pathSeparator);",
      tests: ["run/environment"],
    },
  ],
  "src/runner/resolve/bin-directories.ts": [
    {
      fault: "node_modules/node_modules/.bin is on PATH",
      text: `if (!base.endsWith("/node_modules")) directories`,
      becomes: "directories",
      tests: ["run/environment", "run/programs"],
    },
  ],
  "src/runner/resolve/resolution.ts": [
    {
      fault: "a command of the system runs without run",
      text: "(explicitRun && findProgram(name, { cwd }))",
      becomes: "findOnPath(name, { cwd })",
      tests: ["run/programs", "run/resolution"],
    },
    {
      fault: "with run, a file comes before a script",
      text: "if (!explicitRun && looksLikeSource) {",
      becomes: "if (looksLikeSource) {",
      tests: ["run/resolution"],
    },
    {
      fault: "a file for Node.js is a program of its own by its path",
      text: " || NODE.test(interpreter)))",
      becomes: "))",
      tests: ["run/node-programs"],
    },
    {
      fault: "a binary for Node.js is a program of its own with --rt",
      text: "(forceRuntime && markedForNode(binary))",
      becomes: "undefined",
      tests: ["run/node-programs"],
    },
    {
      fault: "--rt node is Node.js",
      text: `if (name === "node" && forceRuntime) return asNode([]);`,
      becomes: "",
      tests: ["run/node-programs"],
    },
    {
      fault: "a path without ./ is no path",
      text: `name.includes("/") ? resolvePath(`,
      becomes: "false ? resolvePath(",
      tests: ["run/node-programs"],
    },
    {
      fault: "options of a #! line are lost",
      text: "...(options[1]?.split(/\\s+/) ?? []), path",
      becomes: "path",
      tests: ["run/node-programs"],
    },
    {
      fault: "a binary file is taken for source",
      text: `return start.includes(0) ? "it is a binary file, not source code" : undefined;`,
      becomes: "return undefined;",
      tests: ["cli/mistaken-targets", "run/programs"],
    },
    {
      fault: "a program that may not be executed is taken for source",
      text: `if (isForeign || isNative(start)) return`,
      becomes: "if (isForeign) return",
      tests: ["cli/mistaken-targets", "run/programs"],
    },
  ],
  "src/runner/script/bash-builtins.ts": [
    {
      fault: "exit 256 is answered",
      text: "code <= 255",
      becomes: "code <= 256",
      tests: ["run/answer"],
    },
    {
      fault: "false is true",
      text: `if (name === "false") return { code: 1, output: "" };`,
      becomes: `if (name === "false") return { code: 0, output: "" };`,
      tests: ["run/answer"],
    },
    {
      fault: "exit with two words is answered",
      text: "words.length < 2",
      becomes: "words.length < 3",
      tests: ["run/answer", "run/direct-execution"],
    },
  ],
  "src/shell-quoting.ts": [
    {
      fault: "a quote ends the argument",
      text: "argument.replaceAll(\"'\", `'\\\\''`)",
      becomes: "argument",
      tests: ["run/arguments"],
    },
    {
      fault: "zsh looks for a command behind an equals sign",
      text: "/^(?!=)[A-Za-z0-9_@%+=:,./-]+$/",
      becomes: "/^[A-Za-z0-9_@%+=:,./-]+$/",
      tests: ["run/arguments"],
    },
    {
      fault: "bytes that are no UTF-8 are replaced",
      text: "argument.isWellFormed() ? quoted : quoted.replace(/[\\udc80-\\udcff]+/gu, printBytes)",
      becomes: "quoted",
      tests: ["run/arguments"],
    },
  ],
  "src/runner/script/shell.ts": [
    {
      fault: "BASH_ENV is not read",
      text: `name[0] === "B" && name.startsWith("BASH")`,
      becomes: `name === "BASH"`,
      tests: ["run/direct-execution", "run/answer", "run/inheritance"],
    },
    {
      fault: "an assignment is a program",
      text: `name.includes("=") || `,
      becomes: "",
      tests: ["run/plain-command", "run/direct-execution"],
    },
    {
      fault: "echo -n is answered",
      text: "(hasOptions || !ANSWERED.includes(` ${name} `))",
      becomes: "!ANSWERED.includes(` ${name} `)",
      tests: ["run/plain-command", "run/answer"],
    },
    {
      fault: "a relative entry of PATH is looked up without bash",
      text: `if (!isPathAbsolute && !name.includes("/")) return undefined;`,
      becomes: "",
      tests: ["run/direct-execution"],
    },
    {
      fault: "a #! script is told another path than from bash",
      text: `if (format === "unknown" || (format === "script" && isRelative)) return undefined;`,
      becomes: `if (format === "unknown") return undefined;`,
      tests: ["run/direct-execution"],
    },
    {
      fault: "the shell's level does not rise",
      text: "level >= 0 && level < 100",
      becomes: "level >= 0 && level < 10_000",
      tests: ["run/direct-execution"],
    },
  ],
  "src/runner/plan.ts": [
    {
      fault: "an argument that looks like an option is one for the engine",
      text: `...(args[0]?.startsWith("-") ? ["--"] : []), `,
      becomes: "",
      tests: ["differential/evaluate"],
    },
    {
      fault: "a script keeps the --",
      text: `args: args[0] === "--" ? args.slice(1) : args };`,
      becomes: "args };",
      tests: ["run/arguments", "cli/shortcut"],
    },
    {
      fault: "--if-present does not help",
      text: `if (ifPresent) return { mode: "nothing" };`,
      becomes: "",
      tests: ["options/general", "cli/mistaken-targets"],
    },
    {
      fault: "a long name is shown whole",
      text: "name.length <= LONGEST_NAME",
      becomes: "name.length >= 0",
      tests: ["cli/mistaken-targets"],
    },
    {
      fault: "an empty standard input starts the engine",
      text: "if (facts.isInputEmpty) {",
      becomes: "if (false) {",
      tests: ["cli/mistaken-targets", "cli/command-line", "run/resolution"],
    },
  ],
  "src/runner/fast-path/file-shortcut.ts": [
    {
      fault: "the short cut does not look at rtfig.toml",
      text: ` || hasConfig("."))`,
      becomes: ")",
      tests: ["cli/shortcut", "config/running"],
    },
    {
      fault: "the short cut keeps the --",
      text: `argv.slice(argv[3] === "--" ? 4 : 3)`,
      becomes: "argv.slice(3)",
      tests: ["cli/shortcut"],
    },
  ],
  "src/runner/fast-path/script-shortcut.ts": [
    {
      fault: "the short cut for scripts does not look at rtfig.toml",
      text: `if (files.readFile(\`\${cwd}/rtfig.toml\`, 1) !== "ENOENT") return undefined;`,
      becomes: "",
      tests: ["cli/shortcut", "config/running"],
    },
    {
      fault: "the short cut for scripts keeps the --",
      text: `words.slice(words[1] === "--" ? 2 : 1)`,
      becomes: "words.slice(1)",
      tests: ["cli/shortcut"],
    },
  ],
  "src/runner/file/engine-fallback.ts": [
    {
      fault: "a program runs twice where a module of it has run",
      text: "  if (hasRun()) return false;\n",
      becomes: "",
      tests: ["options/resolution"],
    },
    {
      fault: "data and modules of rt's own count as modules that have run",
      text: "(path) => !RUNS_NOTHING.test(path)",
      becomes: "() => true",
      tests: ["options/resolution"],
    },
    {
      fault: "a program runs twice where it asks for the package of JSX itself",
      text: "hasNodeModules(main) ? undefined : placeOfJsx(error)",
      becomes: "placeOfJsx(error)",
      tests: ["options/resolution"],
    },
    {
      fault: "the package of JSX is not fetched",
      text: "hasNodeModules(main) ? undefined : placeOfJsx(error)",
      becomes: "undefined",
      tests: ["options/resolution"],
    },
    {
      fault: "a module that the program comes to later counts as one that was linked",
      text: "place !== undefined && modulesLinkedFrom(main).has(place)",
      becomes: "place !== undefined",
      tests: ["options/resolution"],
    },
    {
      fault: "an import of types counts as one that was linked",
      text: `loader: "tsx", trimUnusedImports: true`,
      becomes: `loader: "tsx"`,
      tests: ["options/resolution"],
    },
  ],
  "src/runner/file/in-process.ts": [
    {
      fault: "what has been started is served again",
      text: ` && typeof stop !== "function";`,
      becomes: ";",
      tests: ["differential/serve"],
    },
    {
      fault: "what this process cannot load is never handed to the engine",
      text: "if (isOfLoading(error)) await handOver(plan, error);",
      becomes: "",
      tests: ["differential/contents"],
    },
  ],
  "src/main.ts": [
    {
      fault: "a child's signal becomes an exit code",
      text: "process.exit(host.dieOf(outcome.signal));",
      becomes: "process.exit(1);",
      tests: ["run/ending", "run/hooks"],
    },
  ],
  "src/runner/execution.ts": [
    {
      fault: "a watched program watches itself",
      text: ` && host.originalVariable(SUPERVISED) !== "1"`,
      becomes: "",
      tests: ["options/watch"],
    },
    {
      fault: "a tsconfig that is not there is a success",
      text: "    requireTsconfig(code);\n",
      becomes: "",
      tests: ["cli/wrong-values", "options/resolution", "options/transpilation"],
    },
    {
      fault: "options that have nothing to act on are not told",
      text: "if (script.idle.length > 0) console.error(describeIdle(script, target));",
      becomes: "",
      tests: ["options/context", "options/general", "cli/mistaken-options", "cli/command-line"],
    },
  ],
  "src/runner/script/env-files.ts": [
    {
      fault: "a descriptor that --env-file names does not reach who reads it",
      text: `stderr, ...descriptors]`,
      becomes: `stderr]`,
      tests: ["options/env-pipes"],
    },
    {
      fault: "the standard input that --env-file names is not read",
      text: `[takesInput ? "inherit" : "ignore", `,
      becomes: `["ignore", `,
      tests: ["options/env-pipes"],
    },
    {
      fault: "a descriptor that --env-file names has another number where it is read",
      text: "return `/dev/fd/${FIRST_FREE - 1 + descriptors.push(descriptor)}`;",
      becomes: "descriptors.push(descriptor);\n    return name;",
      tests: ["options/env-pipes"],
    },
    {
      fault: "--env-file makes text of what is inherited",
      text: "filter(([name]) => !(name in original))",
      becomes: "filter(() => true)",
      tests: ["options/context"],
    },
  ],
  "src/runner/script/step-preparation.ts": [
    {
      fault: "a variable that a file names is lost where the environment says the same",
      text: "return (named ??= namesInEnvFiles(settings.envFiles));",
      becomes: "return [];",
      tests: ["cache/key"],
    },
    {
      fault: "a script inherits what the reading of --env-file has left",
      text: "settings.envFiles.length > 0 ? host.inheritedDescriptors() : undefined",
      becomes: "undefined",
      tests: ["options/env-pipes"],
    },
    {
      fault: "--port does not reach scripts",
      text: "if (port !== undefined) variables.PORT = port;",
      becomes: "{}",
      tests: ["options/network", "options/general", "options/context"],
    },
  ],
  "src/runner/resolve/suggestion.ts": [
    {
      fault: "with run, commands of rt's are suggested",
      text: "explicitRun ? [] : Object",
      becomes: "Object",
      tests: ["cli/mistaken-targets", "cli/mistaken-options"],
    },
    {
      fault: "a script that is no string is not told",
      text: "if (located && isMisdeclaredScript(located.manifest, name))",
      becomes: "if (false)",
      tests: ["cli/wrong-values"],
    },
  ],
  "src/config/settings/command-line.ts": [
    {
      fault: "a watched script gets other bytes than were written",
      text: "...host.exactArguments(args)",
      becomes: "...args",
      tests: ["run/bytes"],
    },
  ],
  "src/remote-execution/remote-action.ts": [
    {
      fault: "another machine is given other characters in the place of bytes",
      text: "if (!value.isWellFormed())",
      becomes: 'if (value === "")',
      tests: ["run/bytes"],
    },
  ],
} satisfies MutantTable;
