// Mutants of src/runtime.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/runtime/preload.ts": [
    {
      fault: "RT_BECAME is left behind for the user's programs",
      text: "delete process.env.RT_BECAME;\n",
      becomes: "",
      tests: ["runtime/engine-switch", "runtime/rt", "run/environment"],
    },
    {
      fault: "the engine's switch stays on for the user's programs",
      text: `if (process.env.BUN_BE_BUN === "1") process.env.BUN_BE_BUN = "0";`,
      becomes: "",
      tests: ["runtime/engine-switch"],
    },
    {
      fault: "the options of rt's own are shown to the program",
      text: "process.execArgv = isFirst ? execArgv.slice(count) : late().withoutOurs(execArgv);\n",
      becomes: "",
      tests: ["differential/arguments", "runtime/rt", "differential/globals"],
    },
    {
      fault: "argv[0] is the engine's name",
      text: "process.argv[0] = process.execPath;\n",
      becomes: "",
      tests: ["differential/arguments", "runtime/rt"],
    },
    {
      fault: "a thread sees rt's own files",
      text: "if (!Bun.isMainThread) hideEmbeddedFiles();",
      becomes: "",
      tests: ["runtime/rt", "differential/contents", "differential/globals", "runtime/engine-switch"],
    },
  ],
  "src/runtime/build.ts": [
    {
      fault: "the engine's file is left open",
      text: "    engine?.close();\n",
      becomes: "",
      tests: ["run/build"],
    },
    {
      fault: "programs are made of rt's own file",
      text: `compile && target !== "browser" ? buildProgram(original, parts, own) : original(own)`,
      becomes: "original(own)",
      tests: ["run/build"],
    },
  ],
  "src/runtime/install.ts": [
    {
      fault: "rt is enumerable",
      text: "    enumerable: false,\n",
      becomes: "    enumerable: true,\n",
      tests: ["runtime/rt", "differential/globals"],
    },
    {
      fault: "a worker's own preload is lost",
      text: "[preload(), ...[options?.preload ?? []].flat()]",
      becomes: "[preload()]",
      tests: ["runtime/rt", "differential/contents", "runtime/members"],
    },
    {
      fault: "a worker's own preload runs before rt is there",
      text: "[preload(), ...[options?.preload ?? []].flat()]",
      becomes: "[...[options?.preload ?? []].flat(), preload()]",
      tests: ["runtime/rt", "differential/contents", "runtime/members"],
    },
  ],
  "src/runtime/own-options.ts": [
    {
      fault: "a configuration of the user's is taken for rt's own",
      text: "[\\\\/]rt-files-\\d+[\\\\/](?:config|preload)",
      becomes: "[\\\\/](?:config|preload)",
      tests: ["differential/arguments", "runtime/rt", "options/inspect", "config/running"],
    },
  ],
  "src/runtime/program.ts": [
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
  "src/runtime/program-preload.ts": [
    {
      fault: "the parts in a program are looked for in the wrong place",
      text: "path.indexOf(PACKED) + PACKED.length",
      becomes: "path.indexOf(PACKED)",
      tests: ["runtime/program"],
    },
    {
      fault: "a program is shown the options that rt has compiled in",
      text: "process.execArgv = process.execArgv.filter(",
      becomes: "process.execArgv.filter(",
      tests: ["runtime/program"],
    },
  ],
} satisfies MutantTable;
