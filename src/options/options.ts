// The table of options. Parsing, help, documentation, completions and forwarding to the engine all read it.
//
// Invariants:
// - Every option of the specification's tables has a row, and so has every engine option that Bun's users expect.
// - `by` names the part that acts on a row:
//     engine  the engine, which gets the option unchanged
//     runner  rt itself, for scripts, binaries and commands
//     both    rt for scripts, the engine for code
// - A row without `value` is a switch. The value of an `optional` row is given only as `--name=value`.

export interface Value {
  readonly hint: string;
  readonly kind: "string" | "number" | "optional";
  readonly choices?: readonly string[];
  readonly synonyms?: Readonly<Record<string, string>>;
  readonly max?: number;
  /** A port; or a host, port and path, each optional; or a URL. */
  readonly isAddress?: true;
  /** Shown in error messages if the option has no default. */
  readonly example?: string;
  /** The value is source code, so it may begin with a hyphen. */
  readonly isCode?: true;
  /** Accepts a comma-separated list; the engine gets one option for each item. */
  readonly isList?: true;
  /** The format of its text; src/options/values.ts checks it. */
  readonly form?: "define" | "loader" | "extensions" | "names";
}

export interface Option {
  readonly name: string;
  readonly short?: string;
  /** A second short form, such as `-pe`. */
  readonly other?: string;
  readonly value?: Value;
  readonly by: "engine" | "runner" | "both";
  readonly group: Group;
  readonly help: string;
  readonly default?: string;
  /** The engine's spelling, if it has no such long name. */
  readonly forward?: string;
  /** rt applies it before the engine starts, so it is not forwarded. */
  readonly isCarriedOut?: true;
  /** The engine implements it only in part; src/runtime/preload/option-effects.ts adds the rest or warns. */
  readonly isHelped?: true;
  /** It replaces the target: the option itself has the code or reads it. */
  readonly evaluates?: true;
  /** It makes the run a run of many scripts: it selects packages, or schedules scripts. */
  readonly many?: "packages" | "scripts";
  /** The name of the row that this one is an alias of. */
  readonly aliasOf?: string;
  /** Joins rows that set one thing: on the command line, each replaces all of them in rtfig.toml. */
  readonly subject?: "install" | "prefer";
}

export type Group =
  | "General execution"
  | "Workspaces"
  | "Runtime and process control"
  | "Development workflow"
  | "Debugging and profiling"
  | "Dependency and module resolution"
  | "Transpilation and language features"
  | "Networking and security"
  | "Global configuration and context";

const text = (hint: string): Value => ({ hint, kind: "string" });
const number = (hint: string): Value => ({ hint, kind: "number" });
const optional = (hint: string): Value => ({ hint, kind: "optional" });
const code: Value = { ...text("code"), isCode: true };
const list = (hint: string): Value => ({ ...text(hint), isList: true, form: "names" });
const oneOf = (...choices: string[]): Value => ({ hint: choices.join("|"), kind: "string", choices });

/** rt validates it: the engine silently replaces an invalid port by its default. */
const ADDRESS: Value = { ...optional("address"), isAddress: true, example: "localhost:9229/path" };

/** Signals whose default action ends a process. */
const KILL_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGKILL"];

/** Sets the group in place: copying a hundred rows would slow down every start with an option. */
function group(title: Group, rows: readonly Omit<Option, "group">[]): readonly Option[] {
  for (const row of rows) (row as { group?: Group }).group = title;
  return rows as readonly Option[];
}

