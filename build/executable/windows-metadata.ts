// Sets icon and version information of a Windows program. The bundler's own options work on Windows only.
//
// Non-obvious: the library supports only programs whose resources are followed by relocations, but rt's code comes after these. So it
// edits a copy without rt's section, and the resources, padded to the same size, are copied back. The copy has no code either: the
// library copies all sections several times.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Data, NtExecutable, NtExecutableResource, Resource } from "resedit";
import { PRODUCT } from "../product.ts";

/** PNG images of seven sizes, which Windows supports since Vista. */
const ICON = join(import.meta.dir, "rt.ico");
const ENGLISH = { lang: 1033, codepage: 1200 } as const;
const ICON_TYPE = 3;
const GROUP_ICON_TYPE = 14;
const VERSION_TYPE = 16;

function withMetadata(program: Uint8Array): Uint8Array {
  const executable = NtExecutable.from(program, { ignoreCert: true });
  const resources = NtExecutableResource.from(executable);
  // The manifest stays.
  resources.entries = resources.entries.filter(
    ({ type }) => ![ICON_TYPE, GROUP_ICON_TYPE, VERSION_TYPE].includes(type as number),
  );
  Resource.IconGroupEntry.replaceIconsForResource(
    resources.entries,
    1,
    ENGLISH.lang,
    Data.IconFile.from(readFileSync(ICON)).icons.map(({ data }) => data),
  );
  const version = Resource.VersionInfo.createEmpty();
  version.lang = ENGLISH.lang;
  version.setFileVersion(`${PRODUCT.version}.0`, ENGLISH.lang);
  version.setProductVersion(`${PRODUCT.version}.0`, ENGLISH.lang);
  version.setStringValues(ENGLISH, {
    FileDescription: PRODUCT.command,
    ProductName: PRODUCT.package,
    FileVersion: PRODUCT.version,
    ProductVersion: PRODUCT.version,
    CompanyName: PRODUCT.publisher,
    LegalCopyright: PRODUCT.copyright,
    Comments: PRODUCT.description,
    InternalName: PRODUCT.command,
    OriginalFilename: `${PRODUCT.command}.exe`,
  });
  version.outputToResourceEntries(resources.entries);
  resources.outputResource(executable, true);
  return new Uint8Array(executable.generate());
}

interface Section {
  /** Offset of its header. */
  readonly at: number;
  readonly name: string;
  readonly offset: number;
  readonly size: number;
}

/** Field offsets from the "PE" signature. */
const HEADER = {
  sectionCount: 6,
  optionalSize: 20,
  optional: 24,
  sizeOfHeaders: 84,
  checksum: 88,
  resources: 24 + 112 + 16,
} as const;

function headerOf(program: Buffer): number {
  return program.readUInt32LE(0x3c);
}

function sectionsOf(program: Buffer): Section[] {
  const header = headerOf(program);
  const table = header + HEADER.optional + program.readUInt16LE(header + HEADER.optionalSize);
  return Array.from({ length: program.readUInt16LE(header + HEADER.sectionCount) }, (_, index) => {
    const at = table + 40 * index;
    return {
      at,
      name: program.toString("latin1", at, at + 8).replace(/\0+$/, ""),
      offset: program.readUInt32LE(at + 20),
      size: program.readUInt32LE(at + 16),
    };
  });
}

/** Returns the PE checksum: 16-bit words with carry, plus the length. The field itself counts as zero. */
function checksumOf(program: Buffer): number {
  let sum = 0;
  // Sixty million words: a call for each would take seconds.
  const words = new Uint16Array(program.buffer, program.byteOffset, program.length >> 1);
  for (let at = 0; at < words.length; at += 1) sum += words[at]!;
  if (program.length % 2 === 1) sum += program.at(-1)!;
  while (sum > 0xffff) sum = (sum % 0x10000) + Math.floor(sum / 0x10000);
  return sum + program.length;
}

/** Returns the headers and the sections from the resources to the end; the sections in front have no content. */
function withoutCode(program: Buffer, sections: readonly Section[], from: number, end: number): Buffer {
  const start = program.readUInt32LE(headerOf(program) + HEADER.sizeOfHeaders);
  const rest = Buffer.concat([program.subarray(0, start), program.subarray(from, end)]);
  for (const { at, offset, size } of sections) {
    const isKept = offset >= from;
    rest.writeUInt32LE(isKept ? size : 0, at + 16);
    rest.writeUInt32LE(isKept ? offset - from + start : 0, at + 20);
  }
  return rest;
}

export function setMetadata(file: Uint8Array): Uint8Array {
  const program = Buffer.from(file);
  const header = headerOf(program);
  const sections = sectionsOf(program);
  const ours = sections.at(-1)!;
  const resources = sections.find(({ name }) => name === ".rsrc");
  if (ours.name !== ".bun" || !resources) throw new Error("The program's sections are not as expected");
  const rest = withoutCode(program, sections.slice(0, -1), resources.offset, ours.offset);
  rest.writeUInt16LE(sections.length - 1, header + HEADER.sectionCount);
  const edited = Buffer.from(withMetadata(rest));
  const moved = sectionsOf(edited).find(({ name }) => name === ".rsrc")!;
  if (moved.size !== resources.size) throw new Error("The resources do not fit where the engine's were");
  edited.copy(program, resources.offset, moved.offset, moved.offset + moved.size);
  edited.copy(program, header + HEADER.resources, header + HEADER.resources, header + HEADER.resources + 8);
  program.writeUInt32LE(0, header + HEADER.checksum);
  program.writeUInt32LE(checksumOf(program), header + HEADER.checksum);
  return program;
}
