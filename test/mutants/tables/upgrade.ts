// Mutants of src/cli/upgrade.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/cli/upgrade/executable-swap.ts": [
    {
      fault: "a program that cannot be replaced is gone",
      text: "    renameSync(previous, program);\n    throw cannotReplace(program, error);",
      becomes: "    throw cannotReplace(program, error);",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "a rollback that fails loses the earlier program",
      text: "      renameSync(draft, previous);\n      throw error;",
      becomes: "      throw error;",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "a program that says nothing is waited for without end",
      text: "    timeout: patience,\n",
      becomes: "",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "a program that fails is an rt",
      text: "if (status === 0 && /",
      becomes: "if (/",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "any words are a version",
      text: "/^\\d+\\.\\d+\\.\\d+[\\w.+-]*$/.test(version)",
      becomes: "version",
      tests: ["upgrade/refusals"],
    },
  ],
  "src/cli/upgrade/command.ts": [
    {
      fault: "the new program has another file mode",
      text: "statSync(program).mode & 0o777",
      becomes: "0o755",
      tests: ["upgrade/upgrade"],
    },
    {
      fault: "a wrong checksum is accepted",
      text: "if (actual !== sum)",
      becomes: "if (false)",
      tests: ["upgrade/upgrade"],
    },
    {
      fault: "a checksum in capitals is another one",
      text: "sha256: sha256?.toLowerCase()",
      becomes: "sha256",
      tests: ["upgrade/upgrade"],
    },
    {
      fault: "a program for another system is accepted",
      text: "if (describeFormat(format) !== describeFormat(own!))",
      becomes: "if (!own)",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "what npm has installed is upgraded",
      text: "if (owner) throw new Failure(`${program} was installed by",
      becomes: 'if (owner === "") throw new Failure(`${program} was installed by',
      tests: ["upgrade/refusals"],
    },
  ],
  "src/cli/upgrade/archive.ts": [
    {
      fault: "a folder called rt is the program",
      text: "isFile: kind === 0 || kind === 0x30",
      becomes: "isFile: true",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "an archive that was cut off gives half a program",
      text: "if (header.length > 0 || content > 0 || padding > 0) throw new Damage(CUT);",
      becomes: "",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "a file's end in a tar archive is found wrong",
      text: "padding = (TAR_BLOCK - (entry.size % TAR_BLOCK)) % TAR_BLOCK;",
      becomes: "padding = 0;",
      tests: ["upgrade/upgrade"],
    },
    {
      fault: "what is stored in a zip archive without packing is none",
      text: "if (method === STORED) return [packed];",
      becomes: "",
      tests: ["upgrade/upgrade"],
    },
  ],
  "src/cli/upgrade/executable-format.ts": [
    {
      fault: "musl is glibc",
      text: `loader.includes("musl") ? " with musl" : " with glibc"`,
      becomes: `" with glibc"`,
      tests: ["upgrade/refusals"],
    },
    {
      fault: "a short file is read beyond its end",
      text: "if (bytes.length < SMALLEST) return undefined;",
      becomes: "",
      tests: ["upgrade/refusals"],
    },
  ],
  "src/cli/upgrade/release.ts": [
    {
      fault: "the star of sums is not understood",
      text: "[0-9a-f]{64}) [ *](.+?)",
      becomes: "[0-9a-f]{64})  (.+?)",
      tests: ["upgrade/upgrade"],
    },
    {
      fault: "sums of another system's line ends are not understood",
      text: "(.+?)\\r?$/i",
      becomes: "(.+)$/i",
      tests: ["upgrade/upgrade"],
    },
  ],
  "src/cli/upgrade/release-source.ts": [
    {
      fault: "what comes over http needs no checksum of its own",
      text: `url.protocol === "http:" && !hasSum`,
      becomes: "false",
      tests: ["upgrade/refusals"],
    },
  ],
  "src/cli/upgrade/staging-directory.ts": [
    {
      fault: "the draft's directory is left behind",
      text: "    remove();\n",
      becomes: "",
      tests: ["upgrade/upgrade"],
    },
  ],
} satisfies MutantTable;
