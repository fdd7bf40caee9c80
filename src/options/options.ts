// THE table of options. Parsing, `--help`, the generated docs, completions and what is forwarded to the
// engine all read it; there is no second list.
//
// Contract (specification, "Options"): every row of the specification's tables, plus the options of the
// engine that its users expect to find. `by` says who acts on a row:
//   engine  the engine that runs code: handed on, word for word
//   runner  rt itself, when it runs scripts, binaries and commands
//   both    rt for scripts, the engine for code
// A row whose `value` is absent is a switch. `optional` means that a value comes only as `--name=value`.

export interface Value {
  readonly hint: string;
  readonly kind: "string" | "number" | "optional";
  readonly choices?: readonly string[];
  /** Other words for a choice, by the word. */
  readonly synonyms?: Readonly<Record<string, string>>;
  /** The greatest number. */
  readonly max?: number;
  /** A port, or a host with a port and a path, each of which may be left out; or a URL. */
  readonly isAddress?: true;
  /** For a message, where there is no default. */
  readonly example?: string;
  /** The program itself, which may begin like an option. */
  readonly isCode?: true;
  /** Several may stand behind commas; the engine takes one at a time. */
  readonly isList?: true;
  /** The format of its text; src/options/values.ts checks it. */
  readonly form?: "define" | "loader" | "extensions" | "names";
}

