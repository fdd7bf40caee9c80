// Declares all keys of rtfig.toml. Parsing, validation, rtfig.toml.example and the options of keys use this table.
//
// Non-obvious:
// - A key with `as` is converted to an option, which precedes the user's options on the command line, so that flags override
//   the file. The engine reads every other key from the file.
// - A name part `*` matches any name.

export type ConfigValueType = "boolean" | "string" | "integer" | "number" | "strings";

/** The option of a value: its name, and its value unless it is a switch. */
export type OptionWords = readonly [option: string, value?: string];

export interface ConfigKey {
  /** Full dotted name: "install.cache.dir". */
  readonly name: string;
  readonly kinds: readonly ConfigValueType[];
  /** The only strings allowed. */
  readonly choices?: readonly string[];
  /** Inclusive bounds of an integer. */
  readonly range?: readonly [least: number, greatest: number];
  readonly help: string;
  /** TOML value for rtfig.toml.example. */
  readonly example: string;
  /** The option of the same meaning; for a choice, the option of each value. */
  readonly as?: string | Readonly<Record<string, OptionWords | null>>;
  /** The engine reads the key when it runs code, so the code needs an engine process. */
  readonly isForCode?: boolean;
  /** rt reads the key from the file; the engine does not have it. */
  readonly isOwn?: true;
  /** src/secrets/grants reads the key; it is neither an option nor a key of the engine. */
  readonly isOfSecrets?: boolean;
  /** Flags of `rt test` that override the key for one call. */
  readonly flags?: readonly string[];
  /** Holds a credential, unless its value is the name of a variable: "$NAME". */
  readonly secret?: boolean;
}

type ConfigKeyRow = Omit<ConfigKey, "name" | "kinds" | "example">;

/** A key whose name and types are literal types: config-content.ts derives the type of the file from them. */
export interface TypedKey<Name extends string, Type extends ConfigValueType> extends ConfigKey {
  readonly name: Name;
  readonly kinds: readonly Type[];
}

type KeyWithin<Section extends string, Key> =
  Key extends TypedKey<infer Name, infer Type> ? TypedKey<`${Section}.${Name}`, Type> : never;

function key<const Name extends string, const Type extends ConfigValueType>(
  name: Name,
  kind: Type | readonly Type[],
  example: string,
  row: ConfigKeyRow,
): TypedKey<Name, Type> {
  return { name, kinds: typeof kind === "string" ? [kind] : kind, example, ...row };
}

function within<const Section extends string, Key extends ConfigKey>(
  section: Section,
  keys: readonly Key[],
): KeyWithin<Section, Key>[] {
  return keys.map(
    (each) => ({ ...each, name: `${section}.${each.name}` }) as unknown as KeyWithin<Section, Key>,
  );
}

