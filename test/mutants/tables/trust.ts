// A project, user or server gets what the user has not allowed.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/secrets/trust/trust.ts": [
    {
      fault: "whether values may be shown is not part of the consent",
      text: "[name, asList(source), isRedacted] as const",
      becomes: "[name, asList(source)] as const",
      tests: ["secrets/grants/trust"],
    },
    {
      fault: "the registry is not part of the consent",
      text: "...(registries.length > 0 && {",
      becomes: "...(registries.length < 0 && {",
      tests: ["secrets/registry-tokens"],
    },
    {
      fault: "a consent is valid in every folder",
      text: `version: 1,
    folder,`,
      becomes: "version: 1,",
      tests: ["secrets/grants/trust"],
    },
    {
      fault: "the addresses are not part of the consent",
      text: `return [source.kind, source.service, source.name];
    case "command":`,
      becomes: `return [source.kind];
    case "command":`,
      tests: ["secrets/grants/trust"],
    },
    {
      fault: `"no" counts as "yes"`,
      text: `if (!askYes("Allow it?"))`,
      becomes: `if (askYes("Allow it?") === undefined)`,
      tests: ["secrets/grants/trust"],
    },
  ],
  "src/secrets/trust/trust-variable.ts": [
    {
      fault: "a .env file allows a project",
      text: "host.originalVariable(TRUST_VARIABLE)",
      becomes: "process.env[TRUST_VARIABLE]",
      tests: ["secrets/grants/trust"],
    },
    {
      fault: "a prefix of the hash is a consent",
      text: "each.trim() === hash",
      becomes: "each.trim() !== '' && hash.startsWith(each.trim())",
      tests: ["secrets/grants/trust"],
    },
  ],
  "src/secrets/grants/secret-provisioning.ts": [
    {
      fault: "a project reads secrets without consent",
      text: `if (mapping && absent.length > 0) requireTrust(mapping, "scripts");`,
      becomes: "void requireTrust;",
      tests: ["secrets/grants/trust"],
    },
  ],
  "platform/files/state-directory.ts": [
    {
      fault: "a consent in a file that others can write is used",
      text: "(Number(mode) & (WRITABLE_BY_GROUP | WRITABLE_BY_ALL)) !== 0)",
      becomes: "false)",
      tests: ["secrets/grants/trust"],
    },
    {
      fault: "a consent below a directory that others can write is used",
      text: "if (uid !== process.getuid!() || isOpen)",
      becomes: "if (uid !== process.getuid!())",
      tests: ["secrets/grants/trust"],
    },
    {
      fault: "a consent of another user is used",
      text: "if (uid !== process.getuid!() || (Number(mode) & (WRITABLE_BY_GROUP",
      becomes: "if ((Number(mode) & (WRITABLE_BY_GROUP",
      tests: ["secrets/grants/trust"],
    },
  ],
  "src/config/root-project.ts": [
    {
      fault: "a dependency's rtfig.toml is used",
      text: String.raw`if (/[\\/]node_modules(?:[\\/]|$)/.test(here)) return undefined;`,
      becomes: "",
      tests: ["secrets/grants/root-project"],
    },
  ],
  "src/secrets/grants/command-source.ts": [
    {
      fault: "a command is searched in the project's folder",
      text: `Bun.which(name, { PATH: host.originalVariable("PATH") ?? "" })`,
      becomes: `Bun.which(name, { PATH: folder + ":" + (host.originalVariable("PATH") ?? "") })`,
      tests: ["secrets/grants/values", "secrets/grants/scripts"],
    },
    {
      fault: "the output of a failed command is used as a value",
      text: "if (exitCode !== 0) return",
      becomes: "if (exitCode === -1) return",
      tests: ["secrets/grants/values"],
    },
  ],
  "src/secrets/registries/tool-config.ts": [
    {
      fault: "a registry gets a token without consent",
      text: "requireTrust(withRegistries(mapping, wanted));",
      becomes: "void requireTrust;",
      tests: ["secrets/registry-tokens", "config/registries"],
    },
  ],
  "src/secrets/scan/git.ts": [
    {
      fault: "settings of a repository start a program during a check",
      text: `"-c", "core.fsmonitor=false",`,
      becomes: "",
      tests: ["secrets/scan/scan"],
    },
  ],
  "platform/files/private-file.ts": [
    {
      fault: "XDG_RUNTIME_DIR of a .env file is used",
      text: `host.originalVariable("XDG_RUNTIME_DIR") || temporary`,
      becomes: "process.env.XDG_RUNTIME_DIR || temporary",
      tests: ["runner/path-ownership", "runner/read-only", "cli/environment-files", "runtime/own-variables"],
    },
    {
      fault: "a directory that is a symbolic link is used",
      text: "const { uid, mode } = readOwner(directory) ?? make(directory);",
      becomes: `const { uid, mode } = (require("node:fs") as typeof import("node:fs")).statSync(directory, { throwIfNoEntry: false }) ?? make(directory);`,
      tests: ["runner/path-ownership"],
    },
  ],
  "src/cli/upgrade/command.ts": [
    {
      fault: "an upgrade accepts an unsigned release",
      text: "if (sha256 === undefined && RELEASE_KEYS.length === 0)",
      becomes: "if (sha256 === null)",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "an upgrade accepts a wrong checksum",
      text: "if (actual !== sum)",
      becomes: "if (false)",
      tests: ["upgrade/upgrade"],
    },
  ],
  "src/cli/upgrade/release.ts": [
    {
      fault: "an upgrade accepts the signature of another comment",
      text: String.raw`/^rt (\d+\.\d+\.\d+\S*)$/`,
      becomes: String.raw`/rt (\d+\.\d+\.\d+\S*)/`,
      tests: ["upgrade/refusals"],
    },
  ],
  "src/csrf/token.ts": [
    {
      fault: "a second encoding of a CSRF token is valid",
      text: "&& token.toString(encoding, 0, length) === text",
      becomes: "",
      tests: ["csrf/token", "csrf/adversarial"],
    },
    {
      fault: "CSRF signatures are not compared in constant time",
      text: "return crypto.timingSafeEqual(actual, expected);",
      becomes: "return actual.every((byte, index) => byte === expected[index]);",
      tests: ["csrf/token", "csrf/csrf"],
    },
    {
      fault: "a CSRF token is valid for other sessions",
      text: "if (sessionId !== undefined) keyed.update(sessionId);",
      becomes: "",
      tests: ["csrf/csrf"],
    },
    {
      fault: "two CSRF tokens have the same nonce",
      text: "memory.poolOffset += NONCE_BYTES;",
      becomes: "",
      tests: ["csrf/token", "csrf/csrf"],
    },
  ],
  "src/csrf/csrf.ts": [
    {
      fault: "the maximum age of a CSRF token is ignored",
      text: "(maxAge === 0 || age <= maxAge)",
      becomes: "true",
      tests: ["csrf/clock", "csrf/csrf"],
    },
  ],
} satisfies MutantTable;
