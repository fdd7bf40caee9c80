// Generates the manifests for Homebrew and Scoop: addresses and checksums of a release's archives.
import { PRODUCT } from "../product.ts";
import { RELEASE_FILES, type ReleaseFiles } from "../release/release-files.ts";
import type { BuildTarget } from "../targets.ts";

const { command, package: packageName, version, description, licence } = PRODUCT;

/** Returns the address of this version's files, below the base URL of all releases. */
function folderOf(url: string, tag = version): string {
  return `${url.replace(/\/+$/, "")}/download/v${tag}`;
}

function find(os: BuildTarget["os"], arch: BuildTarget["arch"]): ReleaseFiles {
  return RELEASE_FILES.find(
    ({ target }) => target.os === os && target.arch === arch && target.libc !== "musl",
  )!;
}

/** @param sums hexadecimal SHA-256 by file name */
export function homebrewFormula(url: string, sums: ReadonlyMap<string, string>): string {
  const source = (os: "linux" | "darwin", arch: "x64" | "arm64") => {
    const { archive } = find(os, arch);
    return `    on_${arch === "x64" ? "intel" : "arm"} do
      url "${folderOf(url)}/${archive}"
      sha256 "${sums.get(archive)}"
    end`;
  };
  return `class ${packageName.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())} < Formula
  desc "${description.replace(/\.$/, "")}"
  homepage "${url}"
  version "${version}"
  license "${licence}"

  on_macos do
${source("darwin", "arm64")}
${source("darwin", "x64")}
  end

  on_linux do
${source("linux", "arm64")}
${source("linux", "x64")}
  end

  def install
    bin.install "${command}"
    bash_completion.install "completions/${command}.bash" => "${command}"
    zsh_completion.install "completions/_${command}"
    fish_completion.install "completions/${command}.fish"
    man1.install Dir["man/*.1"]
  end

  test do
    (testpath/"hello.ts").write "const name: string = 'brew'; console.log(name)"
    assert_equal "brew", shell_output("#{bin}/${command} hello.ts").strip
  end
end
`;
}

export function scoopManifest(url: string, sums: ReadonlyMap<string, string>): string {
  const source = ({ archive, folder }: ReleaseFiles) => ({
    url: `${folderOf(url)}/${archive}`,
    hash: sums.get(archive),
    extract_dir: folder,
  });
  const next = ({ archive }: ReleaseFiles) => ({
    url: `${folderOf(url, "$version")}/${archive.replace(version, "$version")}`,
    extract_dir: archive.replace(version, "$version").replace(/\.zip$/, ""),
  });
  const architecture = (describe: (files: ReleaseFiles) => object) => ({
    "64bit": describe(find("windows", "x64")),
    arm64: describe(find("windows", "arm64")),
  });
  const manifest = {
    version,
    description,
    homepage: url,
    license: licence,
    architecture: architecture(source),
    bin: `${command}.exe`,
    checkver: { url: `${url}/latest/download/SHA256SUMS`, regex: `${command}-([\\d.]+)-` },
    autoupdate: {
      architecture: architecture(next),
      hash: { url: "$baseurl/SHA256SUMS" },
    },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
