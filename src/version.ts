// The version of rt, which the bundler inlines from package.json.
import { version } from "../package.json";

export const VERSION: string = version;

/** Returns the version with the engine's version and commit, in the format of `bun --revision`. */
export function describeRevision(): string {
  return `${VERSION}+bun.${Bun.version}.${Bun.revision.slice(0, 9)}`;
}
