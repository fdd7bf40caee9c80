// Long texts that few commands show, in one compressed file of the program: see build/embedded-texts.ts.

/** What `rt types` prints. */
export const TYPES = "src/runtime/rt-types.d.ts";

/** What `rt help --man` prints. */
export const MANUAL = "rt.1";

/** What `rt completions <shell>` prints. */
export const COMPLETIONS: Readonly<Record<string, string>> = {
  bash: "src/cli/completions/rt.bash",
  zsh: "src/cli/completions/_rt",
  fish: "src/cli/completions/rt.fish",
  powershell: "src/cli/completions/rt.ps1",
};

/** @param name of a guide, or one of the above */
export async function readText(name: string): Promise<string> {
  const { default: file } = await import("rt:texts", { with: { type: "file" } });
  const packed = Bun.zstdDecompressSync(await Bun.file(file).bytes());
  return (JSON.parse(new TextDecoder().decode(packed)) as Record<string, string>)[name]!;
}
