// The script that the preload carries as a text: see late.ts.
import type { DeferredModules } from "./late.ts";
import type { LazyModules } from "./parts.ts";

export { PARTS } from "./embedded-parts.ts";
export { LATE } from "./late.ts";
export { withoutInternalOptions as withoutOurs } from "./own-options.ts";

export interface PreloadLate {
  readonly PARTS: LazyModules;
  readonly LATE: DeferredModules;
  withoutOurs(options: readonly string[]): string[];
}
