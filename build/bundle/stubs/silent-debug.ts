// Replaces @secretlint's "debug" package, which reads the environment and writes to the terminal.
import { join } from "node:path";
import type { BunPlugin } from "bun";

export const silentDebug: BunPlugin = {
  name: "silent-debug",
  setup(build) {
    build.onResolve({ filter: /^debug$/ }, ({ importer }) =>
      /[\\/]node_modules[\\/]@secretlint[\\/]/.test(importer)
        ? { path: join(import.meta.dir, "debug.cjs") }
        : undefined,
    );
  },
};
