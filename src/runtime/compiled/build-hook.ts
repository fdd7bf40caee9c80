// Wraps Bun.build() so that built code can import the module "rt".
//
// Invariants:
// - A bundle keeps the import external: the rt that runs the bundle provides the module.
// - A compiled program (as with `rt build --compile`) contains the runtime; see compiled-program.ts. On Linux it is based on the
//   stock engine's file, because rt's own executable is modified.
// - Other options are passed to the engine unchanged.
import type { LazyModules } from "../modules/lazy-modules.ts";

type Build = typeof Bun.build;

export function hookBuild(parts: LazyModules): void {
  const original = Bun.build;
  const hooked = {
    async build(config: Bun.BuildConfig) {
      if (!config) return await original(config);
      const { external = [], compile, target } = config;
      const own = Array.isArray(external) ? { ...config, external: ["rt", ...external] } : config;
      // With target "browser", `compile` produces an HTML page, not a program.
      return await (compile && target !== "browser" ? buildProgram(original, parts, own) : original(own));
    },
  };
  (Bun as { build: Build }).build = hooked.build;
}

async function buildProgram(
  build: Build,
  { loadProgram }: LazyModules,
  config: Bun.BuildConfig,
): Promise<Bun.BuildOutput> {
  const { compile } = config;
  const settings: Bun.CompileBuildOptions =
    typeof compile === "object" ? compile : typeof compile === "string" ? { target: compile } : {};
  const { executablePath, target, execArgv = [] } = settings;
  const { options, engine } = loadProgram().prepareProgram(
    target ? [target] : [],
    executablePath !== undefined,
    false,
  );
  const own = { ...settings, execArgv: Array.isArray(execArgv) ? [...options, ...execArgv] : execArgv };
  try {
    return await build({ ...config, compile: engine ? { ...own, executablePath: engine.path } : own });
  } finally {
    engine?.close();
  }
}
