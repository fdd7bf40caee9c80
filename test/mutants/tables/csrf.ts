// Mutants of src/csrf.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/csrf/token.ts": [
    {
      fault: "a token is decoded whatever its length",
      text: "  if (text.length !== TEXT_LENGTH[encoding](length)) return false;\n",
      becomes: "",
      tests: ["csrf/token", "csrf/adversarial"],
    },
    {
      fault: "a second spelling of a token is valid",
      text: " && token.toString(encoding, 0, length) === text",
      becomes: "",
      tests: ["csrf/token", "csrf/adversarial"],
    },
    {
      fault: "the last of several secrets alone counts",
      text: "matches |= Number(",
      becomes: "matches = Number(",
      tests: ["csrf/csrf", "csrf/token"],
    },
  ],
} satisfies MutantTable;
