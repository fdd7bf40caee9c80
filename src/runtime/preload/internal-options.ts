// Removes the options that rt added when it re-executed itself as the engine (see src/runner/engine/engine.ts).
import { PRELOAD_URL_START } from "./preload-url.ts";

/** Returns the user's options. */
export function withoutInternalOptions(options: readonly string[]): string[] {
  return options.filter((option) => !isInternal(option));
}

const DEBUGGER = /^--(?:preload=|inspect=ws\+unix:\/\/).*[\\/]rt-files-\d+[\\/]debug/;

/** Matches the empty configuration, the preload, and private files with copies of both (platform/files/private-file.ts). */
function isInternal(option: string): boolean {
  if (option.startsWith("--loader=.")) return !Bun.isMainThread && option.endsWith(":file"); // embedded at build time
  if (option === "--config=/dev/null" || option === "--config=\\\\.\\NUL") return true;
  if (option.startsWith(`--preload=${PRELOAD_URL_START}`)) return true;
  if (DEBUGGER.test(option)) return true;
  return /^--(?:config|preload)=.*[\\/]rt-files-\d+[\\/](?:config|preload)-\w+\.js(?:on)?$/.test(option);
}
