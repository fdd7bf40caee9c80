// Mutants of src/runtime/preload.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/runtime/typescript-repl.ts": [
    {
      fault: "lines of a pipe do not wait for the one before them",
      text: "this.terminal ?",
      becomes: "true ?",
      tests: ["cli/repl"],
    },
    {
      fault: "what stands behind .exit is run",
      text: "isClosed = true;",
      becomes: "",
      tests: ["cli/repl"],
    },
    {
      fault: "TypeScript is refused",
      text: "if (isPlain(code, plain)) return",
      becomes: "return",
      tests: ["options/general"],
    },
    {
      fault: "a line of TypeScript that has not ended is refused",
      text: "if (END_OF_INPUT.test((error as Error).message))",
      becomes: "if (false)",
      tests: ["options/general"],
    },
    {
      fault: "static imports are refused",
      text: `kind !== "import-statement"`,
      becomes: "true",
      tests: ["options/general"],
    },
  ],
  "src/runtime/modules/builtin-module.ts": [
    {
      fault: "node:module's resolver looks for rt in node_modules",
      text: "current === original ? answering : current",
      becomes: "current",
      tests: ["runtime/builtin-name"],
    },
  ],
  "src/runtime/preload/internal-env-filter.ts": [
    {
      fault: "RT_BECAME is left behind for the user's programs",
      text: "  delete env.RT_BECAME;\n",
      becomes: "",
      tests: ["runtime/own-variables"],
    },
    {
      fault: "the engine's switch is seen by programs",
      text: "if (env.BUN_BE_BUN === OFF || env.BUN_BE_BUN === ON) delete env.BUN_BE_BUN;",
      becomes: "",
      tests: ["runtime/own-variables"],
    },
    {
      fault: "children of Bun.spawn see rt's variables",
      text: "if (isFirst) hideFromChildren({ ...env });",
      becomes: "",
      tests: ["runtime/own-variables"],
    },
    {
      fault: "those of threads do",
      text: " || !Bun.isMainThread",
      becomes: "",
      tests: ["runtime/own-variables"],
    },
    {
      fault: "an environment that a program gives is lost",
      text: " || options.env !== undefined",
      becomes: "",
      tests: ["runtime/own-variables"],
    },
  ],
  "src/runtime/preload/preload.ts": [
    {
      fault: "the options of rt's own are shown to the program",
      text: "process.execArgv = isFirst ? execArgv.slice(count) : late().withoutOurs(execArgv);\n",
      becomes: "",
      tests: ["runtime/rt"],
    },
    {
      fault: "argv[0] is the engine's name",
      text: "process.argv[0] = process.execPath;\n",
      becomes: "",
      tests: ["runtime/rt"],
    },
    {
      fault: "a thread sees rt's own files",
      text: "if (!Bun.isMainThread) hideEmbeddedFiles();",
      becomes: "",
      tests: ["runtime/rt"],
    },
  ],
  "src/runtime/compiled/build-hook.ts": [
    {
      fault: "the engine's file is left open",
      text: "    engine?.close();\n",
      becomes: "",
      tests: ["runtime/program", "run/build"],
    },
    {
      fault: "another program that was named is not taken",
      text: "    executablePath !== undefined,\n",
      becomes: "    false,\n",
      tests: ["run/build"],
    },
    {
      fault: "programs are made of rt's own file",
      text: `compile && target !== "browser" ? buildProgram(original, parts, own) : original(own)`,
      becomes: "original(own)",
      tests: ["runtime/program"],
    },
  ],
  "src/runtime/install.ts": [
    {
      fault: "rt is enumerable",
      text: "{ value, configurable: true, writable: true }",
      becomes: "{ value, configurable: true, enumerable: true, writable: true }",
      tests: ["runtime/rt"],
    },
    {
      fault: "a worker's own preload is lost",
      text: "[preload(), ...[options?.preload ?? []].flat()]",
      becomes: "[preload()]",
      tests: ["runtime/rt", "runtime/members"],
    },
    {
      fault: "a worker's own preload runs before rt is there",
      text: "[preload(), ...[options?.preload ?? []].flat()]",
      becomes: "[...[options?.preload ?? []].flat(), preload()]",
      tests: ["runtime/rt", "runtime/members"],
    },
  ],
  "src/runtime/preload/internal-options.ts": [
    {
      fault: "a configuration of the user's is taken for rt's own",
      text: "[\\\\/]rt-files-\\d+[\\\\/](?:config|preload)",
      becomes: "[\\\\/](?:config|preload)",
      tests: ["differential/arguments"],
    },
  ],
  "src/runtime/compiled/compiled-program.ts": [
    {
      fault: "another program that was named is not taken",
      text: "const engine = isOthers ? undefined : ",
      becomes: "const engine = ",
      tests: ["run/build"],
    },
    {
      fault: "a program gets the store of the system that it is made on",
      text: "parts[systemOf(targets)]",
      becomes: "parts[OWN_SYSTEM]",
      tests: ["runtime/program"],
    },
  ],
  "src/runtime/compiled/compiled-program-preload.ts": [
    {
      fault: "the parts in a program are looked for in the wrong place",
      text: "word.slice(SCRIPTS_OPTION.length)",
      becomes: "word",
      tests: ["runtime/program"],
    },
    {
      fault: "a program is shown the options that rt has compiled in",
      text: "process.execArgv = options;",
      becomes: "",
      tests: ["runtime/program"],
    },
  ],
} satisfies MutantTable;
