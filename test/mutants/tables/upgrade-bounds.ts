// Mutants of src/cli/upgrade that a stranger would plant: bounds, what is checked in which order, what is left on the disk.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/cli/upgrade/archive.ts": [
    {
      fault: "of several folders' programs one in a name that ends so is taken",
      text: `return NAMES.includes(path.split("/").at(-1)!);`,
      becomes: "return NAMES.some((name) => path.endsWith(name));",
      tests: ["upgrade/upgrade", "upgrade/refusals"],
    },
    {
      fault: "an archive without rt is a program of no bytes",
      text: "  throw new Failure(`There is no rt in ${printable(name)}`,",
      becomes:
        "  if (name !== archive.toString()) return;\n  throw new Failure(`There is no rt in ${printable(name)}`,",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "a zip archive that was cut off is searched all the same",
      text: "if (end < 0 || end + ZIP_END + zip.readUInt16LE(end + 20) !== zip.length) throw new Damage(CUT);",
      becomes: "if (end < 0) throw new Damage(CUT);",
      tests: ["upgrade/refusals", "upgrade/fuzz"],
    },
    {
      fault: "a zip archive's directory and its entries may say different names",
      text: " || !isNamed) throw",
      becomes: ") throw",
      tests: ["upgrade/refusals", "upgrade/fuzz"],
    },
    {
      fault: "more than a zip archive says is unpacked",
      text: "    if (length > size) break;\n",
      becomes: "",
      tests: ["upgrade/refusals", "upgrade/fuzz"],
    },
  ],
  "src/cli/upgrade/command.ts": [
    {
      fault: "what Homebrew has installed is upgraded",
      text: `  [/[\\\\/]Cellar[\\\\/]/, "Homebrew"],\n`,
      becomes: "",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "a second source is passed over",
      text: "if (positionals.length !== 1)",
      becomes: "if (positionals.length < 1)",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "part of a checksum is one",
      text: "!/^[0-9a-f]{64}$/i.test(sha256)",
      becomes: "!/^[0-9a-f]{8,64}$/i.test(sha256)",
      tests: ["upgrade/refusals", "upgrade/upgrade"],
    },
    {
      fault: "the same version is refused as an older one",
      text: "Bun.semver.order(version, VERSION) < 0",
      becomes: "Bun.semver.order(version, VERSION) <= 0",
      tests: ["upgrade/upgrade", "upgrade/refusals"],
    },
    {
      fault: "a rt without a key accepts what nobody has signed",
      text: "if (sha256 === undefined && RELEASE_KEYS.length === 0)",
      becomes: "if (sha256 === null)",
      tests: ["upgrade/refusals"],
    },
  ],
  "src/cli/upgrade/tls-policy.ts": [
    {
      fault: "NODE_TLS_REJECT_UNAUTHORIZED counts for upgrades",
      text: "{ tls: { rejectUnauthorized: true } }",
      becomes: "{}",
      tests: ["upgrade/connection"],
    },
  ],
  "src/cli/upgrade/minisign.ts": [
    {
      fault: "the older kind of signature is read",
      text: ' || packed.toString("latin1", 0, 2) !== PREHASHED)',
      becomes: ")",
      tests: ["upgrade/fuzz", "upgrade/refusals"],
    },
  ],
  "src/cli/upgrade/release.ts": [
    {
      fault: "any comment that begins as one is a release's",
      text: "/^rt (\\d+\\.\\d+\\.\\d+\\S*)$/",
      becomes: "/rt (\\d+\\.\\d+\\.\\d+\\S*)/",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "the checksum of another file is taken",
      text: "if (file === name) return",
      becomes: "if (file?.endsWith(name)) return",
      tests: ["upgrade/refusals", "upgrade/upgrade"],
    },
    {
      fault: "a checksum in capitals in SHA256SUMS is another one",
      text: "return sum!.toLowerCase();",
      becomes: "return sum!;",
      tests: ["upgrade/upgrade"],
    },
  ],
  "src/cli/upgrade/executable-swap.ts": [
    {
      fault: "a rollback without an earlier rt tries all the same",
      text: "if (!existsSync(previous))",
      becomes: "if (previous === program)",
      tests: ["upgrade/refusals", "upgrade/upgrade"],
    },
    {
      fault: "a program that is stopped on the way leaves no previous one",
      text: "    linkSync(program, kept);\n    renameSync(kept, previous);\n    renameSync(draft, program);",
      becomes: "    renameSync(draft, program);",
      tests: ["upgrade/upgrade"],
    },
    {
      fault: "a rollback does not look whether the earlier rt starts",
      text: "const version = readVersion(previous);",
      becomes: `const version = "0.0.0";`,
      tests: ["upgrade/upgrade", "upgrade/refusals"],
    },
  ],
  "src/cli/upgrade/staging-directory.ts": [
    {
      fault: "a directory that cannot be written to is a crash",
      text: "    throw cannotWrite(directory, error);\n",
      becomes: "    throw error;\n",
      tests: ["upgrade/refusals", "upgrade/upgrade"],
    },
    {
      fault: "a full disk leaves half a program in the place",
      text: "for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);",
      becomes: "writeSync(file, bytes);",
      tests: ["upgrade/refusals"],
    },
  ],
  "src/cli/upgrade/release-source.ts": [
    {
      fault: "an answer with an error is a download",
      text: "if (response.ok) return",
      becomes: "if (response.status > 0) return",
      tests: ["upgrade/upgrade", "upgrade/refusals"],
    },
    {
      fault: "the address of a missing signature has no hint",
      text: "download(new URL(name, url), MOST.beside, WITHOUT_SUMS)",
      becomes: "download(new URL(name, url), MOST.beside)",
      tests: ["upgrade/refusals", "upgrade/upgrade"],
    },
    {
      fault: "a signature may be as large as an archive",
      text: "readLocal(join(dirname(path), name), MOST.beside, WITHOUT_SUMS)",
      becomes: "readLocal(join(dirname(path), name), MOST.archive, WITHOUT_SUMS)",
      tests: ["upgrade/refusals", "upgrade/upgrade"],
    },
  ],
} satisfies MutantTable;
