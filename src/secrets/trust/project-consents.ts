// Everything that a project's files ask a person to allow: its secrets, and what servers and registries get.
import { findRoot } from "../../config/root-project.ts";
import type { Config } from "../../config/rtfig.ts";
import type { FindServerUses } from "../../config/server-use.ts";
import { registryConsent } from "../registries/registry-consent.ts";
import { findMapping } from "../grants/mapping-file.ts";
import type { Mapping } from "../grants/mapping.ts";
import { consentFor } from "./server-consent.ts";

export interface ProjectConsents {
  /** Undefined if rtfig.toml has nothing of secrets. */
  readonly mapping: Mapping | undefined;
  /** Each is asked for, and allowed, by itself. */
  readonly servers: readonly Mapping[];
}

/** @param config that of the working directory, or the one that --config names. Throws Failure, PackageJsonError. */
export function findConsents(config: Config | undefined, findUses: FindServerUses): ProjectConsents {
  const directory = process.cwd();
  const mapping = findMapping(directory, config);
  const project = { mapping, config, directory };
  const servers = [
    ...findUses(config).map((use) => consentFor([use], project)),
    registryConsent(findRoot(directory) ?? directory, project),
  ];
  return { mapping, servers: servers.filter((each) => each !== undefined) };
}
