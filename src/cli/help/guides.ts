// Lists the guides: pages of docs/ that are embedded in the executable. `rt help`, the completions, the index of docs/ and the
// build read this table.

export interface Guide {
  /** Path in docs/. */
  readonly page: string;
  readonly help: string;
}

export const GUIDES: Readonly<Record<string, Guide>> = {
  // Without a prototype, "constructor" is not a guide.
  __proto__: null as never,
  scripts: {
    page: "guides/scripts.md",
    help: "Run files, scripts and binaries: name resolution, hooks, arguments",
  },
  watching: { page: "guides/watching.md", help: "Restart on file changes: watched and ignored files" },
  caching: { page: "guides/caching.md", help: "Cache script results; share the cache; run a cache server" },
  remote: { page: "guides/remote.md", help: "Run scripts on a Remote Execution API server" },
  workspaces: {
    page: "guides/workspaces.md",
    help: "Run scripts in many packages: filters, order, concurrency",
  },
  tasks: { page: "guides/tasks.md", help: "Declare tasks: dependencies, timeouts, retries, locks, commands" },
  permissions: {
    page: "guides/permissions.md",
    help: "Limit what tasks can read, write and connect to (Linux)",
  },
  looking: { page: "guides/looking.md", help: "Script picker, run reports, plan graphs, `rt doctor`" },
  secrets: { page: "guides/secrets.md", help: "Store and read credentials: API and command line" },
  "secrets-in-scripts": {
    page: "guides/secrets-in-scripts.md",
    help: "Pass secrets to scripts; redaction; trust",
  },
  "moving-in": { page: "guides/moving-in.md", help: "Migrate .env files to the credential store, and back" },
  csrf: { page: "guides/csrf.md", help: "Generate and verify CSRF tokens" },
  debugging: { page: "guides/debugging.md", help: "Debug with VS Code, Chrome DevTools and others; profile" },
  ci: { page: "guides/ci.md", help: "Use rt in CI and containers" },
  security: { page: "reference/security.md", help: "Threat model, files and variables that rt reads" },
  configuration: { page: "reference/configuration.md", help: "rtfig.toml reference" },
  tools: { page: "reference/tools.md", help: "Compatibility with Vite, Next.js, esbuild, ESLint and others" },
  differences: { page: "reference/differences.md", help: "Differences from Bun; options without effect" },
  errors: { page: "reference/errors.md", help: "Error codes and exit codes" },
  migration: { page: "guides/migration.md", help: "Migrate from bun, npm, pnpm, Deno or keytar" },
};
