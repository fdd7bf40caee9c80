// Runs `rt secrets helper --install docker`: creates `docker-credential-rt` beside rt and sets `"credsStore": "rt"` in
// docker's configuration.
//
// Invariants:
// - Every other character of the configuration stays, and so do its permissions. If it is a symbolic link, its target is
//   replaced. The write is an atomic rename.
// - Another program's `credsStore`, a foreign file named `docker-credential-rt`, and invalid JSON are rejected before any write.
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { errorCode } from "../../../platform/caught-error.ts";
import { OWN_SYSTEM } from "../../../platform/processes/running-executable.ts";
import { host } from "../../../platform/processes/process.ts";
import { printable } from "../../printable.ts";
import { ArgumentError } from "../command-arguments.ts";
import { addMember, removeMember } from "./json-members.ts";
import { ownPath } from "./helper-io.ts";
import { printLine, reportLine } from "../../output.ts";

const STORE = "credsStore";
const STORE_NAME = "rt";
const isWindows = OWN_SYSTEM === "win32";

export function installDocker(): void {
  const config = configPath();
  const text = readText(config) ?? "{}\n";
  const members = parseConfig(text, config);
  const store = members[STORE];
  if (store !== undefined && store !== "" && store !== STORE_NAME)
    throw new ArgumentError(
      `docker stores its logins with ${printable(JSON.stringify(store))} (${STORE} in ${printable(config)})`,
      `log out with docker, remove that line, and install again`,
    );
  const link = installLink();
  if (store !== STORE_NAME)
    writeText(config, addMember(store === "" ? removeMember(text, STORE) : text, STORE, STORE_NAME));
  printLine(`docker stores its logins with rt (${STORE} in ${printable(config)}, ${printable(link)})`);
  if (hasPasswords(members.auths))
    printLine(
      "Passwords already in the file stay there until you log out of those registries with docker, and in again",
    );
  printLine("To undo it: rt secrets helper --uninstall docker");
  const directories = (host.originalVariable("PATH") ?? "").split(delimiter);
  if (!directories.includes(dirname(link)))
    reportLine(`hint: docker finds its helper on PATH only; add ${printable(dirname(link))} to it`);
}

export function uninstallDocker(): void {
  const config = configPath();
  const text = readText(config);
  const isDone = text !== undefined && parseConfig(text, config)[STORE] === STORE_NAME;
  if (isDone) writeText(config, removeMember(text, STORE));
  const link = linkPath();
  if (isOwnLink(link)) rmSync(link);
  printLine(
    isDone
      ? "docker no longer stores its logins with rt; existing logins stay in the credential store"
      : "docker does not store its logins with rt",
  );
}

function configPath(): string {
  const home = host.originalVariable(isWindows ? "USERPROFILE" : "HOME");
  const directory = host.originalVariable("DOCKER_CONFIG") || (home && join(home, ".docker"));
  if (!directory)
    throw new ArgumentError("Cannot locate docker's configuration", "set HOME or DOCKER_CONFIG");
  return join(directory, "config.json");
}

function readText(path: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (error) {
    const code = errorCode(error) ?? "no UTF-8";
    if (code === "ENOENT") return undefined;
    throw new ArgumentError(`${printable(path)} could not be read (${code})`);
  }
}

/** @throws ArgumentError, which does not quote the file: it may contain passwords */
function parseConfig(text: string, path: string): Record<string, unknown> {
  const notAnObject = new ArgumentError(
    `${printable(path)} is not a JSON object, so nothing was changed`,
    "fix it first",
  );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notAnObject;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw notAnObject;
  return value as Record<string, unknown>;
}

function hasPasswords(auths: unknown): boolean {
  return Object.values(auths ?? {}).some((each) => Boolean((each as { auth?: string } | null)?.auth));
}

/** Replaces the file by an atomic rename. @throws ArgumentError */
function writeText(path: string, text: string): void {
  let draft: string | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const { target, mode } = resolveTarget(path);
    draft = `${target}.${process.pid}.rt`;
    const file = openSync(draft, "wx", mode);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, target);
  } catch (error) {
    const code = errorCode(error);
    if (draft && code !== "EEXIST") rmSync(draft, { force: true });
    throw new ArgumentError(`Cannot write ${printable(path)} (${code}); the file is unchanged`);
  }
}

function resolveTarget(path: string): { target: string; mode: number } {
  try {
    const target = realpathSync(path);
    return { target, mode: statSync(target).mode & 0o777 };
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return { target: path, mode: 0o600 };
  }
}

/** On Windows a batch file, which docker finds too: symbolic links need administrator rights there. */
function linkPath(): string {
  return join(dirname(ownPath()), isWindows ? "docker-credential-rt.cmd" : "docker-credential-rt");
}

function batchFile(): string {
  return `@"${ownPath().replaceAll("%", "%%")}" secrets helper docker %*\r\n`;
}

function installLink(): string {
  const link = linkPath();
  if (isOwnLink(link)) rmSync(link);
  try {
    if (isWindows) writeFileSync(link, batchFile(), { flag: "wx" });
    else symlinkSync(basename(ownPath()), link);
  } catch (error) {
    const code = errorCode(error);
    throw code === "EEXIST"
      ? new ArgumentError(`${printable(link)} exists and does not belong to rt`, "remove it first")
      : new ArgumentError(
          `${printable(link)} could not be created (${code})`,
          "install rt in a folder that you may write",
        );
  }
  return link;
}

function isOwnLink(link: string): boolean {
  try {
    if (isWindows) return /^@"[^"]*" secrets helper docker %\*\r\n$/.test(readFileSync(link, "utf8"));
    return lstatSync(link).isSymbolicLink() && realpathSync(link) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}
