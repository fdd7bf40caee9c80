// The table of build targets. `engine` is the bundler's name of the target.

export interface BuildTarget {
  readonly name: string;
  readonly engine: string;
  readonly os: "linux" | "darwin" | "windows";
  readonly arch: "x64" | "arm64";
  /** The C library on Linux. */
  readonly libc?: "glibc" | "musl";
  readonly file: string;
  /** The part that the tests run on Linux x64; the rest is only inspected. */
  readonly proof: Proof;
}

export const PROOFS = {
  native: "runs every test",
  musl: "runs, with Debian's musl",
  emulated: "runs, under qemu-user",
  wine: "runs, under Wine",
  static: "read only: format, signature, embedded files",
} as const;

export type Proof = keyof typeof PROOFS;

type TargetRow = readonly [
  os: BuildTarget["os"],
  arch: BuildTarget["arch"],
  libc: BuildTarget["libc"],
  proof: Proof,
];

const ROWS: readonly TargetRow[] = [
  ["linux", "x64", "glibc", "native"],
  ["linux", "arm64", "glibc", "emulated"],
  ["linux", "x64", "musl", "musl"],
  ["linux", "arm64", "musl", "static"],
  ["darwin", "x64", undefined, "static"],
  ["darwin", "arm64", undefined, "static"],
  ["windows", "x64", undefined, "wine"],
  ["windows", "arm64", undefined, "static"],
];

export const TARGETS: readonly BuildTarget[] = ROWS.map(([os, arch, libc, proof]) => {
  const name = [os, arch, ...(libc === "musl" ? [libc] : [])].join("-");
  return { name, engine: `bun-${name}`, os, arch, libc, file: os === "windows" ? "rt.exe" : "rt", proof };
});

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
  return Buffer.concat([stdout, stderr]).includes("musl");
}