const RUNNING = [
  key("preload", ["string", "strings"], '["./preload.ts"]', {
    as: "preload",
    help: "Modules to import before a file runs; relative to the working directory",
  }),
  key("smol", "boolean", "true", { as: "smol", help: "Use less memory, collect garbage more often" }),
  key("env", "boolean", "false", {
    as: { false: ["no-env-file"], true: null },
    help: "Whether .env files are loaded",
  }),
  key("jsx", "string", '"react-jsx"', {
    choices: ["react", "react-jsx"],
    as: { react: ["jsx-runtime", "classic"], "react-jsx": ["jsx-runtime", "automatic"] },
    help: 'The JSX runtime: "react" is the classic one, "react-jsx" the automatic one',
  }),
  key("jsxFactory", "string", '"h"', { as: "jsx-factory", help: "Function for elements, classic runtime" }),
  key("jsxFragment", "string", '"Fragment"', {
    as: "jsx-fragment",
    help: "Function for fragments, classic runtime",
  }),
  key("jsxImportSource", "string", '"react"', {
    as: "jsx-import-source",
    help: "Module of the jsx and jsxs factories",
  }),
  key("logLevel", "string", '"warn"', {
    choices: ["debug", "info", "warn", "error"],
    help: "Verbosity of the transpiler and resolver",
  }),
  key("telemetry", "boolean", "false", {
    isForCode: true,
    help: "Whether the engine may send anonymous crash reports",
  }),
  key("define.*", "string", "\"'production'\"", {
    as: "define",
    help: "Substitute a name while parsing; the value is JSON or a single-quoted string",
  }),
  key("loader.*", "string", '"text"', { as: "loader", help: "How files of an extension are loaded" }),
  key("macros", "boolean", "false", {
    as: { false: ["no-macros"], true: null },
    help: "Whether macros are executed",
  }),
  key("console.depth", "integer", "4", {
    as: "console-depth",
    help: "Default depth for console.log object inspection",
  }),
  key("debug.editor", "string", '"code"', {
    isForCode: true,
    help: "Editor that error pages and openInEditor() open",
  }),
  key("serve.port", "integer", "3000", {
    as: "port",
    range: [0, 65_535],
    help: "Default port of the HTTP server",
  }),
  key("serve.static.plugins", ["string", "strings"], '["./plugin.ts"]', {
    isForCode: true,
    help: "Bundler plugins for pages that are served",
  }),
  key("serve.static.env", ["string", "boolean"], '"PUBLIC_*"', {
    isForCode: true,
    help: 'Variables inlined into served code: "inline", "disable" or a prefix with *',
  }),
  key("serve.static.publicPath", "string", '"/assets/"', {
    isForCode: true,
    help: "Prefix of the paths in served pages",
  }),
  key("serve.static.minify", "boolean", "true", { isForCode: true, help: "Minify served code" }),
  key("serve.static.define.*", "string", "\"'1.0'\"", {
    isForCode: true,
    help: "Like [define], in served code",
  }),
];

const SCRIPTS = within("run", [
  key("shell", "string", '"rt"', {
    choices: ["rt", "system"],
    as: "shell",
    help: "The shell for package.json scripts",
  }),
  key("silent", "boolean", "true", { as: "silent", help: "Do not print the script command" }),
  key("rt", "boolean", "true", { as: "rt", help: "Make `node` mean rt for scripts and what they start" }),
  key("if-present", "boolean", "true", {
    as: "if-present",
    help: "Exit without an error if the entry point does not exist",
  }),
  key("elide-lines", "integer", "10", {
    as: "elide-lines",
    help: "Lines of script output shown with --filter; 0 shows all",
  }),
  key("output", "string", '"grouped"', {
    choices: ["stream", "grouped", "errors", "json"],
    as: "output",
    help: "Output of several scripts: as it arrives, by task, of failed tasks only, or JSON lines",
  }),
  key("log-prefix", "string", '"none"', {
    choices: ["auto", "none", "task"],
    as: "log-prefix",
    help: "Prefix of output lines of several scripts",
  }),
  key("ui", "string", '"stream"', {
    choices: ["stream", "list"],
    as: "ui",
    help: "Show several tasks on a terminal as a stream, or as a list with the output of one",
  }),
  key("concurrency", "integer", "4", {
    as: "concurrency",
    range: [1, Number.MAX_SAFE_INTEGER],
    help: "Maximum number of concurrent scripts, except with --parallel",
  }),
  key("no-exit-on-error", "boolean", "true", {
    as: "no-exit-on-error",
    help: "With several scripts, keep running the others when one fails",
  }),
]);

