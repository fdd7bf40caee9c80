// The guides: pages of docs/ that the program carries with it. `rt help`, completions, the index of docs/ and the
// build, which embeds the pages, read this table.

export interface Guide {
  /** A file of docs/. */
  readonly page: string;
  readonly help: string;
}

export const GUIDES: Readonly<Record<string, Guide>> = {
  // No prototype: "constructor" is no guide.
  __proto__: null as never,
  scripts: { page: "scripts.md", help: "What a name means, hooks, arguments" },
  watching: { page: "watching.md", help: "What starts a script again, and what is left alone" },
  caching: { page: "caching.md", help: "Scripts that are not run again when nothing has changed" },
  remote: { page: "remote.md", help: "Scripts on a server of the Remote Execution API" },
  workspaces: { page: "workspaces.md", help: "A script in every package, in order or at once" },
  looking: { page: "looking.md", help: "Picking a script, a page of a run, a picture of a plan" },
  secrets: { page: "secrets.md", help: "The credential store, from code and the command line" },
  "secrets-in-scripts": {
    page: "secrets-in-scripts.md",
    help: "Tokens for scripts from the credential store, instead of .env",
  },
  "moving-in": { page: "moving-in.md", help: "From .env files to the credential store, and back" },
  csrf: { page: "csrf.md", help: "Signed, expiring tokens for forms" },
  debugging: { page: "debugging.md", help: "VS Code and other debuggers, profiles" },
  ci: { page: "ci.md", help: "CI servers, containers and other machines without a desktop" },
  security: { page: "security.md", help: "Whom rt trusts, what it reads, what it does not promise" },
  configuration: { page: "configuration.md", help: "Every key of rtfig.toml" },
  tools: { page: "tools.md", help: "Vite, Next, esbuild, eslint and others, and programs made with rt" },
  differences: { page: "differences.md", help: "Where rt is not as stock Bun, and what no option can do" },
  errors: { page: "errors.md", help: "Error codes and exit codes" },
  migration: { page: "migration.md", help: "Each command of bun, npm, pnpm, Deno, keytar beside ours" },
};
