// Collects all consents that a project's files need: its secrets, and the variables that servers and registries get.
import { findRoot } from "../../config/root-project.ts";
import type { Config } from "../../config/rtfig.ts";
import type { FindServerUses } from "../../config/server-use.ts";
import { registryConsent } from "../registries/registry-consent.ts";
import { findMapping } from "../grants/mapping-file.ts";
import type { Mapping } from "../grants/mapping.ts";
import { permissionConsent } from "./permission-consent.ts";
import { consentFor } from "./server-consent.ts";

export interface ProjectConsents {
  /** Undefined if rtfig.toml has no secrets. */
  readonly mapping: Mapping | undefined;
  /** Each has a separate trust prompt and record. */
  readonly servers: readonly Mapping[];
}

/** @param config the rtfig.toml of the working directory, or the file of --config @throws UserError, PackageJsonError */
export function findConsents(config: Config | undefined, findUses: FindServerUses): ProjectConsents {
  const directory = process.cwd();
  const mapping = findMapping(directory, config);
  const project = { mapping, config, directory };
  const servers = [
    ...findUses(config).map((use) => consentFor([use], project)),
    registryConsent(findRoot(directory) ?? directory, project),
    permissionConsent(config, findRoot(directory) ?? directory),
  ];
  return { mapping, servers: servers.filter((each) => each !== undefined) };
}
