// Mutants of src/runtime.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/runtime/preload.ts": [
    {
      fault: "RT_BECAME is left behind for the user's programs",
      text: "delete process.env.RT_BECAME;\n",
      becomes: "",
      tests: ["run/environment"],
    },
    {
      fault: "the engine's switch stays on for the user's programs",
      text: `if (process.env.BUN_BE_BUN === "1") process.env.BUN_BE_BUN = "0";`,
      becomes: "",
      tests: ["windows/run"],
    },
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
  "src/runtime/build.ts": [
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
      tests: ["runtime/program"],
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
      text: "    enumerable: false,\n",
      becomes: "    enumerable: true,\n",
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
  "src/runtime/own-options.ts": [
    {
      fault: "a configuration of the user's is taken for rt's own",
      text: "[\\\\/]rt-files-\\d+[\\\\/](?:config|preload)",
      becomes: "[\\\\/](?:config|preload)",
      tests: ["differential/arguments"],
    },
  ],
} satisfies MutantTable;