export const OPTIONS: readonly Option[] = [
  ...group("General execution", [
    { name: "silent", by: "runner", help: "Do not print the script command" },
    { name: "pick", by: "runner", help: "Pick a script interactively" },
    { name: "if-present", by: "runner", help: "Exit without an error if the entry point does not exist" },
    {
      name: "eval",
      short: "e",
      value: code,
      by: "engine",
      forward: "-e",
      evaluates: true,
      help: "Evaluate the argument as a script",
    },
    {
      name: "print",
      short: "p",
      other: "pe",
      value: code,
      by: "engine",
      forward: "-p",
      evaluates: true,
      help: "Evaluate the argument as a script and print the result",
    },
    { name: "help", short: "h", by: "runner", help: "Display help and exit" },
    { name: "version", short: "v", by: "runner", help: "Print the version and exit" },
    {
      name: "revision",
      by: "runner",
      help: "Print rt's and the engine's version and commit, and exit",
    },
    { name: "check", by: "engine", help: "Type check first; do not run if there are type errors" },
    {
      name: "interactive",
      by: "engine",
      evaluates: true,
      isHelped: true,
      help: "Start a Node.js-compatible REPL with TypeScript",
    },
  ]),
  ...group("Workspaces", [
    {
      name: "elide-lines",
      value: number("count"),
      by: "runner",
      default: "10",
      help: "Show the last <count> output lines per script with --filter; 0 shows all",
    },
    {
      name: "output",
      value: oneOf("stream", "grouped", "errors", "json"),
      by: "runner",
      many: "scripts",
      help: "Show output as it arrives, by task, of failed tasks only, or as JSON lines",
    },
    {
      name: "log-prefix",
      value: oneOf("auto", "none", "task"),
      by: "runner",
      default: "auto",
      help: "Set the prefix of output lines; auto omits it in groups and for one script",
    },
    {
      name: "ui",
      value: oneOf("stream", "list"),
      by: "runner",
      help: "Show several tasks as a stream, or as a list with the output of one",
    },
    {
      name: "filter",
      short: "F",
      value: text("pattern"),
      by: "runner",
      many: "packages",
      help: "Run a script in every matching workspace package; repeatable",
    },
    { name: "workspaces", by: "runner", many: "packages", help: "Run a script in all workspace packages" },
    {
      name: "parallel",
      by: "runner",
      many: "scripts",
      help: "Run all selected scripts concurrently, ignoring dependencies; prefix output",
    },
    {
      name: "sequential",
      by: "runner",
      many: "scripts",
      help: "Run the selected scripts one at a time, dependencies first; prefix output",
    },
    {
      name: "no-exit-on-error",
      by: "runner",
      help: "Keep running other scripts when one fails",
    },
    {
      name: "concurrency",
      value: number("count"),
      by: "runner",
      many: "scripts",
      help: "Limit the number of concurrent scripts (default: number of CPUs)",
    },
    {
      name: "dry-run",
      value: { ...optional("json|html|mermaid"), choices: ["json", "html", "mermaid"] },
      by: "runner",
      many: "scripts",
      help: "Print the plan without running it, as text, JSON or a graph",
    },
    {
      name: "report",
      value: text("file"),
      by: "runner",
      many: "scripts",
      help: "Write a run report: .html, trace.json, JUnit .xml or .json; repeatable",
    },
    {
      name: "shard",
      value: text("number/count"),
      by: "runner",
      many: "scripts",
      help: "Run shard <number> of <count>, for example 2/5",
    },
    {
      name: "shard-times",
      value: text("file"),
      by: "runner",
      many: "scripts",
      help: "Balance shards by durations from earlier JSON reports; repeatable",
    },
    {
      name: "share",
      value: text("url"),
      by: "runner",
      many: "scripts",
      help: "Share this run with other machines through Redis; run each cached script once",
    },
    {
      name: "share-id",
      value: text("id"),
      by: "runner",
      help: "Set the run ID; use the same value on every machine",
    },
    {
      name: "share-name",
      value: text("name"),
      by: "runner",
      help: "Set this machine's name in reports (default: host name)",
    },
    {
      name: "permissions",
      by: "runner",
      help: "Restrict a task, file, binary or test to its permissions (Linux)",
    },
    { name: "no-permissions", by: "runner", help: "Run tasks without the permissions of rtfig.toml" },
    {
      name: "locked",
      by: "runner",
      help: "Fail if permissions refuse something, or if this kernel lacks a part of them",
    },
    {
      name: "explain",
      value: { ...optional("check"), choices: ["check"] },
      by: "runner",
      help: "Run tasks with permissions and name each refused file; check fails if there is one (Linux)",
    },
    {
      name: "learn",
      value: { ...optional("write"), choices: ["write"] },
      by: "runner",
      help: "Trace tasks without limits and propose their permissions; write does not ask (Linux)",
    },
    { name: "no-cache", by: "runner", help: "Disable the script cache for this run" },
    {
      name: "force",
      by: "runner",
      help: "Run cached scripts even on a cache hit, and update the cache",
    },
    {
      name: "cache",
      value: text("places"),
      by: "runner",
      default: "local:rw,remote:rw",
      help: "Set read (r) and write (w) access per cache, for example local:rw,remote:r",
    },
    {
      name: "verify-inputs",
      by: "runner",
      help: "Run cached scripts; fail on undeclared inputs or outputs (Linux)",
    },
    {
      name: "why",
      by: "runner",
      help: "Explain each cache hit or miss",
    },
    {
      name: "remote",
      by: "runner",
      help: "Run scripts on the server in [run.remote] (Remote Execution API)",
    },
    { name: "no-remote", by: "runner", help: "Run every script locally, ignoring [run.remote]" },
    {
      name: "affected",
      value: optional("ref"),
      by: "runner",
      many: "packages",
      help: "Select packages changed since <ref> and their dependents",
    },
  ]),
  ...group("Runtime and process control", [
    {
      name: "rt",
      short: "b",
      by: "runner",
      help: "Use rt as `node` for the target and all its child processes",
    },
    { name: "bun", by: "runner", aliasOf: "rt", help: "Alias of --rt, for scripts written for Bun" },
    {
      name: "shell",
      value: { ...oneOf("rt", "system"), synonyms: { bun: "rt" } },
      by: "runner",
      help: "Set the shell for package.json scripts",
    },
    { name: "smol", by: "engine", help: "Reduce memory use; collect garbage more often" },
    { name: "expose-gc", by: "engine", help: "Expose gc() on the global object" },
    { name: "no-deprecation", by: "engine", help: "Suppress the reporting of deprecations" },
    { name: "throw-deprecation", by: "engine", help: "Turn deprecation warnings into errors" },
    { name: "no-warnings", by: "engine", help: "Silence all process warnings" },
    { name: "trace-warnings", by: "engine", help: "Show stack traces on process warnings" },
    { name: "trace-deprecation", by: "engine", help: "Show stack traces on deprecations" },
    { name: "pending-deprecation", by: "engine", help: "Emit pending deprecation warnings" },
    {
      name: "redirect-warnings",
      value: text("file"),
      by: "engine",
      help: "Write process warnings to a file instead of stderr",
    },
    {
      name: "disable-warning",
      value: text("code"),
      by: "engine",
      help: "Silence the warnings of one code or type; repeatable",
    },
    { name: "title", value: text("name"), by: "engine", help: "Set the process title" },
    { name: "zero-fill-buffers", by: "engine", help: "Force Buffer.allocUnsafe(size) to be zero-filled" },
    {
      name: "no-addons",
      by: "engine",
      help: "Throw if process.dlopen is called, and disable the export condition node-addons",
    },
    {
      name: "no-orphans",
      by: "engine",
      help: "Exit when the parent exits; kill all descendants on exit",
    },
    { name: "no-ffi-cc", by: "engine", help: "Throw if bun:ffi cc() is called" },
    {
      name: "unhandled-rejections",
      value: oneOf("strict", "throw", "warn", "none", "warn-with-error-code"),
      by: "engine",
      help: "Set the handling of unhandled rejections",
    },
    {
      name: "console-depth",
      value: number("levels"),
      by: "engine",
      default: "2",
      help: "Set the console.log inspection depth",
    },
  ]),
  ...group("Development workflow", [
    { name: "watch", by: "both", help: "Restart the process when a file changes" },
    {
      name: "watch-kill-signal",
      value: { ...text("signal"), choices: KILL_SIGNALS },
      by: "both",
      default: "SIGTERM",
      help: "Set the signal that stops the process before a restart",
    },
    {
      name: "watch-path",
      value: text("path"),
      by: "runner",
      help: "Watch this file, folder or glob instead of the project; repeatable",
    },
    {
      name: "watch-ignore",
      value: text("glob"),
      by: "runner",
      help: "Ignore files (.gitignore syntax, !glob re-includes); repeatable",
    },
    { name: "hot", by: "engine", help: "Reload code when a file changes, keeping the process" },
    { name: "no-clear-screen", by: "both", help: "Do not clear the terminal on reload" },
  ]),
  ...group("Debugging and profiling", [
    { name: "inspect", value: ADDRESS, by: "engine", help: "Start the debugger" },
    {
      name: "inspect-wait",
      value: ADDRESS,
      by: "engine",
      help: "Start the debugger and wait for a client",
    },
    {
      name: "inspect-brk",
      value: ADDRESS,
      by: "engine",
      help: "Start the debugger and pause on the first line",
    },
    { name: "cpu-prof", by: "engine", help: "Write a CPU profile on exit" },
    { name: "cpu-prof-name", value: text("file"), by: "engine", help: "Name of the CPU profile" },
    { name: "cpu-prof-dir", value: text("directory"), by: "engine", help: "Directory of the CPU profile" },
    { name: "cpu-prof-md", by: "engine", help: "Write the CPU profile as Markdown" },
    {
      name: "cpu-prof-interval",
      value: number("microseconds"),
      by: "engine",
      default: "1000",
      help: "Sampling interval of the CPU profile",
    },
    { name: "heap-prof", by: "engine", help: "Write a heap profile on exit" },
    { name: "heap-prof-name", value: text("file"), by: "engine", help: "Name of the heap profile" },
    { name: "heap-prof-dir", value: text("directory"), by: "engine", help: "Directory of the heap profile" },
    { name: "heap-prof-md", by: "engine", help: "Write the heap profile as Markdown" },
    {
      name: "heap-prof-interval",
      value: number("bytes"),
      by: "engine",
      default: "524288",
      help: "Sampling interval of the heap profile",
    },
  ]),
  ...group("Dependency and module resolution", [
    {
      name: "preload",
      short: "r",
      value: text("module"),
      by: "engine",
      help: "Import a module before the entry point; repeatable",
    },
    { name: "require", value: text("module"), by: "engine", aliasOf: "preload", help: "Alias of --preload" },
    { name: "import", value: text("module"), by: "engine", aliasOf: "preload", help: "Alias of --preload" },
    { name: "no-install", by: "engine", subject: "install", help: "Disable auto-install" },
    {
      name: "install",
      value: oneOf("auto", "fallback", "force"),
      by: "engine",
      subject: "install",
      default: "auto",
      help: "Set the auto-install mode: auto, fallback (missing packages) or force",
    },
    {
      name: "auto-install",
      short: "i",
      forward: "-i",
      by: "engine",
      subject: "install",
      help: "Auto-install during execution, like --install=fallback",
    },
    {
      name: "prefer-offline",
      by: "engine",
      subject: "prefer",
      help: "Skip staleness checks for packages and resolve from disk",
    },
    {
      name: "prefer-latest",
      by: "engine",
      subject: "prefer",
      isHelped: true,
      help: "Use the latest matching versions, always asking the registry",
    },
    { name: "conditions", value: list("name"), by: "engine", help: "Custom resolve condition; repeatable" },
    {
      name: "main-fields",
      value: list("name"),
      by: "engine",
      help: "Main field to look up in package.json; repeatable",
    },
    { name: "preserve-symlinks", by: "engine", help: "Preserve symlinks when resolving files" },
    {
      name: "preserve-symlinks-main",
      by: "engine",
      isHelped: true,
      help: "Preserve symlinks when resolving the entry point",
    },
    {
      name: "extension-order",
      value: { ...list("list"), form: "extensions" },
      by: "engine",
      isHelped: true,
      default: ".tsx,.ts,.jsx,.js,.json",
      help: "Extension resolution order",
    },
  ]),
  ...group("Transpilation and language features", [
    {
      name: "tsconfig-override",
      value: text("file"),
      by: "engine",
      default: "$cwd/tsconfig.json",
      help: "Custom tsconfig.json",
    },
    {
      name: "define",
      short: "d",
      value: { ...text("K:V"), form: "define", example: "VERSION:1" },
      by: "engine",
      help: "Substitute K by V while parsing; V is JSON; repeatable",
    },
    { name: "drop", value: text("name"), by: "engine", help: "Remove calls, for example --drop=console" },
    { name: "feature", value: text("name"), by: "engine", help: "Enable a feature flag; repeatable" },
    {
      name: "loader",
      short: "l",
      value: { ...text(".ext:loader"), form: "loader", example: ".svg:text" },
      by: "engine",
      help: "Set the loader for an extension: js, jsx, ts, tsx, json, toml, text, file, wasm or napi; repeatable",
    },
    { name: "no-macros", by: "engine", help: "Disable macros" },
    {
      name: "jsx-factory",
      value: text("name"),
      by: "engine",
      help: "Function for JSX elements, classic runtime",
    },
    {
      name: "jsx-fragment",
      value: text("name"),
      by: "engine",
      help: "Function for JSX fragments, classic runtime",
    },
    {
      name: "jsx-import-source",
      value: text("module"),
      by: "engine",
      default: "react",
      help: "Module of the jsx and jsxs factories",
    },
    {
      name: "jsx-runtime",
      value: oneOf("automatic", "classic"),
      by: "engine",
      default: "automatic",
      help: "JSX runtime",
    },
    { name: "jsx-side-effects", by: "engine", help: "Treat JSX elements as having side effects" },
    { name: "ignore-dce-annotations", by: "engine", help: "Ignore tree-shaking annotations" },
  ]),
  ...group("Networking and security", [
    {
      name: "port",
      value: { ...number("port"), max: 65_535, example: "3000" },
      by: "both",
      help: "Set the default HTTP port; sets PORT and BUN_PORT for the target",
    },
    {
      name: "fetch-preconnect",
      value: text("url"),
      by: "engine",
      help: "Connect to a URL while code is loading",
    },
    {
      name: "max-http-header-size",
      value: number("bytes"),
      by: "engine",
      default: "16384",
      help: "Maximum size of HTTP headers",
    },
    { name: "insecure-http-parser", by: "engine", help: "Accept invalid HTTP headers" },
    { name: "experimental-http2-fetch", by: "engine", help: "Negotiate HTTP/2 in fetch()" },
    { name: "experimental-http3-fetch", by: "engine", help: "Upgrade fetch() to HTTP/3 when offered" },
    { name: "experimental-stream-iter", by: "engine", help: "Enable stream/iter and zlib/iter" },
    {
      name: "dns-result-order",
      value: oneOf("verbatim", "ipv4first", "ipv6first"),
      by: "engine",
      default: "verbatim",
      help: "Order of DNS results",
    },
    { name: "use-system-ca", by: "engine", help: "Use the system's trusted certificate authorities" },
    { name: "use-openssl-ca", by: "engine", isHelped: true, help: "Use OpenSSL's default CA store" },
    { name: "use-bundled-ca", by: "engine", isHelped: true, help: "Use the bundled CA store" },
    { name: "tls-min-v1.0", by: "engine", help: "Allow TLS 1.0 and later" },
    { name: "tls-min-v1.1", by: "engine", help: "Allow TLS 1.1 and later" },
    { name: "tls-min-v1.2", by: "engine", help: "Allow TLS 1.2 and later" },
    { name: "tls-min-v1.3", by: "engine", help: "Allow only TLS 1.3" },
    { name: "tls-max-v1.2", by: "engine", help: "Allow TLS up to 1.2" },
    { name: "tls-max-v1.3", by: "engine", help: "Allow TLS up to 1.3" },
    { name: "redis-preconnect", by: "engine", help: "Connect to $REDIS_URL at startup" },
    { name: "sql-preconnect", by: "engine", help: "Connect to a SQL database at startup" },
    {
      name: "user-agent",
      value: text("value"),
      by: "engine",
      help: "Default User-Agent header of HTTP requests",
    },
  ]),
  ...group("Global configuration and context", [
    {
      name: "env-file",
      value: { ...text("file"), form: "names" },
      by: "both",
      help: "Load environment variables from a file; repeatable",
    },
    { name: "no-env-file", by: "both", help: "Do not load .env files" },
    {
      name: "secret",
      value: text("name[=service/name]"),
      by: "runner",
      help: "Pass a credential to the target as an environment variable; repeatable",
    },
    { name: "no-redact", by: "runner", help: "Do not redact secret values in output" },
    {
      name: "cwd",
      value: text("directory"),
      by: "both",
      isCarriedOut: true,
      help: "Change to <directory> first",
    },
    {
      name: "config",
      short: "c",
      value: text("file"),
      by: "both",
      isCarriedOut: true,
      default: "$cwd/rtfig.toml",
      help: "Path to the configuration file",
    },
  ]),
];
