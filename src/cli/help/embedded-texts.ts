// Reads long texts that few commands print from one compressed file in the executable (see build/bundle/embedded-texts.ts).

/** Output of `rt types`. */
export const TYPES = "src/runtime/rt-types.d.ts";

/** Output of `rt help --man`. */
export const MANUAL = "rt.1";

/** Output of `rt completions <shell>`. */
export const COMPLETIONS: Readonly<Record<string, string>> = {
  bash: "src/cli/completions/rt.bash",
  zsh: "src/cli/completions/_rt",
  fish: "src/cli/completions/rt.fish",
  powershell: "src/cli/completions/rt.ps1",
};

/** @param name the name of a guide, or one of the constants above */
export async function readText(name: string): Promise<string> {
  const { default: file } = await import("rt:texts", { with: { type: "file" } });
  const packed = Bun.zstdDecompressSync(await Bun.file(file).bytes());
  return (JSON.parse(new TextDecoder().decode(packed)) as Record<string, string>)[name]!;
}
