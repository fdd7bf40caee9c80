// Bun.build(), with the module "rt" where it is. A bundle leaves it to the rt that will run it; a program, as
// `rt build --compile` makes them too, takes it along, and on Linux is put into the engine's own file, which rt's is not any
// more (see compiled-program.ts). Everything else is the engine's.
import type { LazyModules } from "../modules/lazy-modules.ts";

type Build = typeof Bun.build;

export function hookBuild(parts: LazyModules): void {
  const original = Bun.build;
  const hooked = {
    async build(config: Bun.BuildConfig) {
      if (!config) return await original(config);
      const { external = [], compile, target } = config;
      const own = Array.isArray(external) ? { ...config, external: ["rt", ...external] } : config;
      // For the browser it is a page that is compiled.
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
