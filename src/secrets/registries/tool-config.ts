// `rt install`, `rt publish` and their like with registries whose tokens are in [secrets] of rtfig.toml: the engine gets a
// configuration that has them.
//
// Invariants:
// - The store is not asked for a value that the environment has.
// - A person has allowed all that the project asks for, and with it which registry gets which variable, by its address. This
//   includes variables of the environment: registry-consent.ts.
// - The tokens are in no variable, so that neither the scripts of packages nor the project's own inherit them. They are in
//   memory that only the engine reads: platform/files/ephemeral-file.ts.
//
// Surprising: that is no wall. A script of a package runs as the same user, and can look into the process that has started
// it, or ask the credential store itself; what it cannot do is to find a token lying in its environment.
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
import { takesCredentials } from "./asking-tools.ts";
import { readNpmrcs, toGrants } from "./project-registries.ts";
import { requireRegistryConsent } from "./registry-consent.ts";
import { fillRegistries, findRegistryUses, type RegistryUse } from "./registry-tokens.ts";
import { reportLine } from "../../output.ts";

/**
 * A configuration for the engine alone; undefined where the engine finds all that it needs by itself. Throws
 * Failure.
 * @param directory absolute
 */
export async function configWithTokens(
  tool: string,
  config: Config | undefined,
  directory: string,
): Promise<EphemeralFile | undefined> {
  const mapping = findMapping(directory, config);
  const root = findRoot(directory) ?? directory;
  requireRegistryConsent(root, { mapping, config, directory });
  if (!takesCredentials(tool)) return undefined;
  if (!mapping || mapping.secrets.size === 0) return undefined;
  const content = config?.content ?? {};
  const uses = findRegistryUses(content, readNpmrcs(root));
  const wanted = uses.filter((use) => secretsOf(use, mapping).length > 0);
  if (wanted.length === 0) return undefined;
  if (!ephemeralFiles.supportsEphemeralFiles()) {
    const names = [...new Set(wanted.flatMap((use) => secretsOf(use, mapping)))].map(({ name }) => name);
    reportLine(
      `warning: ${names.join(", ")}: on this system, rt ${tool} has them from the environment alone`,
    );
    return undefined;
  }
  requireTrust(withRegistries(mapping, wanted));
  const secrets = [...new Set(wanted.flatMap((use) => secretsOf(use, mapping)))];
  const { values, lacking } = await fetchSecrets(secrets, mapping.folder);
  try {
    const missing = lacking.filter(({ secret }) => !secret.isOptional);
    if (missing.length > 0) throw missingFailure(missing);
    const texts = [...values].map(([name, value]) => [name, new TextDecoder().decode(value)] as const);
    const filled = fillRegistries(content, wanted, new Map([...inherited(wanted), ...texts]));
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

/** Of those that a registry mentions, the ones that the environment does not have and [secrets] does. */
function secretsOf(use: RegistryUse, mapping: Mapping): MappedSecret[] {
  return namesOf(use).flatMap((name) =>
    host.originalVariable(name) === undefined ? (mapping.secrets.get(name) ?? []) : [],
  );
}

function inherited(uses: readonly RegistryUse[]): (readonly [string, string])[] {
  return uses.flatMap(namesOf).flatMap((name) => {
    const value = host.originalVariable(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** What was just read is what is allowed, even if a file has been changed since the mapping was made. */
function withRegistries(mapping: Mapping, uses: readonly RegistryUse[]): Mapping {
  const known = mapping.registries?.() ?? [];
  const added = toGrants(uses, mapping.secrets).filter(
    (each) => !known.some((other) => Bun.deepEquals(other, each)),
  );
  return added.length === 0 ? mapping : { ...mapping, registries: () => [...known, ...added] };
}
