// A default export that describes a server: it listens, prints its address and answers.
import { rm } from "node:fs/promises";
import { compareAll, type Fixture, type Live } from "./compare.ts";

/** The engine's version line below an error. */
const SYSTEMS: Readonly<Record<string, string>> = { linux: "Linux", darwin: "macOS", win32: "Windows" };
const ENGINE = `Bun v${Bun.version} (${SYSTEMS[process.platform]} ${process.arch})`;

/** Waits for the line with the address, sends a request, and ends the program. */
async function fetchPage(program: Live): Promise<unknown> {
  const line = await program.line();
  const url = /https?:\/\/\S+/.exec(line)?.[0];
  if (!url) return line;
  const response = await fetch(url.replace("0.0.0.0", "localhost"));
  const answer = [response.status, await response.text(), response.headers.get("content-type")];
  program.kill("SIGTERM");
  return [line.replace(/:\d+$/, ":$PORT").replace(/:\d+\/$/, ":$PORT/"), ...answer];
}

const served = (name: string, code: string, more: Partial<Fixture> = {}): Fixture => ({
  name,
  files: { "main.ts": code },
  interact: fetchPage,
  ...more,
});

const SERVED: readonly Fixture[] = [
  served("an object with fetch", 'export default { port: 0, fetch: () => new Response("object") }'),
  served(
    "an object with fetch that uses the server",
    "export default { port: 0, fetch(request: Request, server: any) { return Response.json([new URL(request.url).pathname, typeof server.port, this === server, Object.keys(this ?? {})]) } }",
  ),
  served(
    "a class with fetch in an instance",
    'class App { port = 0; fetch = () => new Response("class") } export default new App()',
  ),
  served(
    "a class with a method fetch",
    'class App { port = 0; greeting = "hi"; fetch() { return new Response("method") } } export default new App()',
  ),
  served(
    "a function with a property fetch",
    'const app = () => {}; app.fetch = () => new Response("function"); app.port = 0; export default app',
  ),
  served(
    "a promise of an object, which is not served",
    'export default Promise.resolve({ port: 0, fetch: () => new Response("promise") }); console.log("ends")',
    { interact: undefined },
  ),
  served(
    "a namespace that is a promise",
    'export function then(settle: Function) { settle({ default: { port: 0, fetch: () => new Response("then") } }) }',
  ),
  served("the global object", "export default globalThis; console.log('ends')", { interact: undefined }),
  served(
    "after a top-level await",
    'await Bun.sleep(1); export default { port: 0, fetch: () => new Response("awaited") }',
  ),
  served("module.exports", 'module.exports = { port: 0, fetch: () => new Response("cjs") }'),
  served("module.exports.default", 'exports.default = { port: 0, fetch: () => new Response("cjs default") }'),
  served("CommonJS in a .cjs file", "", {
    files: { "main.cjs": 'module.exports = { port: 0, fetch: () => new Response("cjs file") }' },
    args: ["main.cjs"],
  }),
  served(
    "with hostname",
    'export default { port: 0, hostname: "127.0.0.1", fetch: () => new Response("host") }',
  ),
  served("in development", 'export default { port: 0, development: true, fetch: () => new Response("dev") }'),
  served("with NODE_ENV=production", 'export default { port: 0, fetch: () => new Response("prod") }', {
    env: { NODE_ENV: "production" },
  }),
  served("with the port of the environment", 'export default { fetch: () => new Response("env port") }', {
    env: { PORT: "0" },
  }),
  served(
    "with an error handler",
    'export default { port: 0, fetch() { throw new Error("x") }, error: () => new Response("handled", { status: 599 }) }',
    { env: { NODE_ENV: "production" } },
  ),
  served(
    "with routes and fetch",
    'export default { port: 0, routes: { "/": new Response("route") }, fetch: () => new Response("other") }',
  ),
  served("with routes alone", 'export default { port: 0, routes: { "/": new Response("route") } }', {
    interact: undefined,
  }),
  served("with app", 'export default { port: 0, app: {}, fetch: () => new Response("app") }'),
  served(
    "with a WebSocket",
    'export default { port: 0, fetch: () => new Response("ws"), websocket: { message() {} } }',
  ),
  served(
    "a server that was already started",
    'const server = Bun.serve({ port: 0, fetch: () => new Response("own") }); console.log(String(server.url)); export default server',
  ),
  served("fetch that is not a function", 'export default { port: 0, fetch: 1 }; console.log("ends")', {
    interact: undefined,
  }),
  served("an export called fetch", 'export const fetch = () => new Response("x"); console.log("ends")', {
    interact: undefined,
  }),
  served("a default export in an imported module", 'import "./other.ts"; console.log("ends")', {
    files: {
      "main.ts": 'import "./other.ts"; console.log("ends")',
      "other.ts": "export default { port: 0, fetch: () => new Response() }",
    },
    interact: undefined,
  }),
  served("a default export that is null", "export default null; console.log('ends')", {
    interact: undefined,
  }),
  served(
    "a default export whose promise is rejected",
    "export default Promise.reject(new Error('no server'))",
    { interact: undefined },
  ),
  served("options that Bun.serve rejects", "export default { port: -5, fetch: () => new Response() }", {
    interact: undefined,
    differs: {
      mode: "in process",
      reason: "no frame of the runtime's own is shown",
      stderr: `RangeError: The value of "options.port" is out of range. It must be >= 0 and <= 65535. Received -5\n code: "ERR_OUT_OF_RANGE"\n\n\n${ENGINE}\n`,
    },
  }),
  served("a unix socket", 'export default { unix: "s.sock", fetch: () => new Response("unix") }', {
    async interact(program, project) {
      const line = await program.line();
      const text = await (await fetch("http://localhost/", { unix: project.join("s.sock") })).text();
      program.kill("SIGKILL");
      await rm(project.join("s.sock"));
      return [line, text];
    },
  }),
  served(
    "a port in use",
    'const first = Bun.serve({ port: 0, fetch: () => new Response() }); console.log("taken"); setTimeout(() => process.exit(3), 50); export default { get port() { return first.port }, fetch: () => new Response() }',
    {
      interact: undefined,
      differs: {
        mode: "in process",
        reason: "no frame of the runtime's own is shown",
        stderr: `error: Failed to start server. Is port $PORT in use?\n syscall: "listen",\n   errno: 0,\n    code: "EADDRINUSE"\n\n\n${ENGINE}\n`,
      },
    },
  ),
  {
    name: "a page as entry point",
    files: { "page.html": "<!doctype html><title>t</title><p>page</p>" },
    args: ["page.html", "--port=0"],
    oneMode: "it is always the engine",
    async interact(program) {
      const lines: string[] = [];
      let url: string | undefined;
      while (!url) {
        const line = await program.line();
        url = /http:\S+/.exec(line)?.[0];
        lines.push(line);
      }
      const text = await (await fetch(url)).text();
      program.kill("SIGTERM");
      return text.includes("<p>page</p>");
    },
  },
];

compareAll("default exports that serve", SERVED);
