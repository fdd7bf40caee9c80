// The table of a release's files, used by the build, the installers, the package managers and the documentation.
import { PRODUCT } from "../product.ts";
import { type BuildTarget, TARGETS } from "../targets.ts";

const { command, package: packageName, version } = PRODUCT;

export interface ReleaseFiles {
  readonly target: BuildTarget;
  /** The directory inside the archive. */
  readonly folder: string;
  readonly archive: string;
  /** The signed macOS application, built on a Mac only. */
  readonly app?: string;
  /** The SBOM, in CycloneDX format. */
  readonly bom: string;
  /** The name in the npm registry, and the file name of `npm pack`. */
  readonly npm: { readonly name: string; readonly file: string };
  /** Debian's architecture name and the package, for glibc targets. */
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

/** For machines that can verify signatures with OpenSSH only; the other signature is in src/cli/upgrade/release.ts. */
export const SSH_SIGNATURE = "SHA256SUMS.sig";

/** The npm package that users install; it depends on the packages of the targets. */
export const NPM_FILE = `${packageName}-${version}.tgz`;

/** The JSON schema of rtfig.toml, for editors. */
export const SCHEMA = "rtfig.schema.json";
