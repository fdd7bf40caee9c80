// `rt secrets helper --install git`: one line of git's configuration, written and removed by git itself, which keeps
// everything else as it is.
//
// Contract: helpers of other programs stay; git asks them in order, and what that means is said. An empty line among them
// makes git forget those before it, so ours has to stand after the last.
import { OWN_SYSTEM } from "../../../platform/processes/running-executable.ts";
import { host } from "../../../platform/processes/process.ts";
import { printable } from "../../printable.ts";
import { ArgumentError } from "../command-arguments.ts";
import { ownPath } from "./helper-io.ts";
import { printLine } from "../../output.ts";

const KEY = "credential.helper";
/** A line of ours, wherever that rt is or was. */
const OWN = /^!.*\brt(?:\.exe)?['"]? secrets helper git$/s;

export function installGit(isLocal: boolean): void {
  const scope = isLocal ? "--local" : "--global";
  const before = readHelpers(scope);
  const line = ownLine();
  const asked = before.slice(before.lastIndexOf("") + 1);
  const others = asked.filter((each) => !OWN.test(each));
  if (before.filter((each) => OWN.test(each)).length !== 1 || !asked.includes(line)) {
    removeOwn(scope, before);
    runGit(["config", scope, "--add", KEY, line]);
  }
  printLine(`git asks rt for passwords (${KEY}, ${scope})`);
  if (others.length > 0)
    printLine(
      `It also asks ${others.map(printable).join(", ")}, and gives each of them what it should store`,
    );
  printLine(`To undo it: rt secrets helper --uninstall${isLocal ? " --local" : ""} git`);
}

export function uninstallGit(isLocal: boolean): void {
  const scope = isLocal ? "--local" : "--global";
  const isDone = removeOwn(scope, readHelpers(scope));
  printLine(
    isDone
      ? `git asks rt no more (${KEY}, ${scope}); the passwords are still in the credential store`
      : `git does not ask rt (${KEY}, ${scope})`,
  );
}

function removeOwn(scope: string, helpers: readonly string[]): boolean {
  const own = helpers.filter((each) => OWN.test(each));
  for (const line of new Set(own)) runGit(["config", scope, "--fixed-value", "--unset-all", KEY, line]);
  return own.length > 0;
}

/** git gives it to a shell; that of Windows takes slashes. */
function ownLine(): string {
  const path = OWN_SYSTEM === "win32" ? ownPath().replaceAll("\\", "/") : ownPath();
  return `!'${path.replaceAll("'", `'\\''`)}' secrets helper git`;
}

function readHelpers(scope: string): string[] {
  // 1 says that there is none.
  return runGit(["config", scope, "--null", "--get-all", KEY], [0, 1]).split("\0").slice(0, -1);
}

/** Its output. Throws WordsError with what git says. */
function runGit(args: readonly string[], expected: readonly number[] = [0]): string {
  const git = Bun.which("git", { PATH: host.originalVariable("PATH") ?? "" });
  if (git === null) throw new ArgumentError("There is no git on PATH", "install git first");
  const env = host.originalEnvironment();
  const { stdout, stderr, exitCode } = Bun.spawnSync([git, ...args], { env, stdin: "ignore" });
  if (expected.includes(exitCode)) return stdout.toString();
  throw new ArgumentError(`git has refused: ${printable(stderr.toString().trim())}`);
}
