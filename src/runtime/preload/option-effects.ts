// What options promise and the engine does not do of itself: a script that the engine loads behind the runtime, only where
// such an option is given, and each of the program's threads (Worker) again. docs/differences.md says what is left.
//
// --use-bundled-ca   Beside the bundled authorities the engine trusts those of OpenSSL's places. BoringSSL looks these up in
//                    C's environment when the first connection is made, so they are named there as places where nothing is;
//                    what the program starts gets its environment from elsewhere and does not see it.
// --use-openssl-ca   The bundled ones are trusted by what the engine connects with unless a call brings authorities of its
//                    own. So node:tls gets others as a default, and fetch() and WebSocket with each call that has none.
// --extension-order  The engine knows it for require() alone. In the text of a module, what is imported without an
//                    extension gets the one that is first in the order.
// --interactive      Its REPL reads JavaScript alone; here TypeScript as well.
// --prefer-latest    A variable tells the engine: see src/runner/engine/engine.ts. The program is not to see it.
import { libraryVariables } from "../../../platform/processes/libc-environment.ts";
import { orderExtensions } from "./extension-order.ts";
import { MANIFEST_CACHE } from "../modules/manifest-cache.ts";
import { trustOnly } from "./openssl-ca.ts";
import { readTypeScript } from "../typescript-repl.ts";

/** That of the module which the build wraps around this script. */
declare const importMeta: ImportMeta;

const PLACES = ["SSL_CERT_FILE", "SSL_CERT_DIR"] as const;
const NOWHERE = "/dev/null/none";

const given = process.execArgv;
// This script's own word, wherever the first one has left it.
process.execArgv = given.filter((word) => word !== `--preload=${ownUrl()}`);

if (given.includes("--use-bundled-ca")) {
  const [{ SSL_CERT_FILE = "", SSL_CERT_DIR = "" }, isSet] = [process.env, PLACES.every(hide)];
  if (!isSet)
    console.error(
      `warning: --use-bundled-ca: the authorities of ${SSL_CERT_FILE || SSL_CERT_DIR || "the system"} stay trusted here`,
    );
}
if (given.includes("--use-openssl-ca")) trustOnly(process.env);
if (given.includes("--interactive")) readTypeScript();
if (given.includes("--prefer-latest")) delete process.env[MANIFEST_CACHE];
const orders = given.filter((word) => word.startsWith("--extension-order="));
if (orders.length > 0)
  orderExtensions(
    orders.map((word) => word.slice(word.indexOf("=") + 1)),
    Bun.main,
  );

const { Worker: Thread } = globalThis;
globalThis.Worker = new Proxy(Thread, {
  construct(target, args: [] | [string | URL, WorkerOptions & { preload?: string | string[] }], newTarget) {
    const [url, options] = args;
    const preload = [ownUrl(), ...[options?.preload ?? []].flat()];
    return Reflect.construct(target, url === undefined ? args : [url, { ...options, preload }], newTarget);
  },
});

function hide(name: string): boolean {
  return libraryVariables?.set(name, NOWHERE) ?? false;
}

/** As in preload.ts. */
function ownUrl(): string {
  const { path } = importMeta;
  const start = path.indexOf("data:");
  return start < 0 ? path : path.slice(start).replaceAll("\\", "/");
}
