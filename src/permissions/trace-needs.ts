// Finds what a traced step used beyond its rules.
//
// Invariants: the trace has the attempts, so a refused file is found as well as one that was opened.
// Non-obvious:
// - Programs look for files in all folders above the project, and list these. They run without, so a listing there is no need.
// - A file that rt itself cannot use is closed to this user, whatever the permissions are.
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import type {
  FileRule,
  PermissionRules,
  RefusedCall,
} from "../../platform/permissions/contract/permissions.ts";
import type { Trace, TracedPath, TracedProcess } from "../../platform/tracing/contract/tracing.ts";
import { findRealPath } from "../../platform/files/real-path.ts";
import { HostList } from "../../platform/permissions/host-list.ts";
import { isLoopback, parseAddress, splitTarget } from "../../platform/permissions/ip-address.ts";
import { ALL_HOSTS } from "../config/tasks/host-entry.ts";
import { isWithin } from "../workspace/member-match.ts";
import { isClosedEnvFile } from "./closed-env-file.ts";

/** Files of the system and of the process itself; no entry is for them. */
const OF_SYSTEM = /^\/(?:proc|sys|dev)(?:\/|$)/;

export type FileRules = Pick<PermissionRules, "files" | "hidden" | "envFolders">;

interface FileNeed extends RefusedCall {
  readonly kind: "read" | "write";
  readonly isFolder: boolean;
}

/** Returns the files and folders outside of the rules, in the order of their first use. @param root folder of the project */
export function findFileNeeds({ paths }: Trace, rules: FileRules, root: string): FileNeed[] {
  const followed = { ...rules, files: rules.files.flatMap(withTarget) };
  return paths.flatMap((traced) => {
    const need = OF_SYSTEM.test(traced.path) ? undefined : findNeed(traced, followed);
    if (!need) return [];
    const isListedAbove = need.kind === "read" && need.isFolder && isWithin(root, need.target);
    const isNew = need.kind === "write" && !existsSync(need.target);
    return isListedAbove || !isUsable(need, isNew) ? [] : [{ ...need, isNew }];
  });
}

/** The trace names files without symlinks. */
function withTarget(rule: FileRule): FileRule[] {
  const target = rule.followsLinks ? findRealPath(rule.path) : undefined;
  return target === undefined ? [rule] : [rule, { ...rule, path: target }];
}

function findNeed(
  { path, uses = {}, first, last = first }: TracedPath,
  rules: FileRules,
): FileNeed | undefined {
  const isFolder = first.kind === "directory" || last.kind === "directory";
  const need = (kind: FileNeed["kind"], process: TracedProcess): FileNeed => ({
    kind,
    ...process,
    target: path,
    isFolder,
  });
  if (uses.write && !mayWrite(path, rules))
    return { ...need("write", uses.write), isMade: isFolder && first.kind === "absent" };
  if (uses.remove && !mayWrite(dirname(path), rules))
    return { ...need("write", uses.remove), target: dirname(path), isFolder: true };
  if (uses.read && first.kind !== "link" && !mayRead(path, isFolder, rules)) return need("read", uses.read);
  return undefined;
}

function mayRead(path: string, isFolder: boolean, { files, hidden, envFolders }: FileRules): boolean {
  const isHidden = hidden.some((each) => isWithin(path, each)) || isClosedEnvFile(path, envFolders);
  // A rule above allows lists of hidden folders.
  if (isHidden && !isFolder) return false;
  return files.some((rule) => isWithin(path, rule.path));
}

function mayWrite(path: string, { files }: FileRules): boolean {
  return files.some((rule) => rule.access !== "read" && isWithin(path, rule.path));
}

function isUsable({ kind, target }: FileNeed, isNew: boolean): boolean {
  try {
    accessSync(isNew ? dirname(target) : target, kind === "read" ? constants.R_OK : constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A table has no entry for nameservers. */
const NAMESERVER_PORT = 53;
/** Chromium connects a datagram socket to this nameserver, and sends nothing, to see whether IPv6 works. */
const IPV6_TEST = "2001:4860:4860::8888";

/** Returns the hosts and sockets outside of the rules. */
export function findConnectionNeeds(
  { connections = [] }: Trace,
  { sockets, network, hosts }: Pick<PermissionRules, "sockets" | "network" | "hosts">,
): RefusedCall[] {
  const list = new HostList(hosts);
  return connections.flatMap(({ process, kind, target }): RefusedCall[] => {
    const need = { kind, ...process, target };
    if (kind === "abstract") return [];
    if (kind === "socket")
      return sockets.some((each) => isWithin(target, each)) || !existsSync(target) ? [] : [need];
    const { host, port } = splitTarget(target);
    const isNameserver = port === NAMESERVER_PORT || host === IPV6_TEST;
    if (network === "open" || port === 0 || isNameserver) return [];
    const address = parseAddress(host);
    const ports =
      list.find(host)?.ports ?? hosts.filter(({ name }) => name === host).map((each) => each.port);
    if (ports.some((each) => each === 0 || each === port)) return [];
    if (address && isLoopback(address)) return network === "loopback" ? [] : [need];
    // An address differs from machine to machine.
    return [address ? { ...need, target: ALL_HOSTS } : need];
  });
}
