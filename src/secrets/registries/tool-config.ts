// Creates the engine's configuration for `rt install`, `rt publish` and similar commands, with registry tokens of [secrets].
//
// Invariants:
// - A value in the environment is not fetched from the store.
// - The user has trusted the project's secrets and the registry of each variable, even if it is set in the environment.
// - Tokens are in no variable, so that package scripts do not inherit them. They are in an ephemeral file for the engine only.
// - Secrets in the environment are removed from it, also those of a script that starts the command. Variables that a registry's
//   configuration references remain: the engine substitutes them itself.
//
// Non-obvious: this is not a sandbox. A package script runs as the same user, so it can inspect its parent process or read the
// credential store. It only cannot find a token in its environment.
import type { EphemeralFile } from "../../../platform/files/contract/ephemeral-file.ts";
import { ephemeralFiles } from "../../../platform/files/ephemeral-file.ts";
import { host } from "../../../platform/processes/process.ts";
import { findRoot } from "../../config/root-project.ts";
import type { Config } from "../../config/rtfig.ts";
import { fetchSecrets } from "../grants/secret-fetch.ts";
import { findMapping } from "../grants/mapping-file.ts";
import type { MappedSecret, Mapping } from "../grants/mapping.ts";
import { missingFailure } from "../grants/missing-secrets.ts";
import { requireTrust } from "../trust/trust.ts";
import { runsProgram, takesCredentials } from "./registry-commands.ts";
import { readNpmrcs, toGrants } from "./project-registries.ts";
import { requireRegistryConsent } from "./registry-consent.ts";
import { fillRegistries, findRegistryUses, type RegistryUse } from "./registry-tokens.ts";
import { reportLine } from "../../output.ts";

export interface RegistryAccess {
  /** The configuration; undefined if the engine needs no token of [secrets]. */
  readonly file: EphemeralFile | undefined;
  /** Variables that the engine, and the package scripts that it runs, must not inherit. */
  readonly withheld: readonly string[];
}

/**
 * @param directory absolute path
 * @throws UserError
 */
export async function openRegistryAccess(
  tool: string,
  config: Config | undefined,
  directory: string,
): Promise<RegistryAccess> {
  const mapping = findMapping(directory, config);
  const root = findRoot(directory) ?? directory;
  requireRegistryConsent(root, { mapping, config, directory });
  if (!mapping || mapping.secrets.size === 0 || runsProgram(tool)) return { file: undefined, withheld: [] };
  const uses = findRegistryUses(config?.content ?? {}, readNpmrcs(root));
  const kept = new Set(uses.flatMap(namesOf));
  const withheld = [...mapping.secrets.keys()].filter((name) => !kept.has(name));
  const file = takesCredentials(tool) ? await configWithTokens(tool, config, mapping, uses) : undefined;
  return { file, withheld };
}

async function configWithTokens(
  tool: string,
  config: Config | undefined,
  mapping: Mapping,
  uses: readonly RegistryUse[],
): Promise<EphemeralFile | undefined> {
  const content = config?.content ?? {};
  const wanted = uses.filter((use) => secretsOf(use, mapping).length > 0);
  if (wanted.length === 0) return undefined;
  if (!ephemeralFiles.supportsEphemeralFiles()) {
    const names = [...new Set(wanted.flatMap((use) => secretsOf(use, mapping)))].map(({ name }) => name);
    reportLine(
      `warning: ${names.join(", ")}: on this system, rt ${tool} reads them from the environment only`,
    );
    return undefined;
  }
  requireTrust(withRegistries(mapping, wanted));
  const secrets = [...new Set(wanted.flatMap((use) => secretsOf(use, mapping)))];
  const { values, missing } = await fetchSecrets(secrets, mapping.folder);
  try {
    const required = missing.filter(({ secret }) => !secret.isOptional);
    if (required.length > 0) throw missingFailure(required);
    const texts = [...values].map(([name, value]) => [name, new TextDecoder().decode(value)] as const);
    const filled = fillRegistries(content, wanted, new Map([...valuesInEnvironment(wanted), ...texts]));
    const bytes = new TextEncoder().encode(JSON.stringify(filled));
    try {
      return ephemeralFiles.createEphemeralFile(bytes);
    } finally {
      bytes.fill(0);
    }
  } finally {
    for (const value of values.values()) value.fill(0);
  }
}

function namesOf({ variables }: RegistryUse): string[] {
  return Object.values(variables);
}

/** Returns the secrets that a registry references and the environment does not have. */
function secretsOf(use: RegistryUse, mapping: Mapping): MappedSecret[] {
  return namesOf(use).flatMap((name) =>
    host.originalVariable(name) === undefined ? (mapping.secrets.get(name) ?? []) : [],
  );
}

function valuesInEnvironment(uses: readonly RegistryUse[]): (readonly [string, string])[] {
  return uses.flatMap(namesOf).flatMap((name) => {
    const value = host.originalVariable(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** Adds the registries as just read, so that trust covers a file that changed after the mapping was created (TOCTOU). */
function withRegistries(mapping: Mapping, uses: readonly RegistryUse[]): Mapping {
  const registries = mapping.registries?.() ?? [];
  const added = toGrants(uses, mapping.secrets).filter(
    (each) => !registries.some((other) => Bun.deepEquals(other, each)),
  );
  return added.length === 0 ? mapping : { ...mapping, registries: () => [...registries, ...added] };
}
