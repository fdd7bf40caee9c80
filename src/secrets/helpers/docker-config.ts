// `rt secrets helper --install docker`: the name `docker-credential-rt` beside rt, and `"credsStore": "rt"` in docker's
// configuration.
//
// Contract: everything else in that file keeps every character, its permissions and its place (a link stays one); it is
// exchanged whole or not at all. Another program's `credsStore`, a file of that name that is not ours and what is no
// JSON are refused before anything is written.
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
const OWN = "rt";
const isWindows = OWN_SYSTEM === "win32";

export function installDocker(): void {
  const config = configPath();
  const text = readText(config) ?? "{}\n";
  const members = parseConfig(text, config);
  const store = members[STORE];
  if (store !== undefined && store !== "" && store !== OWN)
    throw new ArgumentError(
      `docker keeps its logins with ${printable(JSON.stringify(store))} (${STORE} in ${printable(config)})`,
      `log out with docker, remove that line, and install again`,
    );
  const link = installLink();
  if (store !== OWN)
    writeText(config, addMember(store === "" ? removeMember(text, STORE) : text, STORE, OWN));
  printLine(`docker keeps its logins with rt (${STORE} in ${printable(config)}, ${printable(link)})`);
  if (hasPasswords(members.auths))
    printLine(
      "Passwords that the file has stay in it until docker logs out of those registries and in again",
    );
  printLine("To undo it: rt secrets helper --uninstall docker");
  const directories = (host.originalVariable("PATH") ?? "").split(delimiter);
  if (!directories.includes(dirname(link)))
    reportLine(`hint: docker finds its helper on PATH only; add ${printable(dirname(link))} to it`);
}

export function uninstallDocker(): void {
  const config = configPath();
  const text = readText(config);
  const isDone = text !== undefined && parseConfig(text, config)[STORE] === OWN;
  if (isDone) writeText(config, removeMember(text, STORE));
  const link = linkPath();
  if (isOwnLink(link)) rmSync(link);
  printLine(
    isDone
      ? "docker keeps its logins with rt no more; they are still in the credential store"
      : "docker does not keep its logins with rt",
  );
}

function configPath(): string {
  const home = host.originalVariable(isWindows ? "USERPROFILE" : "HOME");
  const directory = host.originalVariable("DOCKER_CONFIG") || (home && join(home, ".docker"));
  if (!directory)
    throw new ArgumentError("Nothing says where docker's configuration is", "set HOME or DOCKER_CONFIG");
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

/** Throws WordsError; what the file has is not quoted, since passwords may be in it. */
function parseConfig(text: string, path: string): Record<string, unknown> {
  const wrong = new ArgumentError(
    `${printable(path)} is no JSON object, so nothing was changed`,
    "mend it first",
  );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong;
  return value as Record<string, unknown>;
}

function hasPasswords(auths: unknown): boolean {
  return Object.values(auths ?? {}).some((each) => Boolean((each as { auth?: string } | null)?.auth));
}

/** Beside the file, then in its place. Throws WordsError. */
function writeText(path: string, text: string): void {
  let draft: string | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const { place, mode } = placeOf(path);
    draft = `${place}.${process.pid}.rt`;
    const file = openSync(draft, "wx", mode);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, place);
  } catch (error) {
    const code = errorCode(error);
    if (draft && code !== "EEXIST") rmSync(draft, { force: true });
    throw new ArgumentError(`${printable(path)} could not be written (${code}), so it is as it was`);
  }
}

function placeOf(path: string): { place: string; mode: number } {
  try {
    const place = realpathSync(path);
    return { place, mode: statSync(place).mode & 0o777 };
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return { place: path, mode: 0o600 };
  }
}

/** Windows makes links for administrators only; docker finds a batch file as well. */
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
      ? new ArgumentError(`${printable(link)} is there and not rt's`, "remove it first")
      : new ArgumentError(`${printable(link)} could not be made (${code})`, "install rt where you may write");
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
