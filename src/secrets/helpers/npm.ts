// `rt secrets helper npm`: tokens of npm registries.
//
// The service is "npm", the name the registry as .npmrc writes it ("//registry.npmjs.org/"), the value the token. `header`
// prints what a registry is sent ("Bearer ..."), which every pnpm takes from its `tokenHelper`; `get` prints the token,
// for the variable that an .npmrc mentions. npm itself asks no program.
import { printable } from "../../printable.ts";
import { isTerminal, print, readInput, withoutLineBreak } from "../streams.ts";
import { complain, ArgumentError } from "../command-arguments.ts";
import { requireReader } from "./helper-io.ts";
import { openStore } from "./helper-store.ts";

const SERVICE = "npm";
const ABSENT = 1;
const INTERRUPTED = 130;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http://": ":80", "https://": ":443" };

export async function answerNpm(action: string, registry: string): Promise<number> {
  const name = nameOf(registry);
  const { secrets } = openStore();
  if (action === "store") {
    const token = (await isTerminal(0)) ? await askForToken(name) : withoutLineBreak(await readInput());
    if (token === null) return INTERRUPTED;
    await secrets.set(SERVICE, name, checkToken(token, "What was given"));
    return 0;
  }
  if (action === "erase") return (await secrets.delete(SERVICE, name)) ? 0 : reportAbsent(name);
  await requireReader("A token");
  const stored = await secrets.get(SERVICE, name);
  if (stored === null) return reportAbsent(name);
  const token = checkToken(stored, "What is stored");
  await print(action === "header" && !/^[A-Za-z]+ /.test(token) ? `Bearer ${token}\n` : `${token}\n`);
  return 0;
}

/** "//host/path/" of an address, with or without its beginning and end. Throws WordsError. */
function nameOf(registry: string): string {
  const [start = ""] = /^(?:https?:)?\/\//i.exec(registry) ?? [];
  const rest = registry.slice(start.length);
  const url = URL.parse(`https://${rest}`);
  if (!url || /[@?#\s]/.test(rest))
    throw new ArgumentError("That is no address of a registry", "as in https://registry.npmjs.org/");
  const host = rest.split("/", 1)[0]!.toLowerCase();
  // As npm writes it, without the port that is meant anyway. Where no protocol says which that is, each port is another.
  const port = DEFAULT_PORTS[start.toLowerCase()];
  const shortest = port !== undefined && host.endsWith(port) ? host.slice(0, -port.length) : host;
  return `//${shortest}${url.pathname.replace(/\/*$/, "/")}`;
}

function reportAbsent(name: string): number {
  complain(
    `There is no token for the registry ${printable(name)}`,
    `rt secrets helper npm store ${printable(name)}`,
  );
  return ABSENT;
}

async function askForToken(name: string): Promise<string | null> {
  const { promptHidden } = await import("../hidden-prompt.ts");
  return await promptHidden(`Token for ${printable(name)} (not shown): `);
}

/** One that a header can carry: a line break would begin another header. Throws WordsError. */
function checkToken(token: string, what: string): string {
  if (!/^[\x21-\x7e]+(?: [\x21-\x7e]+)?$/.test(token))
    throw new ArgumentError(`${what} is no token of a registry`);
  return token;
}
