// Requires trust before registries get variables of the environment that rtfig.toml or the project's .npmrc names. The engine
// substitutes such variables itself.
//
// Non-obvious:
// - The .npmrc of the home folder needs no consent: it is the user's file, not the project's.
// - A registry's documented variables need no consent for that registry (CONVENTIONAL).
// - Every reference counts, even in a position where the engine does not substitute it.
import type { Config } from "../../config/rtfig.ts";
import type { ServerUse } from "../../config/server-use.ts";
import { host } from "../../../platform/processes/process.ts";
import { quoted } from "../../printable.ts";
import type { Mapping } from "../grants/mapping.ts";
import { consentFor, type Project, sendsSomething } from "../trust/server-consent.ts";
import { requireTrust, withoutLogin } from "../trust/trust.ts";
import { readProjectNpmrc } from "./project-registries.ts";
import { asTable, DEFAULT_URL } from "./registry-tokens.ts";

/** Variables that services document for their registries, by host. */
const CONVENTIONAL: Readonly<Record<string, readonly string[]>> = {
  "registry.npmjs.org": ["NPM_TOKEN", "NODE_AUTH_TOKEN", "NPM_CONFIG_TOKEN"],
  "npm.pkg.github.com": ["GITHUB_TOKEN", "NODE_AUTH_TOKEN"],
};
const REFERENCE = /\$\{?([A-Za-z_]\w*)\}?/g;
const BRACED_REFERENCE = /\$\{([A-Za-z_]\w*)[^}]*\}/g;

/** Returns one consent for all registries of a project's files; undefined if they get no variable. */
export function registryConsent(root: string, project: Project): Mapping | undefined {
  const uses = [...usesOfConfig(project.config), ...usesOfNpmrc(readProjectNpmrc(root))];
  const byServer = new Map<string, Set<string>>();
  for (const { server, names } of uses)
    byServer.set(server, new Set([...(byServer.get(server) ?? []), ...names]));
  const covered = coveredBy(project.mapping);
  const all = [...byServer].map(([server, found]) => {
    const names = [...found].filter((name) => !covered.has(keyOf(server, name)));
    return { server, names, named: names };
  });
  return consentFor(all, { ...project, mapping: undefined, folder: project.mapping?.folder });
}

/** Prompts if the registries are not trusted yet. @throws UserError if trust is denied, or no prompt is possible */
export function requireRegistryConsent(root: string, project: Project): void {
  const { mapping } = project;
  const isSent = (mapping?.registries?.() ?? []).some(({ url, names }) =>
    names.some(
      (name) =>
        host.originalVariable(name) !== undefined && !(CONVENTIONAL[hostOf(url) ?? ""] ?? []).includes(name),
    ),
  );
  if (mapping && isSent) requireTrust(mapping);
  const consent = registryConsent(root, project);
  if (consent && sendsSomething(consent)) requireTrust(consent);
}

/** Returns the registry and variable pairs that the trust record of the project's secrets covers. */
function coveredBy(mapping: Mapping | undefined): Set<string> {
  const grants = mapping?.registries?.() ?? [];
  return new Set(grants.flatMap(({ url, names }) => names.map((name) => keyOf(labelOf(url), name))));
}

/** Compares by host: .npmrc has logins without a scheme, and for parent paths of a registry. */
function keyOf(server: string, name: string): string {
  return `${/\/\/([^/]+)/.exec(server)?.[1] ?? server}\0${name}`;
}

function usesOfConfig(config: Config | undefined): ServerUse[] {
  const { registry, scopes = {} } = config?.content.install ?? {};
  return [registry, ...Object.values(scopes)].flatMap((each) => {
    const table = asTable(each);
    const written = table.url ?? DEFAULT_URL;
    // The registry's address is itself a variable.
    const [whole, variable] = /^\$\{?(\w+)\}?$/.exec(written) ?? [];
    const url = variable === undefined ? written : (host.originalVariable(variable) ?? written);
    const texts = [table.token, table.username, table.password, whole === undefined ? written : ""];
    return useOf(labelOf(url), hostOf(url), namesIn(texts, REFERENCE));
  });
}

function usesOfNpmrc(text: string): ServerUse[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, key = "", value = ""] = /^\s*([^#;=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    const names = namesIn([key, value], BRACED_REFERENCE);
    const [, address] = /^(\/\/.*\/):[^/]*$/.exec(key) ?? [];
    if (address !== undefined) return useOf(labelOf(`https:${address}`), hostOf(`https:${address}`), names);
    // The value is shown only for a registry's address: other values may be passwords.
    const label = quoted(/registry$/.test(key) ? `${key}=${value}` : key);
    return useOf(`a server by ${label} in .npmrc`, undefined, names);
  });
}

function useOf(server: string, hostname: string | undefined, names: readonly string[]): ServerUse[] {
  const conventional = CONVENTIONAL[hostname ?? ""] ?? [];
  const asked = [...new Set(names)].filter((name) => !conventional.includes(name)).sort();
  return asked.length > 0 ? [{ server, names: asked, named: asked }] : [];
}

function namesIn(texts: readonly unknown[], reference: RegExp): string[] {
  return texts.flatMap((text) =>
    typeof text === "string" ? [...text.matchAll(reference)].map(([, name]) => name!) : [],
  );
}

function labelOf(url: string): string {
  return `the registry ${URL.canParse(url) ? withoutLogin(url) : quoted(url)}`;
}

function hostOf(text: string): string | undefined {
  const url = URL.parse(text);
  return url?.protocol === "https:" ? url.host : undefined;
}
