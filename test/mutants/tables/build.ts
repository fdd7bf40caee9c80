// Mutants of build.
import type { MutantTable } from "../mutant.ts";

export default {
  "build/archive.ts": [
    {
      fault: "a member of an ar archive begins at an odd place",
      text: `, Buffer.alloc(content.length % 2, "\\n")`,
      becomes: "",
      tests: ["build/archive"],
    },
    {
      fault: "a tar archive's members are not padded",
      text: "    parts.push(padding(content.length, TAR_BLOCK));\n",
      becomes: "",
      tests: ["build/archive"],
    },
    {
      fault: "a name that is too long is cut",
      text: "if (Buffer.byteLength(path) > 100)",
      becomes: "if (Buffer.byteLength(path) > 1000)",
      tests: ["build/archive"],
    },
    {
      fault: "a gzip file has the time of its making",
      text: "  packed.fill(0, 4, 8); // no time\n",
      becomes: "  new DataView(packed.buffer, packed.byteOffset).setUint32(4, Date.now() / 1000, true);\n",
      tests: ["build/archive"],
    },
    {
      fault: "files stand in the order in which they were found",
      text: "return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));",
      becomes: "return [...files];",
      tests: ["build/archive"],
    },
    {
      fault: "a program in an archive may not be executed",
      text: "tarHeader(root + file.path, content.length, file.isExecutable ? 0o755 : 0o644)",
      becomes: "tarHeader(root + file.path, content.length, 0o644)",
      tests: ["build/archive"],
    },
  ],
  "build/elf-compaction.ts": [
    {
      fault: "a pointer that stands twice is changed",
      text: "if (places.length !== 1)",
      becomes: "if (places.length === 0)",
      tests: ["build/elf-compaction"],
    },
    {
      fault: "bytes between the engine and the program are lost",
      text: "if (bytes.subarray(zerosAt, offset).some((byte) => byte !== 0))",
      becomes: "if (zerosAt < 0)",
      tests: ["build/elf-compaction"],
    },
  ],
} satisfies MutantTable;
