// Finds the registries whose credentials are references to variables: in rtfig.toml ("$NPM_TOKEN") and .npmrc
// ("${NPM_TOKEN}"), with the address that receives them.
//
// Invariants:
// - Pure functions. Only a value that is exactly one reference counts; the engine reads all other values.
// - Precedence as in the engine: rtfig.toml, then the project's .npmrc, then the .npmrc of the home folder.
import type { ConfigContent, ConfigSection } from "../../config/config-content.ts";
import type { TomlTable } from "../../config/toml-table.ts";

export interface RegistryUse {
  /** Scope without "@"; undefined for the default registry. */
  readonly scope: string | undefined;
  readonly url: string;
  /** Names of the variables, by kind of credential. */
  readonly variables: Readonly<Partial<Record<RegistryCredential, string>>>;
}

export type RegistryTable = NonNullable<ConfigSection<"install">["registry"]>;

export type RegistryCredential = "token" | "username" | "password";

const CREDENTIALS: readonly RegistryCredential[] = ["token", "username", "password"];
export const DEFAULT_URL = "https://registry.npmjs.org/";

/** @param npmrcs texts of .npmrc files in order of precedence */
export function findRegistryUses(config: ConfigContent, npmrcs: readonly string[]): RegistryUse[] {
  const settings = npmrcs
    .toReversed()
    .reduce((all, text) => new Map([...all, ...readNpmrc(text)]), new Map<string, string>());
  const { registry, scopes = {} } = config.install ?? {};
  const names = new Set([
    ...Object.keys(scopes).map((scope) => scope.replace(/^@/, "")),
    ...[...settings.keys()].flatMap((key) => /^@([^:]+):registry$/.exec(key)?.[1] ?? []),
  ]);
  const uses = [
    useOf(undefined, registry, settings.get("registry") ?? DEFAULT_URL, settings),
    ...[...names].map((scope) =>
      useOf(scope, scopes[scope] ?? scopes[`@${scope}`], settings.get(`@${scope}:registry`), settings),
    ),
  ];
  return uses.filter((use) => use !== undefined && Object.keys(use.variables).length > 0) as RegistryUse[];
}

/** A registry may be its URL alone. */
export function asTable(registry: RegistryTable = {}): Exclude<RegistryTable, string> {
  return typeof registry === "string" ? { url: registry } : registry;
}

function useOf(
  scope: string | undefined,
  configured: RegistryTable | undefined,
  fallback: string | undefined,
  settings: ReadonlyMap<string, string>,
): RegistryUse | undefined {
  const table = asTable(configured);
  const url = table.url ?? fallback;
  if (url === undefined || !URL.canParse(url)) return undefined;
  const variables: Partial<Record<RegistryCredential, string>> = {};
  for (const each of CREDENTIALS) {
    const name = referencedVariable(table[each]);
    if (name !== undefined) variables[each] = name;
  }
  // Credentials in rtfig.toml replace those of .npmrc.
  if (CREDENTIALS.some((each) => table[each] !== undefined)) return { scope, url, variables };
  const token = referencedVariable(loginFor(url, settings));
  return { scope, url, variables: token === undefined ? {} : { token } };
}

/** Returns the token of the longest matching "//host/path/:_authToken". */
function loginFor(url: string, settings: ReadonlyMap<string, string>): string | undefined {
  const { host, pathname } = new URL(url);
  const parts = pathname.split("/").filter((part) => part !== "");
  for (let count = parts.length; count >= 0; count--) {
    const path = ["", ...parts.slice(0, count), ""].join("/");
    const login =
      settings.get(`//${host}${path}:_authToken`) ?? settings.get(`//${host}${path.slice(0, -1)}:_authToken`);
    if (login !== undefined) return login;
  }
  return undefined;
}

function referencedVariable(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const [, braced, bare] = /^\$(?:\{(\w+)\}|(\w+))$/.exec(value) ?? [];
  return braced ?? bare;
}

function readNpmrc(text: string): Map<string, string> {
  return new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const [, key, value] = /^\s*([^#;=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      return key === undefined ? [] : [[key, value!.replace(/^(["'])(.*)\1$/, "$2")] as const];
    }),
  );
}

/** Returns the configuration with variables replaced by values, without the sections that only rt reads. */
export function fillRegistries(
  config: ConfigContent,
  uses: readonly RegistryUse[],
  values: ReadonlyMap<string, string>,
): TomlTable {
  const {
    preload: _preload,
    run: _run,
    secrets: _secrets,
    ...rest
  } = structuredClone(config) as Readonly<Record<string, TomlTable>>;
  const install = { ...rest.install } as Record<string, unknown>;
  const scopes = { ...(install.scopes as TomlTable | undefined) } as Record<string, unknown>;
  for (const { scope, url, variables } of uses) {
    const available = Object.entries(variables).filter(([, name]) => values.has(name));
    const written = scope === undefined ? install.registry : (scopes[scope] ?? scopes[`@${scope}`]);
    const filled = {
      ...(typeof written === "object" ? written : {}),
      url,
      ...Object.fromEntries(available.map(([each, name]) => [each, values.get(name)])),
    };
    if (scope === undefined) install.registry = filled;
    else {
      delete scopes[`@${scope}`];
      scopes[scope] = filled;
    }
  }
  return { ...rest, install: { ...install, ...(Object.keys(scopes).length > 0 && { scopes }) } };
}
