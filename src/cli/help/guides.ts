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
  caching: { page: "guides/caching.md", help: "Cache script results; declare variables and outputs" },
  "shared-cache": {
    page: "guides/shared-cache.md",
    help: "Share the cache with others and CI; run a cache server",
  },
  remote: { page: "guides/remote.md", help: "Run scripts on a Remote Execution API server" },
  workspaces: {
    page: "guides/workspaces.md",
    help: "Run scripts in many packages: filters, order, concurrency",
  },
  tasks: { page: "guides/tasks.md", help: "Declare tasks: dependencies, timeouts, retries, locks, commands" },
  services: { page: "guides/services.md", help: "Run services while other tasks need them" },
  permissions: {
    page: "guides/permissions.md",
    help: "Limit what tasks can read, write and connect to (Linux)",
  },
  "learned-permissions": {
    page: "guides/learned-permissions.md",
    help: "Learn the permissions that a task needs, and explain refusals",
  },
  "install-scripts": {
    page: "guides/install-scripts.md",
    help: "Limit what install scripts of dependencies can do (Linux)",
  },
  looking: { page: "guides/looking.md", help: "Script picker, run reports, plan graphs, `rt doctor`" },
  secrets: { page: "guides/secrets/secrets.md", help: "Store and read credentials: command line and API" },
  "credential-helpers": {
    page: "guides/secrets/credential-helpers.md",
    help: "Give git, docker, AWS tools and npm their passwords",
  },
  "secrets-in-scripts": {
    page: "guides/secrets/secrets-in-scripts.md",
    help: "Pass secrets to scripts: sources and grants",
  },
  "project-trust": {
    page: "guides/secrets/project-trust.md",
    help: "Allow a project to read secrets, and its servers to get variables",
  },
  "registry-tokens": {
    page: "guides/secrets/registry-tokens.md",
    help: "Give npm and other registries their tokens: rt install, rt publish",
  },
  redaction: { page: "guides/secrets/redaction.md", help: "Redact the values of secrets in output" },
  "moving-in": {
    page: "guides/secrets/moving-in.md",
    help: "Migrate .env files to the credential store, and back",
  },
  "encrypted-file": {
    page: "guides/secrets/encrypted-file.md",
    help: "Share secrets in a file that is encrypted with age",
  },
  csrf: { page: "guides/csrf.md", help: "Generate and verify CSRF tokens" },
  debugging: { page: "guides/debugging.md", help: "Debug with VS Code, Chrome DevTools and others; profile" },
  ci: { page: "guides/ci.md", help: "Use rt in CI and containers" },
  "several-machines": {
    page: "guides/several-machines.md",
    help: "Split a run over several machines: --shard, --share",
  },
  security: { page: "reference/security.md", help: "Threat model, files and variables that rt reads" },
  configuration: { page: "reference/configuration.md", help: "rtfig.toml reference" },
  tools: { page: "reference/tools.md", help: "Compatibility with Vite, Next.js, esbuild, ESLint and others" },
  differences: { page: "reference/differences.md", help: "Differences from Bun; options without effect" },
  "secret-stores": {
    page: "reference/secrets.md",
    help: "Limits, errors and entries of each system's credential store",
  },
  debugger: { page: "reference/debugger.md", help: "Differences of the debugger from Node.js" },
  "cache-details": {
    page: "reference/cache.md",
    help: "What counts as an input of a cached script; variables; tools",
  },
  "permission-details": {
    page: "reference/permissions.md",
    help: "Variables and folders of a task with permissions; other programs",
  },
  errors: { page: "reference/errors.md", help: "Error codes and exit codes" },
  import: { page: "guides/import.md", help: "Move from turbo, nx or pnpm: rt cache import" },
  migration: { page: "guides/migration.md", help: "Migrate from bun, npm, pnpm, Deno or keytar" },
};
