// The contract of permissions: what the process tree of a child may do, as the operating system enforces it.
//
// Invariants:
// - A child with permissions starts with all of its restrictions, or not at all.
// - Its processes cannot lift the restrictions, and end when the child ends.

export interface FileRule {
  /** Absolute, without symlinks. A path that does not exist has no effect. */
  readonly path: string;
  /** "read" includes execution, "write" includes "read"; "device" is reading and writing without creation. */
  readonly access: "read" | "write" | "device";
}

export interface PermissionRules {
  /** Everything that no rule names is closed. */
  readonly files: readonly FileRule[];
  /** Files and folders that are closed although a rule names a folder above; absolute. */
  readonly hidden: readonly string[];
  /** Folders and files of Unix sockets that may be connected to; absolute, without symlinks. */
  readonly sockets: readonly string[];
  /** TCP connections: none, to this host, or to all hosts. With "open", UDP too. */
  readonly network: "none" | "loopback" | "open";
}

export interface RefusedCall {
  readonly kind: "host" | "socket" | "abstract" | "mode" | "container";
  readonly pid: number;
  /** Name of the process. */
  readonly program: string;
  /** Address or path. */
  readonly target: string;
}

export interface ChildPermissions {
  readonly rules: PermissionRules;
  /** Added to the environment, such as the folder of temporary files. */
  readonly variables: Readonly<Record<string, string>>;
  /** Set if the tracer of the child decides its calls, because a process tree has one listener at most. */
  readonly isTraced?: boolean;
  onRefusal(refusal: RefusedCall): void;
}

export interface PermissionSupport {
  /** Why this system cannot enforce permissions at all; a clause. */
  readonly obstacle?: string;
  /** Restrictions that it lacks; clauses. */
  readonly missing: readonly string[];
}
