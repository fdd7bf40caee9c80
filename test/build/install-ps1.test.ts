// install.ps1, read: PowerShell is in neither Debian nor npm. What can be seen without it is that it does what install.sh does.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { INSTALLER } from "./install-site.ts";

describe("install.ps1", () => {
  test("reads the same variables and files as install.sh, and is ASCII", async () => {
    const [sh, ps1] = await Promise.all(
      ["install.sh", "install.ps1"].map(async (name) => await Bun.file(join(INSTALLER, "..", name)).text()),
    );
    for (const word of [
      "RT_VERSION",
      "RT_DIR",
      "RT_URL",
      "SHA256SUMS",
      "latest/download",
      "download/v",
      "@RELEASES@",
      "@KEYS@",
      "rt-release",
    ]) {
      expect(sh).toContain(word);
      expect(ps1).toContain(word);
    }
    const messages = (script: string, pattern: RegExp) =>
      [...script.matchAll(pattern)].map(([, text]) => text!);
    const own = messages(ps1!, /Stop-Install ['"]([A-Z][\w ]+)/g);
    const theirs = messages(sh!, /fail "([A-Z][\w ]+)/g);
    expect(own.filter((text) => !theirs.includes(text))).toEqual([]);
    expect(/^[\t\n\x20-\x7e]*$/.test(ps1!)).toBe(true);
  });

  test("has every bracket and quote closed", async () => {
    const script = await Bun.file(join(INSTALLER, "..", "install.ps1")).text();
    const code = script.replaceAll(/#.*$/gm, "").replaceAll(/'[^'\n]*'|"(?:[^"`\n]|`.)*"/g, "");
    const open: string[] = [];
    for (const sign of code.match(/[()[\]{}'"]/g)!) {
      if ("([{".includes(sign)) open.push({ "(": ")", "[": "]", "{": "}" }[sign]!);
      else expect(open.pop()).toBe(sign);
    }
    expect(open).toEqual([]);
  });
});
