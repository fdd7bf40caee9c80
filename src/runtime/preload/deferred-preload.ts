// Entry point of the script that the preload contains as a text (see deferred-modules.ts).
import type { DeferredModules } from "../modules/deferred-modules.ts";
import type { LazyModules } from "../modules/lazy-modules.ts";

export { PARTS } from "../modules/embedded-modules.ts";
export { LATE } from "../modules/deferred-modules.ts";
export { withoutInternalOptions } from "./internal-options.ts";

export interface PreloadLate {
  readonly PARTS: LazyModules;
  readonly LATE: DeferredModules;
  withoutInternalOptions(options: readonly string[]): string[];
}