const TASKS = within("tasks.*", [
  key("depends-on", "strings", '["^build", "lint", "web#build"]', {
    isOwn: true,
    help: 'Tasks that run before: "^build" in the packages it depends on, "lint" in the same package, "web#build"',
  }),
  key("command", "string", '"node server.js"', {
    isOwn: true,
    help: "Command of a task without an entry in package.json",
  }),
  key("description", "string", '"Bundle the package"', {
    isOwn: true,
    help: "Description in lists of tasks",
  }),
  key("when", "string", '"never"', {
    choices: ["never"],
    isOwn: true,
    help: "never: globs and --workspaces do not select it",
  }),
  key("timeout", "string", '"10m"', { isOwn: true, help: "Maximum duration of one attempt: 90s, 10m, 1.5h" }),
  key("retries", "integer", "1", {
    range: [0, 100],
    isOwn: true,
    help: "How often it runs again after a failure",
  }),
  key("lock", "string", '"database"', {
    isOwn: true,
    help: "Tasks with the same lock do not run at the same time",
  }),
  key("service", "boolean", "true", {
    isOwn: true,
    help: "Whether it keeps running while other tasks need it; they start when it is ready",
  }),
  key("ready.port", "integer", "5432", {
    range: [1, 65_535],
    isOwn: true,
    help: "A service is ready when this TCP port of localhost accepts connections",
  }),
  key("ready.log", "string", '"ready in"', {
    isOwn: true,
    help: "A service is ready when its output contains this text",
  }),
  key("ready.http", "string", '"http://localhost:3000/health"', {
    isOwn: true,
    help: "A service is ready when this URL answers with a status from 200 to 399",
  }),
  key("ready.command", "strings", '["pg_isready"]', {
    isOwn: true,
    help: "A service is ready when this program exits with code 0",
  }),
  key("ready.timeout", "string", '"2m"', {
    isOwn: true,
    help: "Maximum time until a service is ready (default: 60s)",
  }),
  key("restart", "string", '"on-failure"', {
    choices: ["on-failure"],
    isOwn: true,
    help: "on-failure: a service that ends by itself starts again",
  }),
  key("interactive", "boolean", "true", {
    isOwn: true,
    help: "Whether it gets the terminal, and no other task starts beside it",
  }),
  key("cache", "boolean", "true", { isOwn: true, help: "Whether its results are cached (default: false)" }),
  key("outputs", "strings", '["dist/**"]', {
    isOwn: true,
    help: "Files that are always outputs, even if they existed before the run",
  }),
  key("inputs", "strings", '["../schema/**"]', {
    isOwn: true,
    help: "Inputs besides the traced ones, or besides the files of its package and its dependencies",
  }),
  key("ignore", "strings", '[".tool-cache/**"]', {
    isOwn: true,
    help: "Files that are neither inputs nor outputs",
  }),
  key("env", "strings", '["API_URL"]', {
    isOwn: true,
    help: "Variables that it gets besides the standard ones, if it is cached or runs remotely",
  }),
  key("trace", "boolean", "false", {
    isOwn: true,
    help: "Whether rt traces its inputs, where supported; else its package's files and inputs count (default: true)",
  }),
  key("shared", "boolean", "false", {
    isOwn: true,
    help: "Whether other checkouts of the project may restore its outputs (default: true)",
  }),
  key("remote", "boolean", "true", {
    isOwn: true,
    help: "true: runs remotely even without --remote; false: runs locally even with --remote",
  }),
  key("permissions", "boolean", "true", {
    isOwn: true,
    help: "Whether it can do only what permissions allow (Linux)",
  }),
  key("permissions.read", "strings", '["../shared/**"]', {
    isOwn: true,
    help: "Folders and files outside of the project that it may read",
  }),
  key("permissions.write", "strings", '["dist/**"]', {
    isOwn: true,
    help: "The only folders and files that it may write; without it, the project",
  }),
  key("permissions.hosts", "strings", '["localhost:*"]', {
    isOwn: true,
    help: 'Hosts that it may connect to, with ports: "localhost:*" (default), names, "*" or none',
  }),
  key("permissions.sockets", "strings", '["/run/postgresql"]', {
    isOwn: true,
    help: "Unix sockets, or folders of them, that it may connect to",
  }),
  key("secrets", "strings", '["NPM_TOKEN"]', { isOfSecrets: true, help: "Secrets that it gets" }),
]);

