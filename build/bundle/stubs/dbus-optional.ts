// Replaces imports of dbus-next and its own dependencies:
// - `usocket` and `x11` are optional native packages. Without a stub, their names would be resolved from the user's working
//   directory at run time. Any folder could then run code in the process that handles secrets.
// - `long`, `safe-buffer` and `jsbi` are polyfills that the engine does not need. `long` alone compiles a WebAssembly module when
//   it is loaded, which takes 1 ms of a first secret's 10 ms.
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
