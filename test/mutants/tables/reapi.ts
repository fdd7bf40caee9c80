// Mutants of src/reapi.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/reapi/outputs.ts": [
    {
      fault: "an output may be one that was not asked for",
      text: "if (!allowed.has(path)) throw",
      becomes: "if (path === undefined) throw",
      tests: ["reapi/messages"],
    },
    {
      fault: "a link may lead up from what may be a link itself",
      text: "(hasGoneDown || --level < 0)",
      becomes: "--level < 0",
      tests: ["reapi/messages"],
    },
    {
      fault: "a name in a tree may lead out of it",
      text: `name === ".." || /[/\\0]/.test(name)`,
      becomes: `/\\0/.test(name)`,
      tests: ["reapi/messages"],
    },
  ],
  "src/reapi/input-root.ts": [
    {
      fault: "names are sorted as UTF-16",
      text: "return Buffer.compare(Buffer.from(a), Buffer.from(b));",
      becomes: "return a < b ? -1 : 1;",
      tests: ["reapi/messages"],
    },
  ],
  "src/reapi/content.ts": [
    {
      fault: "content is believed",
      text: "if (!isOf(digest, bytes)) throw",
      becomes: "if (bytes === undefined) throw",
      tests: ["run/remote"],
    },
  ],
} satisfies MutantTable;
