// The commands of `rt secrets`: the one list that the command itself, its help, the manual page and completions read.

export interface SecretsCommand {
  /** What follows the command's name. */
  readonly usage: string;
  readonly help: string;
  /** The fewest and the most operands. */
  readonly takes: readonly [number, number];
  readonly hasJson: boolean;
}

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** What its value is called; a switch has none. */
  readonly value?: string;
  readonly help: string;
}

/** What `rt secrets share` does. */
export const SHARE_ACTIONS = ["key", "new-key", "add", "remove", "list", "bind"] as const;

export const SECRETS_COMMANDS = {
  get: { usage: "<service> <name>", help: "Print a value", takes: [2, 2], hasJson: true },
  set: {
    usage: "<service> <name>",
    help: "Store a value, asked for or read from standard input",
    takes: [2, 2],
    hasJson: false,
  },
  delete: { usage: "<service> <name>", help: "Remove a credential", takes: [2, 2], hasJson: true },
  list: {
    usage: "[service]",
    help: "Print the names of the credentials, never their values",
    takes: [0, 1],
    hasJson: true,
  },
  import: {
    usage: "<file> [name...]",
    help: "Move credentials from a file of variables (.env) to the credential store",
    takes: [1, Number.POSITIVE_INFINITY],
    hasJson: false,
  },
  check: {
    usage: "[path...]",
    help: "Look for credentials in plain text, in a project or in what is about to be committed",
    takes: [0, Number.POSITIVE_INFINITY],
    hasJson: true,
  },
  share: {
    usage: SHARE_ACTIONS.join("|"),
    help: "Who reads a file of secrets that is encrypted with age (secrets.age)",
    takes: [1, 3],
    hasJson: true,
  },
  env: {
    usage: "[script]",
    help: "Print which secrets a project's scripts get, where from, and whether they are there",
    takes: [0, 1],
    hasJson: true,
  },
  helper: {
    usage: "<tool> <action>",
    help: "Answer git, docker, AWS' tools and npm, which ask for what is stored",
    takes: [2, 3],
    hasJson: false,
  },
} as const satisfies Readonly<Record<string, SecretsCommand>>;

export type SecretsCommandName = keyof typeof SECRETS_COMMANDS;

/** Options of `rt secrets` and `rt doctor`. */
export const FLAGS: readonly Flag[] = [
  { name: "json", help: "Print JSON" },
  { name: "help", short: "h", help: "Show this help" },
];

/** Of `rt secrets get|set|delete|list` beside those. */
export const ENTRY_FLAGS: readonly Flag[] = [
  ...FLAGS,
  { name: "file", value: "file", help: "An entry of a file that is encrypted with age, not of the store" },
  { name: "config", value: "file", help: "For env: what this file asks for, as rt --config has it" },
];

export interface HelperTool {
  readonly help: string;
  readonly actions: readonly string[];
  /** What follows the action. */
  readonly operand?: string;
}

/** The tools that `rt secrets helper` answers. */
export const HELPERS = {
  git: { help: "Passwords, by git's credential protocol", actions: ["get", "store", "erase"] },
  docker: {
    help: "Logins at registries, as docker-credential-rt",
    actions: ["get", "store", "erase", "list", "version"],
  },
  aws: {
    help: "Access keys, for credential_process",
    actions: ["get", "store", "erase"],
    operand: "<profile>",
  },
  npm: {
    help: "Tokens of registries; header is what pnpm's tokenHelper prints",
    actions: ["get", "header", "store", "erase"],
    operand: "<registry>",
  },
} as const satisfies Readonly<Record<string, HelperTool>>;

export type HelperName = keyof typeof HELPERS;

/** Options of `rt secrets helper`. */
export const HELPER_FLAGS: readonly Flag[] = [
  { name: "install", help: "Make git or docker ask rt" },
  { name: "uninstall", help: "Undo that" },
  { name: "local", help: "For git: in this repository only" },
  { name: "help", short: "h", help: "Show this help" },
];

/** Options of `rt secrets import`. */
export const IMPORT_FLAGS: readonly Flag[] = [
  { name: "script", value: "script", help: "A script that gets what moves; may be given more than once" },
  { name: "service", value: "service", help: "Where to, instead of the project's name" },
  { name: "to", value: "age:file", help: "Into a file that is encrypted with age, not into the store" },
  { name: "all", help: "Move every variable, not only what looks like a credential" },
  { name: "dry-run", help: "Show what would move, and change nothing" },
  { name: "yes", short: "y", help: "Do not ask" },
  { name: "undo", help: "Write what has moved back into the file" },
  { name: "help", short: "h", help: "Show this help" },
];

/** Options of `rt secrets check`. */
export const CHECK_FLAGS: readonly Flag[] = [
  { name: "staged", help: "What git is about to commit, as it would be committed" },
  { name: "json", help: "Print JSON" },
  { name: "install", help: "Make git ask before each commit" },
  { name: "uninstall", help: "Undo that" },
  { name: "help", short: "h", help: "Show this help" },
];

/** Options of `rt secrets share`. */
export const SHARE_FLAGS: readonly Flag[] = [
  { name: "file", value: "file", help: "Another file than secrets.age" },
  { name: "yes", short: "y", help: "For bind: do not ask" },
  { name: "json", help: "Print JSON" },
  { name: "help", short: "h", help: "Show this help" },
];

/** Options of `rt trust`. */
export const TRUST_FLAGS: readonly Flag[] = [
  { name: "config", value: "file", help: "Allow what this file asks for, as rt --config has it" },
  { name: "list", help: "Print what is allowed: folders, the names of secrets, hashes" },
  { name: "remove", help: "Take it back: for this project, or for the folder or hash that is named" },
];

export const SECRETS_EXIT_CODES = {
  0: "Done",
  1: "There is no such credential; check has found some; import's question was answered with no",
  2: "The command line is wrong or the store failed; `rt doctor` looks at it",
  130: "Ctrl-C or Ctrl-D at the question for a value",
} as const;

export const DOCTOR_EXIT_CODES = {
  0: "Nothing stands in the way, and a credential could be stored now",
  1: "Something does, and this is what",
  2: "The command line is wrong, or what it found cannot be written",
} as const;
