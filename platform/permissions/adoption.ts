// Takes over a child with permissions that the front (../native/linux/front) has started. Linux only.
//
// Invariants: there is at most one, and it is taken over once.
import { host } from "../processes/process.ts";
import type { Child } from "../processes/contract/process-tree.ts";
import type { ChildPermissions } from "./contract/permissions.ts";

export interface AdoptedStart {
  readonly pid: number;
  /** A pipe with refusals. */
  readonly reports: number;
  /** A socket that receives connections to DNS servers. */
  readonly connections: number;
  /** The file with the permitted addresses. */
  readonly file: number;
  /** The private folder of temporary files. */
  readonly folder: string;
}

let adopted: AdoptedStart | undefined;

function implementation() {
  return require("./linux/adopted-child.ts") as typeof import("./linux/adopted-child.ts");
}

/** Reads a variable of the front, and removes it. Returns whether there is a child. */
export function openAdoptedStart(variable: string): boolean {
  if (process.platform !== "linux" || host.originalVariable(variable) === undefined) return false;
  adopted = implementation().takeAdoptedStart(variable);
  if (!adopted) return false;
  process.once("exit", removeFolder);
  return true;
}

/** After an error before the child was taken over. The child ends with this process. */
function removeFolder(): void {
  if (!adopted) return;
  const folders = require("../files/temporary-folder.ts") as typeof import("../files/temporary-folder.ts");
  folders.removeTemporaryFolder(adopted.folder);
}

/** Whether the child has not been taken over yet. */
export function isAdopting(): boolean {
  return adopted !== undefined;
}

export function adoptedFolder(): string | undefined {
  return adopted?.folder;
}

/** @param ownsSession whether the child is not in the process group of rt */
export function adoptChild(permissions: ChildPermissions, ownsSession: boolean): Child {
  const start = adopted!;
  adopted = undefined;
  return implementation().adoptChild(start, permissions, ownsSession);
}