export interface Option {
  readonly name: string;
  readonly short?: string;
  /** What people write for it besides, as `-pe`. */
  readonly other?: string;
  readonly value?: Value;
  readonly by: "engine" | "runner" | "both";
  readonly group: Group;
  readonly help: string;
  readonly default?: string;
  /** How the engine spells an option that has no such long name there. */
  readonly forward?: string;
  /** Done before the engine starts, which is not told again: it is in the directory already. */
  readonly isCarriedOut?: true;
  /** The engine does not do all that the row says: src/runtime/preload/option-effects.ts does it, or says that nothing does. */
  readonly isHelped?: true;
  /** It stands for the target: code is given, or asked for. */
  readonly evaluates?: true;
  /** It makes the run one of many: by saying which packages, or by what it does to scripts. */
  readonly many?: "packages" | "scripts";
  /** The row that this one is another name of. */
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

/** The engine takes a port that there is not for its own default, without a word. */
const ADDRESS: Value = { ...optional("address"), isAddress: true, example: "localhost:9229/path" };

/** Those that end a program, unless it handles them. */
const KILL_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGKILL"];

/** The rows are completed in place: copying a hundred of them would be felt at every start with an option. */
function group(title: Group, rows: readonly Omit<Option, "group">[]): readonly Option[] {
  for (const row of rows) (row as { group?: Group }).group = title;
  return rows as readonly Option[];
}

export const OPTIONS: readonly Option[] = [
  ...group("General execution", [
    { name: "silent", by: "runner", help: "Do not print the script command" },
    { name: "pick", by: "runner", help: "Choose a script of this package or workspace, with what is typed" },
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
      help: "Print the version with that of the engine, to the commit, and exit",
    },
    { name: "check", by: "engine", help: "Type check before running; nothing runs if there are type errors" },
    {
      name: "interactive",
      by: "engine",
      evaluates: true,
      isHelped: true,
      help: "Start a Node.js-compatible REPL, with rt and TypeScript",
    },
  ]),
  ...group("Workspaces", [
    {
      name: "elide-lines",
      value: number("count"),
      by: "runner",
      default: "10",
      help: "Lines of script output shown with --filter; 0 shows all",
    },
    {
      name: "filter",
      short: "F",
      value: text("pattern"),
      by: "runner",
      many: "packages",
      help: "Run a script in all workspace packages that match; repeatable",
    },
    { name: "workspaces", by: "runner", many: "packages", help: "Run a script in all workspace packages" },
    {
      name: "parallel",
      by: "runner",
      many: "scripts",
      help: "Run several scripts or workspace scripts at once, with prefixed output",
    },
    {
      name: "sequential",
      by: "runner",
      many: "scripts",
      help: "Run several scripts or workspace scripts one after another, with prefixed output",
    },
    {
      name: "no-exit-on-error",
      by: "runner",
      help: "With several scripts, keep running the others when one fails",
    },
    {
      name: "concurrency",
      value: number("count"),
      by: "runner",
      many: "scripts",
      help: "How many scripts run at a time; the number of processors unless given",
    },
    {
      name: "dry-run",
      value: { ...optional("json|html|mermaid"), choices: ["json", "html", "mermaid"] },
      by: "runner",
      many: "scripts",
      help: "Print what would run, in order or as a graph, and run nothing",
    },
    {
      name: "report",
      value: text("file"),
      by: "runner",
      many: "scripts",
      help: "Write what ran as a page (.html), a trace (trace.json), JUnit (.xml) or JSON; repeatable",
    },
    {
      name: "shard",
      value: text("number/count"),
      by: "runner",
      many: "scripts",
      help: "Run one of several parts, each on a machine of its own: 2/5 is the second of five",
    },
    {
      name: "shard-times",
      value: text("file"),
      by: "runner",
      many: "scripts",
      help: "Balance --shard or --share by a report of an earlier run, or a folder of them; repeatable",
    },
    {
      name: "share",
      value: text("url"),
      by: "runner",
      many: "scripts",
      help: "Run this together with other machines, over this Redis; scripts of [run.cache] are run once",
    },
    {
      name: "share-id",
      value: text("id"),
      by: "runner",
      help: "What the machines of one run have in common",
    },
    {
      name: "share-name",
      value: text("name"),
      by: "runner",
      help: "What others call this machine; its host's name unless given",
    },
    { name: "no-cache", by: "runner", help: "Neither use nor keep what [run.cache] says" },
    {
      name: "force",
      by: "runner",
      help: "Run scripts of [run.cache] whatever is known, and keep what they do",
    },
    {
      name: "cache",
      value: text("places"),
      by: "runner",
      default: "local:rw,remote:rw",
      help: "Where what [run.cache] keeps is read (r) and written (w): here, and in a shared cache",
    },
    {
      name: "verify-inputs",
      by: "runner",
      help: "Run scripts of [run.cache], and fail where one reads or writes more than is declared (Linux)",
    },
    {
      name: "why",
      by: "runner",
      help: "Say of each script of [run.cache] what made it run, or by what it was found",
    },
    {
      name: "remote",
      by: "runner",
      help: "Run scripts on the server that [run.remote] names, by the Remote Execution API",
    },
    { name: "no-remote", by: "runner", help: "Run every script here, whatever [run.remote] says" },
    {
      name: "affected",
      value: optional("ref"),
      by: "runner",
      many: "packages",
      help: "Only packages changed since a commit, and what depends on them",
    },
  ]),
  ...group("Runtime and process control", [
    {
      name: "rt",
      short: "b",
      by: "runner",
      help: "Make `node` mean rt for a script, binary or file and everything it starts",
    },
    { name: "bun", by: "runner", aliasOf: "rt", help: "Alias of --rt, for scripts written for Bun" },
    {
      name: "shell",
      value: { ...oneOf("rt", "system"), synonyms: { bun: "rt" } },
      by: "runner",
      help: "The shell for package.json scripts",
    },
    { name: "smol", by: "engine", help: "Use less memory, collect garbage more often" },
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
      help: "Exit when the parent process dies, and end every descendant on exit",
    },
    { name: "no-ffi-cc", by: "engine", help: "Throw if bun:ffi cc() is called" },
    {
      name: "unhandled-rejections",
      value: oneOf("strict", "throw", "warn", "none", "warn-with-error-code"),
      by: "engine",
      help: "What an unhandled rejection does",
    },
    {
      name: "console-depth",
      value: number("levels"),
      by: "engine",
      default: "2",
      help: "Default depth for console.log object inspection",
    },
  ]),
  ...group("Development workflow", [
    { name: "watch", by: "both", help: "Restart the process when a file changes" },
    {
      name: "watch-kill-signal",
      value: { ...text("signal"), choices: KILL_SIGNALS },
      by: "both",
      default: "SIGTERM",
      help: "The signal whose handlers run when --watch restarts",
    },
    {
      name: "watch-path",
      value: text("path"),
      by: "runner",
      help: "Watch this file, folder or glob instead of the project; may be repeated",
    },
    {
      name: "watch-ignore",
      value: text("glob"),
      by: "runner",
      help: "Leave these files alone, as .gitignore does, with !glob for not these; may be repeated",
    },
    { name: "hot", by: "engine", help: "Reload code when a file changes, keeping the process" },
    { name: "no-clear-screen", by: "both", help: "Do not clear the terminal on reload" },
  ]),
  ...group("Debugging and profiling", [
    { name: "inspect", value: ADDRESS, by: "engine", help: "Activate the debugger" },
    {
      name: "inspect-wait",
      value: ADDRESS,
      by: "engine",
      help: "Activate the debugger and wait for a connection",
    },
    {
      name: "inspect-brk",
      value: ADDRESS,
      by: "engine",
      help: "Activate the debugger, break on the first line and wait",
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
      help: "Import a module before the others; repeatable",
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
      help: "Auto-install: without node_modules, only missing packages, or always",
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
      help: "js, jsx, ts, tsx, json, toml, text, file, wasm or napi for an extension; repeatable",
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
      help: "Default port of the HTTP server; sets PORT and BUN_PORT of what runs",
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
    { name: "experimental-http2-fetch", by: "engine", help: "Offer h2 in fetch() over TLS" },
    { name: "experimental-http3-fetch", by: "engine", help: "Let fetch() move to HTTP/3 where offered" },
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
      help: "Give the target a secret of the credential store as a variable; repeatable",
    },
    { name: "no-redact", by: "runner", help: "Let what runs show the values of its secrets" },
    {
      name: "cwd",
      value: text("directory"),
      by: "both",
      isCarriedOut: true,
      help: "Directory to work in and to resolve from",
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
