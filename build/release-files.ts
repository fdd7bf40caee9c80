// What a release consists of: the one table of its files, which the build writes, and which installers, package managers
// and the documentation read.
import { PRODUCT } from "./product.ts";
import { type BuildTarget, TARGETS } from "./targets.ts";

const { command, package: packageName, version } = PRODUCT;

export interface ReleaseFiles {
  readonly target: BuildTarget;
  /** The folder inside the archive. */
  readonly folder: string;
  readonly archive: string;
  /** The application, which exists where it was signed: on a Mac. */
  readonly app?: string;
  /** What is embedded, in CycloneDX. */
  readonly bom: string;
  /** The name in the npm registry, and the file that `npm pack` would leave. */
  readonly npm: { readonly name: string; readonly file: string };
  /** Debian's name of the architecture, and the package: where the C library is Debian's. */
  readonly debian?: { readonly architecture: string; readonly file: string };
}

const DEBIAN: Readonly<Record<BuildTarget["arch"], string>> = { x64: "amd64", arm64: "arm64" };

function filesOf(target: BuildTarget): ReleaseFiles {
  const folder = `${command}-${version}-${target.name}`;
  const isDebian = target.os === "linux" && target.libc === "glibc";
  const architecture = DEBIAN[target.arch];
  return {
    target,
    folder,
    archive: `${folder}.${target.os === "windows" ? "zip" : "tar.gz"}`,
    ...(target.os === "darwin" ? { app: `${folder}.app.zip` } : {}),
    bom: `${folder}.cdx.json`,
    npm: {
      name: `@${packageName}/${target.name}`,
      file: `${packageName}-${target.name}-${version}.tgz`,
    },
    ...(isDebian ? { debian: { architecture, file: `${packageName}_${version}_${architecture}.deb` } } : {}),
  };
}

export const RELEASE_FILES: readonly ReleaseFiles[] = TARGETS.map(filesOf);

export const CHECKSUMS = "SHA256SUMS";

/** For machines whose only means to check a signature is OpenSSH; the other one is src/cli/upgrade/release.ts's. */
export const SSH_SIGNATURE = "SHA256SUMS.sig";

/** The npm package that people install; it depends on those of the targets. */
export const NPM_FILE = `${packageName}-${version}.tgz`;
