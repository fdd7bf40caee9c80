// The options that rt has put between its own and the user's when it became the engine: see src/runner/engine/engine.ts.
import { PRELOAD_URL_START } from "./preload-url.ts";

/** The user's alone. */
export function withoutInternalOptions(options: readonly string[]): string[] {
  return options.filter((option) => !isOurs(option));
}

const DEBUGGER = /^--(?:preload=|inspect=ws\+unix:\/\/).*[\\/]rt-files-\d+[\\/]debug/;

/** A configuration that is none, the preload, and copies of both: see platform/files/private-file.ts. */
function isOurs(option: string): boolean {
  if (option.startsWith("--loader=.")) return !Bun.isMainThread && option.endsWith(":file"); // compiled in
  if (option === "--config=/dev/null" || option === "--config=\\\\.\\NUL") return true;
  if (option.startsWith(`--preload=${PRELOAD_URL_START}`)) return true;
  if (DEBUGGER.test(option)) return true;
  return /^--(?:config|preload)=.*[\\/]rt-files-\d+[\\/](?:config|preload)-\w+\.js(?:on)?$/.test(option);
}
