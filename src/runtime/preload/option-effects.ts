// Implements effects of options that the engine lacks. With such an option, the engine loads this script after the runtime, in the
// main thread and in each Worker. docs/reference/differences.md lists the remaining gaps.
//
// - `--use-bundled-ca`: the engine also trusts OpenSSL's locations, which BoringSSL reads from libc's environment at the first
//   connection. They are set to a missing path. Child processes get process.env and do not see it.
// - `--use-openssl-ca`: node:tls gets a new default; fetch() and WebSocket get the certificates with each call.
// - `--extension-order`: see extension-order.ts.
// - `--interactive`: see ../typescript-repl.ts.
// - `--prefer-latest`: set by a variable in src/runner/engine/engine.ts, which is hidden from the program.
import { libraryVariables } from "../../../platform/processes/libc-environment.ts";
import { orderExtensions } from "./extension-order.ts";
import { MANIFEST_CACHE } from "../modules/manifest-cache.ts";
import { trustOnly } from "./openssl-ca.ts";
import { readTypeScript } from "../typescript-repl.ts";

/** The `import.meta` of the module that the build wraps around this script. */
declare const importMeta: ImportMeta;

const LOCATION_VARIABLES = ["SSL_CERT_FILE", "SSL_CERT_DIR"] as const;
const MISSING_PATH = "/dev/null/none";

const given = process.execArgv;
// Removes this script's own option, at any position.
process.execArgv = given.filter((word) => word !== `--preload=${ownUrl()}`);

if (given.includes("--use-bundled-ca")) {
  const [{ SSL_CERT_FILE = "", SSL_CERT_DIR = "" }, isSet] = [process.env, LOCATION_VARIABLES.every(hide)];
  if (!isSet)
    console.error(
      `warning: --use-bundled-ca: certificates of ${SSL_CERT_FILE || SSL_CERT_DIR || "the system"} are still trusted`,
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
    const words = url === undefined ? args : [url, { ...options, preload }];
    return Reflect.construct(target, words, newTarget) as Worker;
  },
});

function hide(name: string): boolean {
  return libraryVariables?.set(name, MISSING_PATH) ?? false;
}

/** See preloadUrl() in preload.ts. */
function ownUrl(): string {
  const { path } = importMeta;
  const start = path.indexOf("data:");
  return start < 0 ? path : path.slice(start).replaceAll("\\", "/");
}
