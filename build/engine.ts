// Locates the engine's executables for all targets in the bundler's cache, and verifies their checksums.
//
// The bundler downloads other systems' engines from the npm registry on first use. A release contains only engines that match this
// table, so that a manipulated registry cannot replace one.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { type BuildTarget, hostTarget } from "./targets.ts";

/** SHA-256 of the engine's executable, for Bun.version. */
const SHA256: Readonly<Record<string, string>> = {
  "linux-x64": "f05d28a3862f4b84395c7fa32480b835dd47482e80b7e7a49a115227f0c06083",
  "linux-arm64": "04778f1f42399a69d086853e9c7af4acf574b2f21a43d0dc673853d8b84a2923",
  "linux-x64-musl": "cf5d285ddbe256785a5121a3c113191a6b577504976374c7cfd5aedca609b720",
  "linux-arm64-musl": "9c48986093073afec8b76a3e285303598dd2462f52748aecb65e4d94866e1ea3",
  "darwin-x64": "88f97645b270aef20f9f9442f1658461cab3e7128e658af4615144e3396f084a",
  "darwin-arm64": "e2984124f1514e1e6bbda20adedbf07a02c443c6a5828853a15c7c7abf78e19f",
  "windows-x64": "e06ad0864463c68892ae71a2a64af7eae1585cac5dd9b80bc042f45605587cb1",
  "windows-arm64": "8bd7f9210f9d58cc21f398d1478e53b2ff919a0c8fc935b5086f3f64667cec6d",
};

function cacheDirectory(): string {
  const { BUN_INSTALL_CACHE_DIR, BUN_INSTALL, XDG_CACHE_HOME } = process.env;
  if (BUN_INSTALL_CACHE_DIR) return BUN_INSTALL_CACHE_DIR;
  if (BUN_INSTALL) return join(BUN_INSTALL, "install", "cache");
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, ".bun", "install", "cache");
  return join(homedir(), ".bun", "install", "cache");
}

/** Returns the path of a target's engine, which exists after the first build for the target. */
export function enginePath(target: BuildTarget): string {
  if (target.name === hostTarget().name) return process.execPath;
  const name = target.engine.replace("arm64", "aarch64");
  return join(cacheDirectory(), `${name}-v${Bun.version}`);
}

/** @throws Error if the checksum differs */
export async function checkEngine(target: BuildTarget): Promise<{ size: number }> {
  const path = enginePath(target);
  const program = await readFile(path);
  const sum = createHash("sha256").update(program).digest("hex");
  if (sum !== SHA256[target.name])
    throw new Error(`The engine for ${target.name} is not bun ${Bun.version} as it was published: ${path}`);
  return { size: program.length };
}
