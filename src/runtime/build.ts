// Bun.build() of programs, as `rt build --compile` makes them: on Linux out of the engine's own file, which rt's is not any
// more (platform/engine-file.ts). Everything else of Bun.build(), and all of it on other systems, is the engine's.
import type { Parts } from "./parts.ts";

type Build = typeof Bun.build;

export function hookBuild(parts: Parts): void {
  const original = Bun.build;
  const hooked = {
    build(config: Bun.BuildConfig) {
      return config?.compile ? buildProgram(original, parts, config) : original(config);
    },
  };
  (Bun as { build: Build }).build = hooked.build;
}

async function buildProgram(
  build: Build,
  { loadEngineFile }: Parts,
  config: Bun.BuildConfig,
): Promise<Bun.BuildOutput> {
  const { compile } = config;
  const settings: Bun.CompileBuildOptions =
    typeof compile === "object" ? compile : typeof compile === "string" ? { target: compile } : {};
  const { executablePath, target } = settings;
  const isOthers = executablePath !== undefined;
  const engine = isOthers ? undefined : loadEngineFile().openEngineFile(target ? [target] : [], false);
  if (!engine) return await build(config);
  try {
    return await build({ ...config, compile: { ...settings, executablePath: engine.path } });
  } finally {
    engine.close();
  }
}