const PERMISSIONS = within("permissions", [
  key("default", "boolean", "true", {
    isOwn: true,
    help: "Whether tasks have permissions that do not say so themselves",
  }),
]);

const CACHING = within("run.cache", [
  key("*", "boolean", "true", {
    isOwn: true,
    help: 'A script, or "package#script", whose results are cached',
  }),
  key("*.env", "strings", '["API_URL"]', {
    isOwn: true,
    help: "Variables that it gets besides the standard ones",
  }),
  key("*.inputs", "strings", '["../schema/**"]', {
    isOwn: true,
    help: "Inputs besides the traced ones",
  }),
  key("*.outputs", "strings", '["dist/**"]', {
    isOwn: true,
    help: "Files that are always outputs, even if they existed before the run",
  }),
  key("*.ignore", "strings", '[".tool-cache/**"]', {
    isOwn: true,
    help: "Files that are neither inputs nor outputs",
  }),
  key("*.trace", "boolean", "false", {
    isOwn: true,
    help: "Whether rt traces its inputs, where supported; else its package's files and inputs count (default: true)",
  }),
  key("*.shared", "boolean", "false", {
    isOwn: true,
    help: "Whether other checkouts of the project may restore its outputs (default: true)",
  }),
]);

/** Keys of every Remote Execution API server. */
const REAPI_SERVER = [
  key("instance", "string", '"main"', { isOwn: true, help: "Instance name on the server" }),
  key("headers.*", "string", '"$REMOTE_TOKEN"', {
    isOwn: true,
    help: "A header of each request; $NAME is a variable",
  }),
  key("ca", "string", '"certs/ca.pem"', { isOwn: true, help: "CA certificate of the server; PEM" }),
  key("cert", "string", '"certs/client.pem"', { isOwn: true, help: "Client certificate; PEM" }),
  key("key", "string", '"certs/client.key"', { isOwn: true, help: "Key of the client certificate; PEM" }),
];

const SHARED_CACHE = within("cache.remote", [
  key("url", "string", '"https://cache.example.com"', {
    isOwn: true,
    help: "URL of the shared cache: rt cache serve, or another server of turbo's protocol; with grpcs://, a server of the Remote Execution API v2",
  }),
  ...REAPI_SERVER,
  key("enabled", "boolean", "false", { isOwn: true, help: "Whether the shared cache is used" }),
  key("team", "string", '"acme"', { isOwn: true, help: "Name of the team, as in its URLs" }),
  key("team-id", "string", '"team_1a2b"', { isOwn: true, help: "ID of the team" }),
  key("token", "string", '"$TURBO_TOKEN"', {
    isOwn: true,
    secret: true,
    help: "Variable, or entry of [secrets], with the token",
  }),
  key("signature-key", "string", '"$TURBO_REMOTE_CACHE_SIGNATURE_KEY"', {
    isOwn: true,
    secret: true,
    help: "Variable, or entry of [secrets], with the signature key",
  }),
  key("signature", "boolean", "false", {
    isOwn: true,
    help: "Whether artifacts are signed; without signatures, anyone with write access can forge outputs",
  }),
  key("timeout", "integer", "30", { isOwn: true, help: "Seconds for one request" }),
  key("upload-timeout", "integer", "60", {
    isOwn: true,
    help: "Maximum seconds that the end of a run waits for uploads",
  }),
]);

