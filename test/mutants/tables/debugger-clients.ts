// Mutants of src/debugger/domains: what clients are answered.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/debugger/server/access-control.ts": [
    {
      fault: "a page of any origin may speak to the debugger",
      text: "return origin === null || (isWebKit ? WEBKIT : CHROME).test(origin);",
      becomes: "return origin !== undefined || isWebKit || WEBKIT === CHROME;",
      tests: ["debugger/admission"],
    },
    {
      fault: "any name that points to this machine is as good as its own",
      text: 'return name === "localhost" || name === "localhost6" || own.includes(name);',
      becomes: "return name !== own[-1];",
      tests: ["debugger/admission"],
    },
  ],
  "src/debugger/server/announcement.ts": [
    {
      fault: "nothing is said of a debugger that others can reach",
      text: "lines.push(`warning: whoever reaches ${hostnames[0]} can run code as you`);",
      becomes: "lines.push();",
      tests: ["debugger/admission"],
    },
  ],
  "src/debugger/bootstrap.ts": [
    {
      fault: "a program runs that was to be debugged where something else listens",
      text: "if (address && !isWaiting) requireFree(address);",
      becomes: "if (address && isWaiting) requireFree(address);",
      tests: ["debugger/admission"],
    },
    {
      fault: "the program sees rt's own options",
      text: "const words = execArgv.filter((word) => !order.added.includes(word));",
      becomes: "const words = execArgv.filter((word) => order.added.length > 0 || word);",
      tests: ["debugger/admission"],
    },
  ],
  "src/debugger/debugger-thread.ts": [
    {
      fault: "a program that ends at once does not say where it could have been debugged",
      text: "    await beginning;\n",
      becomes: "",
      tests: ["debugger/admission"],
      why: "only where a program ends before its thread has looked at one file, which nothing can hold back",
    },
  ],
  "src/debugger/domains/runtime-domain.ts": [
    {
      fault: "what a map or set of the program's own class holds is read by that class",
      text: "return Array.from(Set.prototype.values.call(this));",
      becomes: "return Array.from(this);",
      tests: ["debugger/session"],
    },
    {
      fault: "a module's variable has the value of one of its name that a function has",
      text: "for (const { name } of properties) hidden.add(name);",
      becomes: "if (properties.length < 0) hidden.clear();",
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/entry-pauses.ts": [
    {
      fault: "breakpoints come too late where a package is loaded before the main file",
      text: '"Debugger.setPauseOnMicrotasks", { enabled: isAwaited }',
      becomes: '"Debugger.setPauseOnMicrotasks", { enabled: false }',
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/server/server.ts": [
    {
      fault: "a program ends because a client of Web Inspector has gone",
      text: 'await openRaw(path, { "Ref-Event-Loop": "0" });',
      becomes: "await openRaw(path);",
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/domains/scripts.ts": [
    {
      fault: "a map is seen in the last line alone",
      text: "if (start < 0 || !/",
      becomes: "if (start < 0 || /",
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/domains/evaluation.ts": [
    {
      fault: "a getter of the program's runs where one hovers over it",
      text: "if (keys.length === 0) return true;",
      becomes: "if (keys.length < 9) return true;",
      tests: ["debugger/session"],
    },
    {
      fault: "a proxy's traps run where one hovers over it",
      text: "if (isProxy($holder)) return false;",
      becomes: "",
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/domains/call-frames.ts": [
    {
      fault: "of what a module declares at once only the first is shown",
      text: ".split(/,\\s*|\\n/)",
      becomes: ".split(/,.*|\\n/)",
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/domains/events.ts": [
    {
      fault: "who has turned the console off hears of it because others listen",
      text: "if (session.isReporting) report(message, session);",
      becomes: "report(message, session);",
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/server/multi-client.ts": [
    {
      fault: "who goes takes along what all others have asked for",
      text: "if (sessions.size === 0) for (const each",
      becomes: "for (const each",
      tests: ["debugger/session"],
    },
    {
      fault: "who debugs no more turns it off for all",
      text: "if (others.length === 0) return void",
      becomes: "if (others.length < 9) return void",
      tests: ["debugger/session"],
    },
    {
      fault: "who looks at the console no more turns it off for all",
      text: "if ([...session.program.sessions].some(({ isReporting }) => isReporting)) return;",
      becomes: "",
      tests: ["debugger/session"],
    },
    {
      fault: "the last who says at which exceptions to stop says it for all",
      text: "const wanted = [...sessions].filter",
      becomes: "const wanted = [...sessions].slice(-1).filter",
      tests: ["debugger/session"],
    },
    {
      fault: "what others wanted is gone with Web Inspector",
      text: "const restored = enable(first)",
      becomes: "const restored = Promise.resolve()",
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/server/client.ts": [
    {
      fault: "a program stops for a client that has gone",
      text: "void leave(session).catch(() => {});",
      becomes: "",
      tests: ["debugger/session"],
    },
    {
      fault: "a client hears of what it asks no more about",
      text: "if (session.bindings.has(name)) emit(",
      becomes: "if (session.bindings) emit(",
      tests: ["debugger/methods"],
    },
  ],
  "src/debugger/domains/debugger-domain.ts": [
    {
      fault: "a debugger statement at the very beginning is passed",
      text: "return /^debugger\\b/.test(",
      becomes: "return /^debugger\\d/.test(",
      tests: ["debugger/session"],
    },
    {
      fault: "a stop in front of a new file is one like any other",
      text: "hitBreakpoints.some((id) => session.beginnings.has(id))",
      becomes: "hitBreakpoints.some((id) => session.beginnings.has(`${id}.`))",
      tests: ["debugger/methods"],
    },
  ],
  "src/debugger/domains/async-stack.ts": [
    {
      fault: "who waits is shown a line too far",
      text: "lineNumber: Number(lineNumber) - 1",
      becomes: "lineNumber: Number(lineNumber)",
      tests: ["debugger/methods"],
    },
  ],
  "src/debugger/domains/coverage.ts": [
    {
      fault: "what was counted is counted again",
      text: "taken.set(key, total);",
      becomes: "taken.set(key, 0);",
      tests: ["debugger/methods"],
    },
    {
      fault: "places are those of the translation",
      text: "map && source ? to.offsetOf(map.toOriginal(from.placeOf(offset))) : offset",
      becomes: "map && !source ? to.offsetOf(map.toOriginal(from.placeOf(offset))) : offset",
      tests: ["debugger/methods"],
    },
  ],
} satisfies MutantTable;
