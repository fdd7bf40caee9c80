// The secrets of a run, as the runner asks for them: undefined, and nothing loaded, where there are none.
import { FILE_NAME, mentionsSecrets } from "../config/file.ts";
import type { Config } from "../config/rtfig.ts";
import type { Provision } from "../secrets/mapping/provision.ts";
import type { Settings } from "../settings/settings.ts";
import { type LocatedPackage, textField } from "../workspace/package-json.ts";

/**
 * @param directory of the package whose script runs, or whose workspace; without it rtfig.toml gives nothing. Throws
 * Failure, PackageJsonError.
 */
export async function openSecrets(
  { secrets: asked }: Pick<Settings, "secrets">,
  config: Config | undefined,
  directory?: string,
): Promise<Provision | undefined> {
  const isForScripts = directory !== undefined && maySayWhoGets(directory, config);
  if (asked.length === 0 && !isForScripts) return undefined;
  const { openProvision } = await import("../secrets/mapping/provision.ts");
  return openProvision({ asked, from: directory ?? process.cwd(), config, isForScripts });
}

/** The root project's rtfig.toml, or the file that --config names. */
function maySayWhoGets(directory: string, config: Config | undefined): boolean {
  if (config && config.file !== FILE_NAME) return config.settings.some(({ key }) => key.isOfSecrets);
  return mentionsSecrets(directory);
}

/** The script itself, or what runs before or after it. */
export function receiverOf({ manifest }: Pick<LocatedPackage, "manifest">, event: string, isHook: boolean) {
  return { package: textField(manifest, "name"), script: event, isHook };
}
