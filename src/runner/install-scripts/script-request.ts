// The request that rt passes to the lifecycle scripts of an installation, through the engine's installer.
import type { InstallScriptSettings } from "../../config/settings/install-scripts.ts";

export const REQUEST_VARIABLE = "RT_INSTALL_SCRIPTS";

export interface ScriptRequest extends Pick<InstallScriptSettings, "rows" | "isExplained" | "isLocked"> {
  /** The folder of the link to rt. */
  readonly shims: string;
  /** A file that scripts append messages to, and cannot open. */
  readonly report: string;
  /** The files of known lifecycle scripts before the installation. */
  readonly known: readonly string[];
  /** The folder of the root project. */
  readonly root: string;
}
