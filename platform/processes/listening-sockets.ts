// Selects how listening sockets are found on this operating system. Only Linux shows them without other programs.
import type { ListeningSocketOperations } from "./contract/listening-sockets.ts";
import * as linux from "./linux/listening-sockets.ts";

export const listeningSockets: ListeningSocketOperations | undefined =
  process.platform === "linux" ? linux.operations : undefined;
