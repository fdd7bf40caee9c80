// The table of built-in commands. Parsing, help and completions read it.
//
// Invariants:
// - A built-in command takes precedence over a script of the same name (specification, "Script runner command line").
// - `by` names the part that runs it: `run` the runner, `rt` a module of rt, `engine` the engine's own tool.

export interface BuiltinCommand {
  readonly by: "run" | "rt" | "engine";
  readonly help: string;
  readonly usage?: string;
  /** The name of the command that this one is an alias of. */
  readonly aliasOf?: string;
}

/** Tools that run code of a project, which has permissions if an option asks for them. */
const RESTRICTED_TOOLS: readonly string[] = ["test", "x"];
/** Tools that run lifecycle scripts of dependencies, which have permissions by default. */
export const INSTALL_TOOLS: readonly string[] = [
  ...["install", "i", "add", "a", "update", "remove", "rm", "dedupe", "link", "patch", "pm"],
];
/** Options of permissions that these tools accept. */
export const RESTRICTING_OPTIONS: readonly string[] = [
  ...["permissions", "no-permissions", "explain", "learn", "locked"],
];

/** Whether a tool accepts the options of permissions. */
export function acceptsRestriction(tool: string): boolean {
  return RESTRICTED_TOOLS.includes(tool) || INSTALL_TOOLS.includes(tool);
}

export const COMMANDS: Readonly<Record<string, BuiltinCommand>> = {
  // Without a prototype, so that "constructor" is not a command.
  __proto__: null as never,
  run: {
    by: "run",
    usage: "[options] <file|script|binary|command|-> [args]",
    help: "Run a file, script, package binary, system command or code from stdin",
  },
  help: { by: "rt", usage: "[command|guide]", help: "Show help for rt, a command or a guide" },
  types: { by: "rt", help: "Print TypeScript declarations for `rt` and the project's secrets" },
  completions: {
    by: "rt",
    usage: "bash|zsh|fish|powershell",
    help: "Print a shell completion script",
  },
  "debug-config": {
    by: "rt",
    usage: "vscode|webstorm|zed|nvim|helix",
    help: "Write a debug configuration for an editor",
  },
  secrets: {
    by: "rt",
    usage: "<command> [service] [name]",
    help: "Manage credentials in the OS credential store",
  },
  trust: {
    by: "rt",
    usage: "[--config <file>] [--list] [--remove] [folder|hash]",
    help: "Allow secrets, servers, permissions and changed install scripts of this project",
  },
  doctor: {
    by: "rt",
    usage: "[--json]",
    help: "Diagnose the installation and the credential store",
  },
  cache: {
    by: "rt",
    usage: "status|prune|clear|why <script>|import <file>|serve|token",
    help: "Inspect, prune or clear the script cache; run a cache server",
  },
  config: {
    by: "rt",
    usage: "schema|migrate [--dry-run]",
    help: "Print the JSON schema of rtfig.toml, or move old rules to [tasks]",
  },
  permissions: {
    by: "rt",
    usage: "check [tasks]",
    help: "Run tasks and fail if they use more than their permissions allow (Linux)",
  },
  upgrade: {
    by: "rt",
    usage: "[url|file] [--sha256=<sum>] [--allow-downgrade] [--rollback]",
    help: "Replace rt with the version in an archive, or roll back",
  },
  test: { by: "engine", usage: "[patterns]", help: "Run tests" },
  check: { by: "engine", usage: "[files]", help: "Type check a project" },
  fmt: { by: "engine", usage: "[files]", help: "Format files" },
  build: { by: "engine", usage: "<entry points>", help: "Bundle files" },
  x: { by: "engine", usage: "<binary> [args]", help: "Run a package binary; install it if needed" },
  repl: { by: "rt", usage: "[options]", help: "Start a REPL with TypeScript, imports and `rt`" },
  exec: { by: "engine", usage: "<command>", help: "Run a shell command in the built-in shell" },
  install: { by: "engine", help: "Install dependencies" },
  i: { by: "engine", help: "Alias of install", aliasOf: "install" },
  add: { by: "engine", usage: "<package>", help: "Add a dependency" },
  a: { by: "engine", help: "Alias of add", aliasOf: "add" },
  remove: { by: "engine", usage: "<package>", help: "Remove a dependency" },
  rm: { by: "engine", help: "Alias of remove", aliasOf: "remove" },
  update: { by: "engine", usage: "[package]", help: "Update dependencies" },
  outdated: { by: "engine", help: "List outdated dependencies" },
  audit: { by: "engine", help: "Check dependencies for known vulnerabilities" },
  dedupe: { by: "engine", help: "Remove duplicate versions from the lockfile" },
  prune: { by: "engine", help: "Remove packages that the lockfile does not list" },
  link: { by: "engine", usage: "[package]", help: "Link a local package" },
  unlink: { by: "engine", help: "Unlink a local package" },
  publish: { by: "engine", help: "Publish a package" },
  patch: { by: "engine", usage: "<package>", help: "Patch a dependency" },
  pm: { by: "engine", usage: "<subcommand>", help: "Package manager utilities" },
  info: { by: "engine", usage: "<package>", help: "Show a package's metadata" },
  why: { by: "engine", usage: "<package>", help: "Explain why a package is installed" },
  init: { by: "engine", help: "Start a project" },
  create: { by: "engine", usage: "<template>", help: "Create a project from a template" },
};
