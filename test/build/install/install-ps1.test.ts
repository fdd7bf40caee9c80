// Reads install.ps1 without running it, because neither Debian nor npm has PowerShell: it must do what install.sh does.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { INSTALLER } from "./install-site.ts";

/** Code without comments, because the header of each script also names its variables and files. */
async function readCode(name: string): Promise<string> {
  const text = await Bun.file(join(INSTALLER, "..", name)).text();
  return text.replaceAll(/^\s*#.*$|\s#\s.*$/gm, "");
}

/** Code with the same effect in install.sh and in install.ps1. */
const COUNTERPARTS: readonly (readonly [sh: string, ps1: string])[] = [
  ["version=${RT_VERSION:-}", "$Version = $env:RT_VERSION"],
  ["directory=${RT_DIR:-}", "$Dir = $env:RT_DIR"],
  ["url=${RT_URL:-}", "$Url = $env:RT_URL"],
  ["releases='@RELEASES@'", "$releases = '@RELEASES@'"],
  ["keys='@KEYS@'", "$keys = '@KEYS@'"],
  ['if [ "$version" = latest ]', "if ($Version -eq 'latest')"],
  ["*[!0-9A-Za-z.+-]*", String.raw`$Version -notmatch '^[0-9A-Za-z.+-]+\z'`],
  ["folder=$url/download/v$version", '{ "$Url/download/v$Version" }'],
  ["folder=$url/latest/download", '{ "$Url/latest/download" }'],
  ["-I rt -n rt-release", "-I rt -n rt-release"],
  ['download "$folder/SHA256SUMS"', 'Get-File "$folder/SHA256SUMS"'],
  ['download "$folder/SHA256SUMS.$signature"', 'Get-File "$folder/SHA256SUMS.$kind"'],
];

/** Errors that cannot occur on Windows: PowerShell checks options itself, and contains all required programs. */
const ONLY_SH = [
  ...["Cannot unpack ", "Cannot write ", "HOME is not set", "Neither curl nor wget is installed"],
  ...["Nothing here computes SHA", "There is no option "],
];

/** Statements of install.ps1 in order: it checks a download before it unpacks or starts anything. */
const STEPS = [
  ...['Get-File "$folder/SHA256SUMS" $sums', "(Test-Signature $_ $sums $signature $work)"],
  ...["if (-not $signed) { Stop-Install ", 'Get-File "$folder/$archive" $zip'],
  ...["Get-FileHash -Algorithm SHA256 -LiteralPath $zip", "if ($actual -ne $expected) { Stop-Install "],
  ...["Expand-Archive -LiteralPath $zip", "[IO.FileAttributes]::ReparsePoint)) { Stop-Install "],
  ...["& $new --version", "if ($LASTEXITCODE -ne 0) { Stop-Install ", "Move-Item -LiteralPath $new"],
];

describe("install.ps1", () => {
  test("reads the same variables and files as install.sh", async () => {
    const [sh, ps1] = await Promise.all(["install.sh", "install.ps1"].map(readCode));
    for (const [ofSh, ofPs1] of COUNTERPARTS) {
      expect(sh).toContain(ofSh);
      expect(ps1).toContain(ofPs1);
    }
  });

  test("uses the error messages of install.sh", async () => {
    const [sh, ps1] = await Promise.all(["install.sh", "install.ps1"].map(readCode));
    const messages = (script: string, pattern: RegExp) =>
      new Set(Array.from(script.matchAll(pattern), ([, text]) => text!));
    const own = messages(ps1!, /\bStop-Install ['"]([A-Za-z][\w ]+)/g);
    const expected = messages(sh!, /\bfail "([A-Za-z][\w ]+)/g);
    expect([...own].filter((text) => !expected.has(text))).toEqual([]);
    expect([...expected].filter((text) => !own.has(text)).toSorted()).toEqual(ONLY_SH);
  });

  test("checks signature, checksum and kind of the program before use", async () => {
    const script = await readCode("install.ps1");
    const places = STEPS.map((step) => [step, script.indexOf(step), script.lastIndexOf(step)] as const);
    expect(places.filter(([, first, last]) => first < 0 || first !== last)).toEqual([]);
    expect(places.toSorted(([, a], [, b]) => a - b)).toEqual(places);
  });

  test("contains only ASCII, because Windows PowerShell reads other text in the system's code page", async () => {
    const text = await Bun.file(join(INSTALLER, "..", "install.ps1")).text();
    expect(text).toMatch(/^[\t\n\x20-\x7e]*$/);
  });

  test("closes every bracket and quote", async () => {
    const script = await readCode("install.ps1");
    const code = script.replaceAll(/'[^'\n]*'|"(?:[^"`\n]|`.)*"/g, "");
    const open: string[] = [];
    for (const sign of code.match(/[()[\]{}'"]/g)!) {
      if ("([{".includes(sign)) open.push({ "(": ")", "[": "]", "{": "}" }[sign]!);
      else expect(open.pop()).toBe(sign);
    }
    expect(open).toEqual([]);
  });
});
