// The contract of permissions: what the process tree of a child may do, as the operating system enforces it.
//
// Invariants:
// - A child with permissions starts with all of its restrictions, or not at all.
// - Its processes cannot lift the restrictions, and end when the child ends.
import type { Trace } from "../../tracing/contract/tracing.ts";

export interface FileRule {
  /** Absolute. A path that does not exist has no effect. */
  readonly path: string;
  /** "read" includes execution, "write" includes "read"; "device" is reading and writing without creation. */
  readonly access: "read" | "write" | "device";
  /** Whether the path may have symlinks; otherwise a path with one has no effect. No task may be able to change it. */
  readonly followsLinks: boolean;
}

export interface HostRule {
  /** Host name in lower case, "*." before one for all names below it, or an address. */
  readonly name: string;
  /** 0 for all ports. */
  readonly port: number;
}

export interface PermissionRules {
  /** Everything that no rule names is closed. A rule for HOME, or for a folder above, has no effect. */
  readonly files: readonly FileRule[];
  /** Files and folders that are closed although a rule names a folder above; absolute, without symlinks. */
  readonly hidden: readonly string[];
  /** Folders whose `.env` files are closed, those that exist when the child starts; absolute, without symlinks. */
  readonly envFolders: readonly string[];
  /** HOME, absolute and without symlinks. */
  readonly home: string;
  /** Folders and files of Unix sockets that may be connected to; absolute, without symlinks. */
  readonly sockets: readonly string[];
  /** TCP connections: none, to this host, or to all hosts. With "open", UDP too. */
  readonly network: "none" | "loopback" | "open";
  /** Further hosts that may be connected to. */
  readonly hosts: readonly HostRule[];
  /** Set for the first child of a run, which gets no preparations that only pay for several children. */
  readonly isFirst: boolean;
}

export interface RefusedCall {
  /**
   * "name" is a host name that is not resolved. "answer" is one with an address of this host or its link, and "private" one of a
   * wildcard with a private address. "read" and "write" are known of traced children only.
   */
  readonly kind:
    | "host"
    | "name"
    | "answer"
    | "private"
    | "socket"
    | "abstract"
    | "mode"
    | "owner"
    | "container"
    | "read"
    | "write";
  readonly pid: number;
  /** Name of the process. */
  readonly program: string;
  /** A path, `address:port`, or the name of a host, with a port for "host". */
  readonly target: string;
  /** Set for "read" and "write" of a folder. */
  readonly isFolder?: boolean;
  /** Set for "write" of a folder that the call makes. */
  readonly isMade?: boolean;
  /** Set for "write" of a file that does not exist. */
  readonly isNew?: boolean;
}

export interface ChildPermissions {
  readonly rules: PermissionRules;
  /** Added to the environment, such as the folder of temporary files. */
  readonly variables: Readonly<Record<string, string>>;
  /** Set if the tracer of the child decides its calls, because a process tree has one listener at most. */
  readonly isTraced?: boolean;
  onRefusal(refusal: RefusedCall): void;
}

/** Decides after a traced run whether it kept to its permissions. */
export interface PermissionReview {
  /** Returns the files that the run tried to use outside of its rules. */
  findNeeds(trace: Trace, rules: PermissionRules): readonly RefusedCall[];
  /** Whether a refusal was passed on that has an effect. */
  readonly hasRefusals: boolean;
}

export interface PermissionSupport {
  /** Why this system cannot enforce permissions at all; a clause. */
  readonly obstacle?: string;
  /** Restrictions that it lacks; clauses. */
  readonly missing: readonly string[];
}
