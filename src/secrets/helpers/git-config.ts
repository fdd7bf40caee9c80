// Runs `rt secrets helper --install git`: `git config` adds or removes one `credential.helper` line.
//
// Invariants:
// - Helpers of other programs stay. git calls all helpers in order, and the output names them.
//
// Non-obvious:
// - An empty `credential.helper` line resets the list, so rt's line has to follow the last empty one.
import { OWN_SYSTEM } from "../../../platform/processes/running-executable.ts";
import { host } from "../../../platform/processes/process.ts";
import { printable } from "../../printable.ts";
import { ArgumentError } from "../command-arguments.ts";
import { ownPath } from "./helper-io.ts";
import { printLine } from "../../output.ts";

const KEY = "credential.helper";
/** Matches rt's line with any path of rt. */
const RT_LINE = /^!.*\brt(?:\.exe)?['"]? secrets helper git$/s;

export function installGit(isLocal: boolean): void {
  const scope = isLocal ? "--local" : "--global";
  const before = readHelpers(scope);
  const line = ownLine();
  const active = before.slice(before.lastIndexOf("") + 1);
  const others = active.filter((each) => !RT_LINE.test(each));
  if (before.filter((each) => RT_LINE.test(each)).length !== 1 || !active.includes(line)) {
    removeOwn(scope, before);
    runGit(["config", scope, "--add", KEY, line]);
  }
  printLine(`git asks rt for passwords (${KEY}, ${scope})`);
  if (others.length > 0)
    printLine(
      `git also asks ${others.map(printable).join(", ")}, and sends each of them the passwords to store`,
    );
  printLine(`To undo it: rt secrets helper --uninstall${isLocal ? " --local" : ""} git`);
}

export function uninstallGit(isLocal: boolean): void {
  const scope = isLocal ? "--local" : "--global";
  const isDone = removeOwn(scope, readHelpers(scope));
  printLine(
    isDone
      ? `git no longer asks rt (${KEY}, ${scope}); the passwords stay in the credential store`
      : `git does not ask rt (${KEY}, ${scope})`,
  );
}

function removeOwn(scope: string, helpers: readonly string[]): boolean {
  const own = helpers.filter((each) => RT_LINE.test(each));
  for (const line of new Set(own)) runGit(["config", scope, "--fixed-value", "--unset-all", KEY, line]);
  return own.length > 0;
}

/** git passes the line to a shell, which needs slashes on Windows too. */
function ownLine(): string {
  const path = OWN_SYSTEM === "win32" ? ownPath().replaceAll("\\", "/") : ownPath();
  return `!'${path.replaceAll("'", `'\\''`)}' secrets helper git`;
}

function readHelpers(scope: string): string[] {
  // git exits with 1 if the key is not set.
  return runGit(["config", scope, "--null", "--get-all", KEY], [0, 1]).split("\0").slice(0, -1);
}

/** Returns git's output. @throws ArgumentError with git's error */
function runGit(args: readonly string[], expected: readonly number[] = [0]): string {
  const git = Bun.which("git", { PATH: host.originalVariable("PATH") ?? "" });
  if (git === null) throw new ArgumentError("git is not on PATH", "install git first");
  const env = host.originalEnvironment();
  const { stdout, stderr, exitCode } = Bun.spawnSync([git, ...args], { env, stdin: "ignore" });
  if (expected.includes(exitCode)) return stdout.toString();
  throw new ArgumentError(`git failed: ${printable(stderr.toString().trim())}`);
}
