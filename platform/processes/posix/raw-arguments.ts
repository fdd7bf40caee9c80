// The command line as it really was. The engine puts U+FFFD in the place of bytes that it cannot decode, which
// cannot be undone: where one is seen, the command line is read again.
import type { ProcessOperations } from "../contract/process.ts";
import { readFile } from "../../files/posix/files.ts";
import { decodeWithSurrogates } from "../../native/posix/surrogate-escape.ts";

const REPLACEMENT = "\ufffd";

export const exactArguments: ProcessOperations["exactArguments"] = (args) => {
  if (!args.join("").includes(REPLACEMENT)) return args;
  const line = readFile("/proc/self/cmdline");
  if (typeof line === "string") return args; // macOS, whose file systems only know UTF-8
  const words = decodeWithSurrogates(line).split("\0").slice(0, -1);
  return words.slice(words.length - args.length);
};
