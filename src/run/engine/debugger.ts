// How the engine is told to be debugged, where --inspect asks for it: its own debugger gets a socket that only this user
// reaches, and a preload speaks with debuggers (src/debugger), at the address that was asked for.
//
// Surprising: of several words of this kind the engine goes by the last --inspect, so the user's own stays, for the program
// to find in process.execArgv.
import script from "rt:debugger";
import { privateSocketPath, writePrivateFile } from "../../../platform/private-file.ts";
import { readAddress } from "../../debugger/address.ts";
import { BEGINNING, ORDER, type Order } from "../../debugger/order.ts";

const WORD = /^--inspect(-wait|-brk)?(?:=(.*))?$/;

export interface Debugging {
  /** The program's, with what the engine needs. */
  readonly words: readonly string[];
  /** What the engine loads before all else, and behind all that is rt's. */
  readonly first: string;
  readonly last: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Behind which code stands, which is no option. */
const TAKES_CODE = ["-e", "--eval", "-p", "--print"];

/** @returns undefined where nothing of rt's own is asked for: what is no address is the engine's to understand */
export function orderDebugger(argv: readonly string[]): Debugging | undefined {
  const at = lastOption(argv);
  if (at === undefined) return undefined;
  const [, kind, value = ""] = WORD.exec(argv[at]!)!;
  const address = readAddress(value);
  const socket = privateSocketPath(`debug-${process.pid}-${crypto.randomUUID().slice(0, 4)}`);
  if (!address || socket === undefined) return undefined;
  const order: Order = { address, socket, isWaiting: kind !== undefined, stopsAtFirst: kind === "-brk" };
  return {
    words: argv.toSpliced(at + 1, 0, `--inspect=ws+unix://${socket}`),
    first: writePrivateFile("debugger", "js", script),
    last: writePrivateFile("debugger", "js", `await globalThis[Symbol.for("${BEGINNING}")];\n`),
    environment: { [ORDER]: JSON.stringify(order) },
  };
}

/** Where the option stands, in front of what the program is given. */
function lastOption(argv: readonly string[]): number | undefined {
  let found: number | undefined;
  let at = argv[0] === "run" || argv[0] === "test" ? 1 : 0;
  for (; at < argv.length && argv[at] !== "--"; at += 1) {
    const word = argv[at]!;
    if (WORD.test(word)) found = at;
    // The tests' own options may stand behind their files.
    else if (!word.startsWith("-") && argv[0] !== "test") break;
    if (TAKES_CODE.includes(word)) at += 1;
  }
  return found;
}
