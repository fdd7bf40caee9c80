// The contract of listening sockets: which TCP ports and Unix sockets the processes of a tree listen on.

export interface ListeningSocket {
  /** Unique as long as the socket exists. */
  readonly id: string;
  /** "port 5432", or "/run/app.sock". */
  readonly name: string;
}

export interface ListeningSocketOperations {
  listIds(): ReadonlySet<string>;
  /** Returns sockets that these processes listen on. Sockets of debuggers and of tools' own processes are left out. */
  find(pids: readonly number[]): readonly ListeningSocket[];
}
