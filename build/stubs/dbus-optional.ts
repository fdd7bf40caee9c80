// What dbus-next asks for and must not, or need not, get.
//
// - `usocket` and `x11` are optional native packages. Left out of the bundle, their names would be looked up
//   from the user's working directory at run time: any folder could then run code in the place that
//   handles secrets.
// - `long`, `safe-buffer` and `jsbi` are old engines' missing parts. Ours has them; `long` alone
//   compiles a WebAssembly module when it is loaded (1 ms of a first secret that takes 10).
//
// Only imports made by dbus-next and its own dependencies are replaced.
import type { BunPlugin } from "bun";
import { join } from "node:path";

const STAND_INS: Record<string, string> = {
  usocket: "unavailable-package.cjs",
  x11: "unavailable-package.cjs",
  jsbi: "unavailable-package.cjs",
  long: "long.cjs",
  "safe-buffer": "safe-buffer.cjs",
};

const FROM_DBUS_NEXT = /[\\/]node_modules[\\/](dbus-next|@nornagon[\\/]put)[\\/]/;

export const dbusOptional: BunPlugin = {
  name: "dbus-optional",
  setup(build) {
    const names = Object.keys(STAND_INS).join("|");
    build.onResolve({ filter: new RegExp(`^(${names})$`) }, ({ path, importer }) => {
      if (!FROM_DBUS_NEXT.test(importer)) return undefined;
      return { path: join(import.meta.dir, STAND_INS[path]!) };
    });
  },
};
