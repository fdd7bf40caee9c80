// Runs `rt secrets helper npm`: tokens of npm registries. Service: "npm", name: the registry as .npmrc writes it
// ("//registry.npmjs.org/"), value: the token.
//
// Non-obvious:
// - `header` prints the HTTP header value ("Bearer ..."), which every version of pnpm accepts from its `tokenHelper`.
// - `get` prints the token, for a variable that .npmrc references. npm itself has no credential helper.
import { printable } from "../../printable.ts";
import { isTerminal, print, readInput, withoutLineBreak } from "../streams.ts";
import { reportProblem, ArgumentError } from "../command-arguments.ts";
import { requireReader } from "./helper-io.ts";
import { openStore } from "./helper-store.ts";

const SERVICE = "npm";
const ABSENT = 1;
const INTERRUPTED = 130;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http://": ":80", "https://": ":443" };

export async function runNpmHelper(action: string, registry: string): Promise<number> {
  const name = nameOf(registry);
  const { secrets } = openStore();
  if (action === "store") {
    const token = (await isTerminal(0)) ? await askForToken(name) : withoutLineBreak(await readInput());
    if (token === null) return INTERRUPTED;
    await secrets.set(SERVICE, name, checkToken(token, "The given text"));
    return 0;
  }
  if (action === "erase") return (await secrets.delete(SERVICE, name)) ? 0 : reportAbsent(name);
  await requireReader("A token");
  const stored = await secrets.get(SERVICE, name);
  if (stored === null) return reportAbsent(name);
  const token = checkToken(stored, "The stored value");
  await print(action === "header" && !/^[A-Za-z]+ /.test(token) ? `Bearer ${token}\n` : `${token}\n`);
  return 0;
}

/** Normalizes an address to "//host/path/"; the scheme and the last slash are optional. @throws ArgumentError */
function nameOf(registry: string): string {
  const [start = ""] = /^(?:https?:)?\/\//i.exec(registry) ?? [];
  const rest = registry.slice(start.length);
  const url = URL.parse(`https://${rest}`);
  if (!url || /[@?#\s]/.test(rest))
    throw new ArgumentError("Invalid registry address", "use an address such as https://registry.npmjs.org/");
  const host = rest.split("/", 1)[0]!.toLowerCase();
  // npm omits the default port of the scheme. Without a scheme, every port is significant.
  const port = DEFAULT_PORTS[start.toLowerCase()];
  const shortest = port !== undefined && host.endsWith(port) ? host.slice(0, -port.length) : host;
  return `//${shortest}${url.pathname.replace(/\/*$/, "/")}`;
}

function reportAbsent(name: string): number {
  reportProblem(
    `No token for the registry ${printable(name)}`,
    `rt secrets helper npm store ${printable(name)}`,
  );
  return ABSENT;
}

async function askForToken(name: string): Promise<string | null> {
  const { promptHidden } = await import("../hidden-prompt.ts");
  return await promptHidden(`Token for ${printable(name)} (not shown): `);
}

/** Rejects characters that a header cannot carry: a line break would inject another header. @throws ArgumentError */
function checkToken(token: string, what: string): string {
  if (!/^[\x21-\x7e]+(?: [\x21-\x7e]+)?$/.test(token))
    throw new ArgumentError(`${what} is not a valid registry token`);
  return token;
}