const REMOTE = within("run.remote", [
  key("url", "string", '"grpcs://remote.example.com"', {
    isOwn: true,
    help: "URL of the Remote Execution API v2 server for --remote",
  }),
  ...REAPI_SERVER,
  key("timeout", "integer", "60", {
    isOwn: true,
    range: [1, 3600],
    help: "Seconds for one request; the run time of a script is not limited",
  }),
  key("concurrency", "integer", "64", {
    isOwn: true,
    range: [1, 10_000],
    help: "Maximum number of concurrent scripts on the server; --concurrency overrides it",
  }),
  key("system", "string", '"linux-x64"', { isOwn: true, help: "System of its machines" }),
  key("properties.*", "string", '"docker://example.com/node@sha256:..."', {
    isOwn: true,
    help: "Platform property that the server uses to choose a machine",
  }),
  key("scripts.*.outputs", "strings", '["dist"]', {
    isOwn: true,
    help: "Files and directories that a script writes",
  }),
  key("scripts.*.env", "strings", '["NODE_ENV"]', { isOwn: true, help: "Local variables that it gets" }),
  key("scripts.*.inputs", "strings", '["../../assets/**"]', {
    isOwn: true,
    help: "Inputs besides the files of its package and of that package's dependencies",
  }),
  key("scripts.*.remote", "boolean", "true", {
    isOwn: true,
    help: "true: runs remotely even without --remote; false: runs locally even with --remote",
  }),
]);
const SECRETS = [
  key("project.id", "string", '"shop-3f9c27d1a8b44e02"', {
    isOwn: true,
    help: "Identifier that age files are bound to; rt secrets share bind writes it",
  }),
  key("run.secrets.*", "strings", '["NPM_TOKEN"]', {
    isOfSecrets: true,
    help: "Secrets that scripts of this name get: a name, a glob, or package#script",
  }),
  ...within("secrets.*", [
    key("from", "string", '"com.acme.release/npm"', {
      isOfSecrets: true,
      help: "Source of the secret: service/name in the credential store, or age:file",
    }),
    key("from.service", "string", '"com.acme/release"', {
      isOfSecrets: true,
      help: "Service with a slash in its name; needs from.name",
    }),
    key("from.name", "string", '"npm"', {
      isOfSecrets: true,
      help: "Name of the credential; needs from.service",
    }),
    key("from.command", "strings", '["op", "read", "op://dev/npm/token"]', {
      isOfSecrets: true,
      help: "Command that prints the secret, started without a shell",
    }),
    key("about", "string", '"npm token that may publish"', {
      isOfSecrets: true,
      help: "Description, shown when rt asks for the value",
    }),
    key("optional", "boolean", "true", {
      isOfSecrets: true,
      help: "Whether scripts run if the secret is missing",
    }),
    key("redact", "boolean", "false", {
      isOfSecrets: true,
      help: "Whether the output shows [NAME] instead of the value",
    }),
  ]),
];

const WATCHING = within("watch", [
  key("paths", ["string", "strings"], '["src", "config/*.hbs"]', {
    as: "watch-path",
    help: "Files, folders and globs to watch instead of the project",
  }),
  key("ignore", ["string", "strings"], '["*.gen.ts", "!build/"]', {
    as: "watch-ignore",
    help: "Patterns that --watch ignores, in .gitignore syntax; ! negates",
  }),
]);

