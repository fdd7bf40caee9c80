// The secrets of a run, as the runner asks for them: undefined, and nothing loaded, where there are none.
import { FILE_NAME, mentionsInConfig } from "../config/file.ts";
import type { Config } from "../config/rtfig.ts";
import { isFor, parseRowName, type ScriptName } from "../secrets/mapping/grants.ts";
import type { Provision } from "../secrets/mapping/provision.ts";
import type { Settings } from "../settings/settings.ts";
import { type LocatedPackage, parentDirectory, textField } from "../workspace/package-json.ts";

export interface SecretsRequest {
  readonly settings: Pick<Settings, "secrets" | "script">;
  readonly config: Config | undefined;
  /** Of the package whose script runs, or in whose workspace; without it rtfig.toml gives nothing. */
  readonly directory?: string | undefined;
  /** The scripts that run, where they are known. */
  readonly scripts?: readonly ScriptName[];
}

/** Throws Failure, PackageJsonError. */
export async function openSecrets(request: SecretsRequest): Promise<Provision | undefined> {
  const { settings, config, directory } = request;
  const isForScripts = directory !== undefined && maySayWhoGets(request, directory);
  if (settings.secrets.length === 0 && !isForScripts) return undefined;
  const { openProvision } = await import("../secrets/mapping/provision.ts");
  const { secrets: asked, script } = settings;
  const from = directory ?? process.cwd();
  return openProvision({ asked, from, config, isForScripts, showsSecrets: script.showsSecrets });
}

/** Whether the root project's rtfig.toml, or the file that --config names, may give one of these something. */
function maySayWhoGets({ config, scripts }: SecretsRequest, directory: string): boolean {
  if (config && config.file !== FILE_NAME) return mayGive(config, scripts);
  if (!config || directory !== process.cwd()) return mentionsInConfig(directory, "secrets");
  const above = parentDirectory(directory);
  return mayGive(config, scripts) || (above !== null && mentionsInConfig(above, "secrets"));
}

function mayGive({ content }: Config, scripts: readonly ScriptName[] | undefined): boolean {
  const { secrets = {} } = (content.run ?? {}) as { secrets?: object };
  return Object.keys(secrets).some(
    (row) => !scripts || scripts.some((script) => isFor(parseRowName(row), script)),
  );
}

/** The script itself, or what runs before or after it. */
export function receiverOf(
  { manifest }: Pick<LocatedPackage, "manifest">,
  event: string,
  isHook: boolean,
): ScriptName {
  return { package: textField(manifest, "name"), script: event, isHook };
}
