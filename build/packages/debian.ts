// Builds the Debian package: binary, completions and documentation. It needs no dpkg, so any system builds the same bytes.
import { createHash } from "node:crypto";
import { ar, type ArchiveFile, type Effort, gzip, tar } from "../release/archive.ts";
import { PRODUCT } from "../product.ts";

const { command, package: packageName, version, description, publisher } = PRODUCT;

const COMPLETIONS: Readonly<Record<string, string>> = {
  "rt.bash": "usr/share/bash-completion/completions/rt",
  _rt: "usr/share/zsh/vendor-completions/_rt",
  "rt.fish": "usr/share/fish/vendor_completions.d/rt.fish",
};

function placeOf(path: string): string | undefined {
  const name = path.split("/").at(-1)!;
  if (path.startsWith("completions/")) return COMPLETIONS[name];
  if (path.startsWith("man/")) return `usr/share/man/man1/${name}`;
  if (path === "LICENSE") return `usr/share/doc/${packageName}/copyright`;
  return path === command ? `usr/bin/${command}` : `usr/share/doc/${packageName}/${name}`;
}

/** @param files as in the archive for all systems */
export function debianPackage(
  architecture: string,
  files: readonly ArchiveFile[],
  effort: Effort,
): Uint8Array {
  const placed = files.flatMap((file) => {
    const path = placeOf(file.path);
    return path ? [{ ...file, path }] : [];
  });
  const size = placed.reduce((total, { content }) => total + Math.ceil(content.length / 1024), 0);
  const control = [
    `Package: ${packageName}`,
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${publisher} <noreply@localhost>`,
    `Installed-Size: ${size}`,
    "Depends: libc6 (>= 2.17)",
    "Suggests: gnome-keyring | kwalletmanager | keepassxc",
    "Section: devel",
    "Priority: optional",
    `Description: run JavaScript, TypeScript and package scripts`,
    ` ${description}`,
    "",
  ].join("\n");
  const sums = placed
    .map(({ path, content }) => `${createHash("md5").update(content).digest("hex")}  ${path}\n`)
    .toSorted()
    .join("");
  const members: ArchiveFile[] = [
    { path: "control", content: control },
    { path: "md5sums", content: sums },
  ];
  return ar([
    { path: "debian-binary", content: "2.0\n" },
    { path: "control.tar.gz", content: gzip(tar(members, "./"), 9) },
    { path: "data.tar.gz", content: gzip(tar(placed, "./"), effort) },
  ]);
}
