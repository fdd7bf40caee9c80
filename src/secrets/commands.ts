// Lists the subcommands and options of `rt secrets`, for the argument parser, the help, the manual page and shell completions.

export interface SecretsCommand {
  /** Operands, as the help shows them. */
  readonly usage: string;
  readonly help: string;
  /** Minimum and maximum number of operands. */
  readonly takes: readonly [number, number];
  readonly hasJson: boolean;
}

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value; undefined for a switch. */
  readonly value?: string;
  readonly help: string;
}

export const SHARE_ACTIONS = ["key", "new-key", "add", "remove", "list", "bind"] as const;

export const SECRETS_COMMANDS = {
  get: { usage: "<service> <name>", help: "Print a credential", takes: [2, 2], hasJson: true },
  set: {
    usage: "<service> <name>",
    help: "Store a credential from a prompt or standard input",
    takes: [2, 2],
    hasJson: false,
  },
  delete: { usage: "<service> <name>", help: "Delete a credential", takes: [2, 2], hasJson: true },
  list: {
    usage: "[service]",
    help: "List credential names (never values)",
    takes: [0, 1],
    hasJson: true,
  },
  import: {
    usage: "<file> [name...]",
    help: "Move credentials from an env file to the credential store",
    takes: [1, Number.POSITIVE_INFINITY],
    hasJson: false,
  },
  check: {
    usage: "[path...]",
    help: "Scan the project, or staged changes, for plaintext credentials",
    takes: [0, Number.POSITIVE_INFINITY],
    hasJson: true,
  },
  share: {
    usage: SHARE_ACTIONS.join("|"),
    help: "Manage recipients of an age-encrypted secrets file",
    takes: [1, 3],
    hasJson: true,
  },
  env: {
    usage: "[script]",
    help: "Show which scripts get which secrets, their sources and status",
    takes: [0, 1],
    hasJson: true,
  },
  helper: {
    usage: "<tool> <action>",
    help: "Act as a credential helper for git, docker, AWS and npm",
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

/** Options of `rt secrets get|set|delete|list|env`. */
export const ENTRY_FLAGS: readonly Flag[] = [
  ...FLAGS,
  { name: "file", value: "file", help: "Use an age-encrypted file instead of the credential store" },
  { name: "config", value: "file", help: "For env: read this configuration file" },
];

export interface HelperTool {
  readonly help: string;
  readonly actions: readonly string[];
  /** Placeholder of the operand after the action. */
  readonly operand?: string;
}

/** Tools that can use rt as their credential helper. */
export const HELPERS = {
  git: { help: "Passwords (git credential protocol)", actions: ["get", "store", "erase"] },
  docker: {
    help: "Registry logins (docker-credential-rt)",
    actions: ["get", "store", "erase", "list", "version"],
  },
  aws: {
    help: "Access keys (credential_process)",
    actions: ["get", "store", "erase"],
    operand: "<profile>",
  },
  npm: {
    help: "Registry tokens; header prints the form of pnpm's tokenHelper",
    actions: ["get", "header", "store", "erase"],
    operand: "<registry>",
  },
} as const satisfies Readonly<Record<string, HelperTool>>;

export type HelperName = keyof typeof HELPERS;

/** Options of `rt secrets helper`. */
export const HELPER_FLAGS: readonly Flag[] = [
  { name: "install", help: "Register rt as git's or docker's credential helper" },
  { name: "uninstall", help: "Unregister rt as git's or docker's credential helper" },
  { name: "local", help: "For git: in this repository only" },
  { name: "help", short: "h", help: "Show this help" },
];

/** Options of `rt secrets import`. */
export const IMPORT_FLAGS: readonly Flag[] = [
  { name: "script", value: "script", help: "Grant the moved secrets to this script; repeatable" },
  { name: "service", value: "service", help: "Set the service name (default: the project's name)" },
  { name: "to", value: "age:file", help: "Write to an age-encrypted file instead of the store" },
  { name: "all", help: "Move every variable, not only likely credentials" },
  { name: "dry-run", help: "Show the plan and change nothing" },
  { name: "yes", short: "y", help: "Skip the confirmation prompt" },
  { name: "undo", help: "Restore moved values to the env file" },
  { name: "help", short: "h", help: "Show this help" },
];

/** Options of `rt secrets check`. */
export const CHECK_FLAGS: readonly Flag[] = [
  { name: "staged", help: "Scan staged changes only" },
  { name: "json", help: "Print JSON" },
  { name: "install", help: "Install the git pre-commit hook" },
  { name: "uninstall", help: "Remove the git pre-commit hook" },
  { name: "help", short: "h", help: "Show this help" },
];

/** Options of `rt secrets share`. */
export const SHARE_FLAGS: readonly Flag[] = [
  { name: "file", value: "file", help: "Set the file (default: secrets.age)" },
  { name: "yes", short: "y", help: "For bind: skip the confirmation prompt" },
  { name: "json", help: "Print JSON" },
  { name: "help", short: "h", help: "Show this help" },
];

export const TRUST_FLAGS: readonly Flag[] = [
  { name: "config", value: "file", help: "Trust this configuration file" },
  { name: "list", help: "List trusted projects, their secrets and hashes" },
  { name: "remove", help: "Revoke trust for this project, or for a folder or hash" },
];

export const SECRETS_EXIT_CODES = {
  0: "Done",
  1: "Credential not found; check found leaks; import was declined",
  2: "Usage error or credential store failure (see rt doctor)",
  130: "Ctrl-C or Ctrl-D at a prompt",
} as const;

export const DOCTOR_EXIT_CODES = {
  0: "No problems found",
  1: "At least one problem found",
  2: "Usage error, or the report cannot be written",
} as const;
