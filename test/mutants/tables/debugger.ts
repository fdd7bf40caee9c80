// Mutants of src/debugger/domains: who may speak with it, and what is left when they go.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/debugger/server/access-control.ts": [
    {
      fault: "a name that points here may ask",
      text: `return name === "localhost" || name === "localhost6" || own.includes(name);`,
      becomes: "return true;",
      tests: ["debugger/admission"],
    },
    {
      fault: "a page of Chrome's may be any that begins so",
      text: "/^devtools:\\/\\//",
      becomes: "/devtools:/",
      tests: ["debugger/admission"],
    },
    {
      fault: "a page of this machine's may speak Chrome's protocol",
      text: "(isWebKit ? WEBKIT : CHROME).test(origin)",
      becomes: "(WEBKIT.test(origin) || CHROME.test(origin))",
      tests: ["debugger/admission"],
    },
    {
      fault: "a name in capitals is another one",
      text: "?.[1]?.toLowerCase()",
      becomes: "?.[1]",
      tests: ["debugger/admission", "options/inspect"],
    },
  ],
  "src/debugger/server/address.ts": [
    {
      fault: "an address with its protocol is none",
      text: "/^(?:ws:\\/\\/)?",
      becomes: "/^",
      tests: ["options/inspect"],
    },
    {
      fault: "an editor that asks ::1 is refused",
      text: `const isBoth = host === "" || host === "localhost";`,
      becomes: `const isBoth = host === "";`,
      tests: ["options/inspect", "debugger/admission", "debugger/ways"],
    },
  ],
  "src/debugger/server/server.ts": [
    {
      fault: "whoever knows no path may connect",
      text: "    if (!isWebKit && pathname !== paths.chrome) return new Response(null, { status: 404 });\n",
      becomes: "",
      tests: ["debugger/admission", "options/inspect"],
    },
    {
      fault: "the host that was asked for does not count",
      text: "    if (!isHostAllowed(host, address.hostnames)) return new Response(null, { status: 400 });\n",
      becomes: "",
      tests: ["debugger/admission"],
    },
  ],
  "src/debugger/editor/editor.ts": [
    {
      fault: "a lease that has expired holds",
      text: "readDoubleBE() > Date.now()",
      becomes: "readDoubleBE() > 0",
      tests: ["debugger/editor"],
    },
    {
      fault: "the first glob that matches decides",
      text: "if (new Bun.Glob(glob.toLowerCase()).match(path.toLowerCase())) isIn = !isAgainst;",
      becomes: "if (new Bun.Glob(glob.toLowerCase()).match(path.toLowerCase())) isIn ||= !isAgainst;",
      tests: ["debugger/editor"],
    },
  ],
  "src/runner/engine/debugger.ts": [
    {
      fault: "what a program starts with its own options ends because that listens there",
      text: "isChild ? { ...asked, port: 0 } : asked",
      becomes: "isChild ? { ...asked } : asked",
      tests: ["debugger/ways"],
    },
    {
      fault: "what a program starts with its own options waits for a debugger that nobody sends",
      text: "(kind !== undefined && !isChild) ||",
      becomes: "kind !== undefined ||",
      tests: ["debugger/ways"],
    },
    {
      fault: "what is debugged is compiled beside the program, where a breakpoint may end it",
      text: "...(isSteadied ? STEADY : {})",
      becomes: "",
      tests: ["options/inspect"],
    },
    {
      fault: "a file of variables makes an editor",
      text: "host.originalVariable(EDITOR_VARIABLE)",
      becomes: "process.env[EDITOR_VARIABLE]",
      tests: ["debugger/editor"],
      why: "what files of variables say is not in the engine's environment yet when this is asked",
    },
  ],
  "src/debugger/bootstrap.ts": [
    {
      fault: "the order stays in the environment of the program",
      text: "  delete env[ORDER];\n",
      becomes: "",
      tests: ["options/inspect"],
    },
    {
      fault: "the program sees the switches of the engine's compilers that rt has set",
      text: "  if (order.isSteadied) for (const name of Object.keys(STEADY)) delete env[name];",
      becomes: "",
      tests: ["options/inspect"],
    },
    {
      fault: "the user's own switches of the engine's compilers are taken away",
      text: "if (order.isSteadied) for",
      becomes: "for",
      tests: ["options/inspect"],
    },
  ],
  "src/debugger/server/announcement.ts": [
    {
      fault: "an address that everybody reaches is none to warn of",
      text: "    lines.push(`warning: whoever",
      becomes: "    void (`warning: whoever",
      tests: ["options/inspect", "debugger/admission"],
    },
  ],
  "src/debugger/domains/runtime-domain.ts": [
    {
      fault: "a program that was waited for is past its first lines when their breakpoints are set",
      text: `      await backend.send("Debugger.pause");\n`,
      becomes: "",
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/engine-connection.ts": [
    {
      fault: "two clients ask under the same numbers",
      text: "  const waiting = new Map<number, PromiseWithResolvers<Json>>();",
      becomes: "  let lastId = 0;\n  const waiting = new Map<number, PromiseWithResolvers<Json>>();",
      tests: ["debugger/session"],
    },
  ],
  "src/debugger/server/multi-client.ts": [
    {
      fault: "a program stands still for a client that has gone, while another one is there",
      text: `  await backend.send("Debugger.resume").catch(() => {});`,
      becomes: "",
      tests: ["debugger/session"],
    },
    {
      fault: "a program comes to the breakpoint of a client that has gone",
      text: "  await breakpoints.removeAll();\n",
      becomes: "",
      tests: ["debugger/session"],
    },
  ],
} satisfies MutantTable;
