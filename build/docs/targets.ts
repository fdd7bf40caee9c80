// Generates docs/reference/targets.md from build/targets.ts: the targets, and what the tests run of them.
import { RELEASE_FILES } from "../release/release-files.ts";
import { type BuildTarget, PROOFS } from "../targets.ts";
import { format, GENERATED_NOTE, renderTable } from "./markdown.ts";

const SYSTEMS: Readonly<Record<BuildTarget["os"], string>> = {
  linux: "Linux",
  darwin: "macOS 13 and later",
  windows: "Windows 10 and later",
};

const LIBC = { glibc: "glibc 2.17 and later", musl: "musl, with libstdc++" } as const;

function describeSystem({ os, libc }: BuildTarget): string {
  return libc ? `${SYSTEMS[os]}, ${LIBC[libc]}` : SYSTEMS[os];
}

export function renderTargets(): string {
  const rows = RELEASE_FILES.map(({ target, archive, debian }) => {
    const files = [archive, ...(debian ? [debian.file] : [])].map((file) => `\`${file}\``).join("<br>");
    return [target.name, describeSystem(target), target.arch, files, PROOFS[target.proof]];
  });
  const text = [
    "# Targets",
    GENERATED_NOTE("build/targets.ts"),
    `One machine makes all of these: \`npm run build -- --all\`. "Proof" is what \`npm test\` does with the binary on Linux
x64. In a binary that is only read, the test checks the format, the signature and the place of rt's program. The test also
looks for another system's code. [releasing.md](../releasing.md) has the rest.`,
    renderTable(["Target", "System", "Processor", "Files", "Proof"], rows),
  ];
  return format(`${text.join("\n\n")}\n`, "docs/reference/targets.md");
}
