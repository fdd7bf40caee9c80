// The script that the preload carries as a text: see late.ts.
import type { Late } from "./late.ts";
import type { Parts } from "./parts.ts";

export { PARTS } from "./embedded-parts.ts";
export { LATE } from "./late.ts";
export { withoutOurs } from "./own-options.ts";

export interface PreloadLate {
  readonly PARTS: Parts;
  readonly LATE: Late;
  withoutOurs(options: readonly string[]): string[];
}
