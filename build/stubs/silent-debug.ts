// @secretlint's "debug" package reads the environment and writes what it is told to the terminal; rt's own commands do
// neither on a library's behalf.
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