const TESTS = within("test", [
  key("root", "string", '"./test"', { help: "Root folder of the tests" }),
  key("preload", ["string", "strings"], '["./setup.ts"]', {
    help: "Modules to import before each test file",
  }),
  key("smol", "boolean", "true", { help: "Like smol, for tests" }),
  key("pathIgnorePatterns", ["string", "strings"], '["vendor/**"]', {
    flags: ["--path-ignore-patterns"],
    help: "Files that are not tests",
  }),
  key("coverage", "boolean", "true", { flags: ["--coverage"], help: "Report coverage" }),
  key("coverageThreshold", "number", "0.9", { help: "Fail below this coverage" }),
  key("coverageThreshold.lines", "number", "0.8", { help: "Fail below this coverage of lines" }),
  key("coverageThreshold.functions", "number", "0.8", { help: "Fail below this coverage of functions" }),
  key("coverageThreshold.statements", "number", "0.8", { help: "Accepted; the engine does not enforce it" }),
  key("coverageSkipTestFiles", "boolean", "true", { help: "Exclude test files from the coverage" }),
  key("coverageIgnoreSourcemaps", "boolean", "true", {
    help: "Report coverage of the transpiled code, not of the source",
  }),
  key("coveragePathIgnorePatterns", ["string", "strings"], '["src/generated/**"]', {
    help: "Files to exclude from the coverage",
  }),
  key("coverageReporter", ["string", "strings"], '["text", "lcov"]', {
    flags: ["--coverage-reporter"],
    help: "How coverage is reported",
  }),
  key("coverageDir", "string", '"coverage"', {
    flags: ["--coverage-dir"],
    help: "Where coverage files are written",
  }),
  key("randomize", "boolean", "true", { flags: ["--randomize"], help: "Run tests in random order" }),
  key("seed", "integer", "42", { flags: ["--seed"], help: "Seed of the random order; needs randomize" }),
  key("rerunEach", "integer", "2", { flags: ["--rerun-each"], help: "Run each test file this many times" }),
  key("retry", "integer", "2", { flags: ["--retry"], help: "Retry a failed test up to this many times" }),
  key("concurrentTestGlob", ["string", "strings"], '"**/concurrent-*.test.ts"', {
    help: "Files whose tests run concurrently",
  }),
  key("onlyFailures", "boolean", "true", { flags: ["--only-failures"], help: "Print failed tests only" }),
  key("reporter.dots", "boolean", "true", { flags: ["--reporter", "--dots"], help: "Print a dot per test" }),
  key("reporter.junit", "string", '"junit.xml"', {
    flags: ["--reporter-outfile"],
    help: "Write a JUnit report",
  }),
]);

const registry = <const Name extends string>(name: Name) => [
  key(name, "string", '"https://registry.example/"', { help: "A registry", secret: true }),
  key(`${name}.url`, "string", '"https://registry.example/"', { help: "Its address", secret: true }),
  key(`${name}.token`, "string", '"$NPM_TOKEN"', { help: "Its access token", secret: true }),
  key(`${name}.username`, "string", '"$NPM_USER"', { help: "The user's name" }),
  key(`${name}.password`, "string", '"$NPM_PASSWORD"', { help: "The user's password", secret: true }),
];

