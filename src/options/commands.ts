// The built-in commands: the one list that parsing, help and completions read.
//
// Contract (specification, "Script runner command line"): a built-in command takes precedence over a script
// of the same name. `by` says who carries it out: `run` the runner, `rt` a module of ours, `engine` the
// engine's own tool, so that one download is enough to work with a project.

export interface BuiltinCommand {
  readonly by: "run" | "rt" | "engine";
  readonly help: string;
  readonly usage?: string;
  /** The command that this one is another name of. */
  readonly aliasOf?: string;
}

export const COMMANDS: Readonly<Record<string, BuiltinCommand>> = {
  // No prototype: a script called "constructor" is a script.
  __proto__: null as never,
  run: {
    by: "run",
    usage: "[options] <file|script|binary|command|-> [args]",
    help: "Run a file, a script, a binary, a command or standard input",
  },
  help: { by: "rt", usage: "[command|guide]", help: "Show this help, a command's, or a guide" },
  types: { by: "rt", help: "Print a .d.ts that declares `rt`, and a project's secrets" },
  completions: {
    by: "rt",
    usage: "bash|zsh|fish|powershell",
    help: "Print the completions of a shell, for its start-up file",
  },
  "debug-config": {
    by: "rt",
    usage: "vscode|webstorm|zed|nvim|helix",
    help: "Write an editor's launch configuration for debugging with rt",
  },
  secrets: {
    by: "rt",
    usage: "<command> [service] [name]",
    help: "Read and write the credential store",
  },
  trust: {
    by: "rt",
    usage: "[--config <file>] [--list] [--remove] [folder|hash]",
    help: "Allow this project's rtfig.toml to give secrets to its scripts",
  },
  doctor: {
    by: "rt",
    usage: "[--json]",
    help: "Look at the installation and the credential store, and say what is wrong",
  },
  cache: {
    by: "rt",
    usage: "status|prune|clear|why <script>|import turbo.json|serve|token",
    help: "Show what is kept of scripts, or why one of them was started; serve a cache to others",
  },
  upgrade: {
    by: "rt",
    usage: "[url|file] [--sha256=<sum>] [--allow-downgrade] [--rollback]",
    help: "Exchange rt for the version in an archive, or go back to the one before",
  },
  test: { by: "engine", usage: "[patterns]", help: "Run tests" },
  check: { by: "engine", usage: "[files]", help: "Type check a project" },
  fmt: { by: "engine", usage: "[files]", help: "Format files" },
  build: { by: "engine", usage: "<entry points>", help: "Bundle files" },
  x: { by: "engine", usage: "<binary> [args]", help: "Run a package's binary, installing it if needed" },
  repl: { by: "rt", usage: "[options]", help: "Start a REPL, with rt, TypeScript and imports" },
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
