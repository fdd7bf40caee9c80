// Returns rt's arguments without loss. The engine replaces bytes that are not UTF-8 by U+FFFD; if one occurs, the command line is
// read again from the system.
import type { ProcessOperations } from "../contract/process.ts";
import { readFile } from "../../files/posix/files.ts";
import { decodeWithSurrogates } from "../../native/posix/surrogate-escape.ts";

const REPLACEMENT = "\ufffd";

export const exactArguments: ProcessOperations["exactArguments"] = (args) => {
  if (!args.join("").includes(REPLACEMENT)) return args;
  const line = readFile("/proc/self/cmdline");
  if (typeof line === "string") return args; // macOS, whose file systems use UTF-8 only
  const words = decodeWithSurrogates(line).split("\0").slice(0, -1);
  return words.slice(words.length - args.length);
};
