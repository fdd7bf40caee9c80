// The systems that rt is built for: the one list. `engine` is the toolchain's name of the target.

export interface BuildTarget {
  readonly name: string;
  readonly engine: string;
  readonly os: "linux" | "darwin" | "windows";
  readonly arch: "x64" | "arm64";
  readonly file: string;
}

export const TARGETS: readonly BuildTarget[] = [
  { name: "linux-x64", engine: "bun-linux-x64", os: "linux", arch: "x64", file: "rt" },
  { name: "linux-arm64", engine: "bun-linux-arm64", os: "linux", arch: "arm64", file: "rt" },
  { name: "linux-x64-musl", engine: "bun-linux-x64-musl", os: "linux", arch: "x64", file: "rt" },
  { name: "linux-arm64-musl", engine: "bun-linux-arm64-musl", os: "linux", arch: "arm64", file: "rt" },
  { name: "darwin-x64", engine: "bun-darwin-x64", os: "darwin", arch: "x64", file: "rt" },
  { name: "darwin-arm64", engine: "bun-darwin-arm64", os: "darwin", arch: "arm64", file: "rt" },
  { name: "windows-x64", engine: "bun-windows-x64", os: "windows", arch: "x64", file: "rt.exe" },
  { name: "windows-arm64", engine: "bun-windows-arm64", os: "windows", arch: "arm64", file: "rt.exe" },
];

/** The target that this machine runs. */
export function hostTarget(): BuildTarget {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const isMusl = os === "linux" && Bun.which("ldd") !== null && usesMusl();
  const name = `${os}-${process.arch}${isMusl ? "-musl" : ""}`;
  const target = TARGETS.find((each) => each.name === name);
  if (!target)
    throw new Error(
      `rt cannot be built for ${name}; the targets are: ${TARGETS.map((each) => each.name).join(", ")}`,
    );
  return target;
}

function usesMusl(): boolean {
  const { stdout, stderr } = Bun.spawnSync(["ldd", "--version"]);
  return `${stdout}${stderr}`.includes("musl");
}
