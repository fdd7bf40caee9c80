// Mutants of src/csrf.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/csrf/token.ts": [
    {
      fault: "a token is decoded whatever its length",
      text: "  if (text.length !== TEXT_LENGTH[encoding](length)) return false;\n",
      becomes: "",
      tests: ["csrf/token", "csrf/adversarial"],
      why: "the comparison of spellings refuses it too, after work that grows with its length",
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
    {
      fault: "signatures are compared in a time that tells of them",
      text: "    return crypto.timingSafeEqual(actual, expected);\n",
      becomes: "    return actual.every((byte, index) => byte === expected[index]);\n",
      tests: ["csrf/token", "csrf/csrf"],
    },
    {
      fault: "signatures of several secrets are compared in a time that tells of them",
      text: "Number(crypto.timingSafeEqual(actual, expected))",
      becomes: "Number(actual.every((byte, index) => byte === expected[index]))",
      tests: ["csrf/token", "csrf/csrf"],
    },
    {
      fault: "a session id counts for nothing",
      text: "if (sessionId !== undefined) keyed.update(sessionId);",
      becomes: "",
      tests: ["csrf/csrf"],
    },
    {
      fault: "two tokens have one nonce",
      text: "  memory.poolOffset += NONCE_BYTES;\n",
      becomes: "",
      tests: ["csrf/token", "csrf/csrf"],
    },
    {
      fault: "the pool of nonces is used again",
      text: "    crypto.getRandomValues(new Uint8Array(pool.buffer));\n",
      becomes: "    if (pool.getUint32(0) === 0) crypto.getRandomValues(new Uint8Array(pool.buffer));\n",
      tests: ["csrf/token", "csrf/csrf"],
    },
    {
      fault: "times lose their upper half",
      text: "return fields.getUint32(offset) * WORD + fields.getUint32(offset + 4);",
      becomes: "return fields.getUint32(offset + 4);",
      tests: ["csrf/token", "csrf/clock", "csrf/csrf"],
    },
  ],
  "src/csrf/csrf.ts": [
    {
      fault: "a token from a clock that is wrong is valid",
      text: "age >= -CLOCK_SKEW && ",
      becomes: "",
      tests: ["csrf/clock", "csrf/csrf"],
    },
    {
      fault: "a clock that is just as wrong as it may be is refused",
      text: "age >= -CLOCK_SKEW",
      becomes: "age > -CLOCK_SKEW",
      tests: ["csrf/clock"],
    },
    {
      fault: "a token is expired in its last millisecond",
      text: "age <= lifetime",
      becomes: "age < lifetime",
      tests: ["csrf/clock"],
    },
    {
      fault: "a token is too old in its last millisecond",
      text: "age <= maxAge",
      becomes: "age < maxAge",
      tests: ["csrf/clock"],
    },
    {
      fault: "the greatest age does not count",
      text: "(maxAge === 0 || age <= maxAge)",
      becomes: "true",
      tests: ["csrf/clock", "csrf/csrf"],
    },
    {
      fault: "an empty list of secrets is accepted",
      text: "if (secret.length === 0) {",
      becomes: "if (secret.length < 0) {",
      tests: ["csrf/csrf"],
    },
    {
      fault: "a session id that is null is none",
      text: 'sessionId = options.sessionId;\n    if (sessionId !== undefined) {\n      checkText("sessionId", sessionId);\n      if (!sessionId.isWellFormed()) return false;',
      becomes:
        'sessionId = options.sessionId ?? undefined;\n    if (sessionId !== undefined) {\n      checkText("sessionId", sessionId);\n      if (!sessionId.isWellFormed()) return false;',
      tests: ["csrf/csrf", "csrf/differential"],
    },
    {
      fault: "a session id with half a surrogate pair is another's",
      text: "if (!sessionId.isWellFormed()) return false;",
      becomes: "",
      tests: ["csrf/csrf", "csrf/differential"],
    },
    {
      fault: "an inherited property is an algorithm",
      text: "Object.hasOwn(MAC_BYTES, value)",
      becomes: "value in MAC_BYTES",
      tests: ["csrf/csrf"],
    },
    {
      fault: "the default secret is another one at each call",
      text: "(ownSecret ??= crypto",
      becomes: "(ownSecret = crypto",
      tests: ["csrf/default-secret"],
    },
  ],
  "src/csrf/keyed-hasher.ts": [
    {
      fault: "keys are kept without end",
      text: "if (entries.length === MOST_KEYS) entries.pop();",
      becomes: "",
      tests: ["csrf/token", "csrf/csrf"],
    },
    {
      fault: "the key of another algorithm is used",
      text: " || entry.algorithm !== algorithm",
      becomes: "",
      tests: ["csrf/token", "csrf/csrf"],
    },
    {
      fault: "the key that was used last leaves",
      text: "      entries.copyWithin(1, 0, index);\n      entries[0] = entry;\n",
      becomes: "",
      tests: ["csrf/token"],
    },
  ],
  "src/errors.ts": [
    {
      fault: "a message tells what was passed",
      text: "return `type ${typeof value}`;",
      becomes: "return `type ${typeof value} (${String(value)})`;",
      tests: ["csrf/csrf"],
    },
    {
      fault: "a constructor that throws hides the mistake",
      text: '    return typeof name === "string" && name !== "" ? name : "Object";\n  } catch {\n    return "Object";',
      becomes:
        '    return typeof name === "string" && name !== "" ? name : "Object";\n  } catch (error) {\n    throw error;',
      tests: ["csrf/csrf"],
    },
    {
      fault: "a program's own error gets another trace",
      text: "if (!isMade(error)) return error;",
      becomes: "if (!(error instanceof Error)) return error;",
      tests: ["runtime/traces"],
    },
  ],
  "src/printable.ts": [
    {
      fault: "the direction of writing is turned",
      text: "|\\p{Bidi_Control}",
      becomes: "",
      tests: ["tasks/names", "secrets/command"],
    },
    {
      fault: "two texts look alike",
      text: `return oneLine(text.replaceAll("\\\\", "\\\\\\\\"));`,
      becomes: "return oneLine(text);",
      tests: ["tasks/names", "secrets/command"],
    },
  ],
  "src/color.ts": [
    {
      fault: "FORCE_COLOR beats NO_COLOR",
      text: `  if (variable("NO_COLOR")) return false;\n`,
      becomes: `  if (variable("NO_COLOR") && !variable("FORCE_COLOR")) return false;\n`,
      tests: ["cli/help", "run/script"],
    },
    {
      fault: "FORCE_COLOR=0 forces colour",
      text: `return forced !== "0" && forced !== "false";`,
      becomes: "return true;",
      tests: ["run/terminal"],
    },
    {
      fault: "an empty NO_COLOR takes the colour away",
      text: `if (variable("NO_COLOR"))`,
      becomes: `if (variable("NO_COLOR") !== undefined)`,
      tests: ["run/terminal"],
    },
  ],
} satisfies MutantTable;