const PACKAGES = within("install", [
  key("auto", ["string", "boolean"], '"fallback"', {
    choices: ["auto", "fallback", "force", "disable"],
    as: {
      auto: ["install", "auto"],
      fallback: ["install", "fallback"],
      force: ["install", "force"],
      disable: ["no-install"],
      true: null,
      false: ["no-install"],
    },
    help: "Auto-install while running: without node_modules, only missing packages, always, or never",
  }),
  key("prefer", "string", '"offline"', {
    choices: ["online", "offline", "latest"],
    as: { online: null, offline: ["prefer-offline"], latest: ["prefer-latest"] },
    help: "How versions are looked up while running: as needed, on disk, or always in the registry",
  }),
  ...registry("registry"),
  ...registry("scopes.*"),
  key("ca", ["string", "strings"], '"-----BEGIN CERTIFICATE-----..."', { help: "Certificates to trust" }),
  key("cafile", "string", '"./ca.pem"', { help: "A file of certificates to trust" }),
  key("cache", ["string", "boolean"], '"./.cache"', { help: "Directory of the cache, or false for none" }),
  key("cache.dir", "string", '"./.cache"', { help: "Directory of the cache" }),
  key("cache.disable", "boolean", "true", { help: "Do not read the cache" }),
  key("cache.disableManifest", "boolean", "true", { help: "Always ask the registry for versions" }),
  key("lockfile.save", "boolean", "false", { help: "Whether a lockfile is written" }),
  key("lockfile.print", "string", '"yarn"', { choices: ["yarn", "bun"], help: "Also write a yarn.lock" }),
  key("saveTextLockfile", "boolean", "false", { help: "Whether the lockfile is text" }),
  key("frozenLockfile", "boolean", "true", { help: "Fail instead of changing the lockfile" }),
  key("production", "boolean", "true", { help: "Skip development dependencies; freeze the lockfile" }),
  key("dev", "boolean", "false", { help: "Whether development dependencies are installed" }),
  key("optional", "boolean", "false", { help: "Whether optional dependencies are installed" }),
  key("peer", "boolean", "false", { help: "Whether peer dependencies are installed" }),
  key("exact", "boolean", "true", { help: "Add exact versions to package.json" }),
  key("dryRun", "boolean", "true", { help: "Install nothing" }),
  key("ignoreScripts", "boolean", "true", { help: "Do not run lifecycle scripts" }),
  key("permissions", "boolean", "false", {
    isOwn: true,
    help: "Whether lifecycle scripts of dependencies have permissions (Linux; default: true)",
  }),
  key("permissions.*", "boolean", "false", {
    isOwn: true,
    help: "Whether those of this package have them",
  }),
  key("permissions.*.read", "strings", '["prisma"]', {
    isOwn: true,
    help: "Files and folders beyond the package that they read, relative to the project",
  }),
  key("permissions.*.write", "strings", '["node_modules/.prisma"]', {
    isOwn: true,
    help: "Folders beyond the package that they write, relative to the project",
  }),
  key("permissions.*.hosts", "strings", '["localhost:*"]', {
    isOwn: true,
    help: "Hosts that they connect to; none by default",
  }),
  key("permissions.*.sockets", "strings", '["/run/service"]', {
    isOwn: true,
    help: "Unix sockets that they connect to",
  }),
  key("permissions.*.env", "strings", '["SENTRYCLI_CDNURL"]', {
    isOwn: true,
    help: "Variables that they get besides the standard ones",
  }),
  key("concurrentScripts", "integer", "4", { help: "How many lifecycle scripts run at a time" }),
  key("linker", "string", '"isolated"', {
    choices: ["hoisted", "isolated"],
    help: "How node_modules is laid out",
  }),
  key("globalStore", "boolean", "true", {
    help: "With the isolated linker, share packages between projects",
  }),
  key("hoist", "boolean", "false", { help: "With the isolated linker, whether packages see all others" }),
  key("hoistPattern", ["string", "strings"], '["*"]', { help: "With the isolated linker, which ones" }),
  key("publicHoistPattern", ["string", "strings"], '["*eslint*"]', {
    help: "With the isolated linker, packages that the project sees",
  }),
  key("linkWorkspacePackages", "boolean", "false", { help: "Whether workspace packages are linked" }),
  key("globalDir", "string", '"~/.rt/global"', { help: "Where global packages are installed" }),
  key("globalBinDir", "string", '"~/.rt/bin"', { help: "Where their binaries are linked" }),
  key("offline", "boolean", "true", { help: "Never touch the network" }),
  key("minimumReleaseAge", "integer", "259200", { help: "Seconds since a version was published" }),
  key("minimumReleaseAgeExcludes", "strings", '["typescript"]', { help: "Packages of any age" }),
  key("security.scanner", "string", '"a-scanner"', { help: "Package that checks what is installed" }),
  key("logLevel", "string", '"warn"', {
    choices: ["debug", "info", "warn", "error"],
    help: "Verbosity of package installation",
  }),
]);

const ALL_KEYS = [
  ...RUNNING,
  ...SCRIPTS,
  ...TASKS,
  ...PERMISSIONS,
  ...CACHING,
  ...SHARED_CACHE,
  ...REMOTE,
  ...SECRETS,
  ...WATCHING,
  ...TESTS,
  ...PACKAGES,
];

export type AnyKey = (typeof ALL_KEYS)[number];
export const KEYS: readonly ConfigKey[] = ALL_KEYS;
