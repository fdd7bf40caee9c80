// Sets icon and version information of a Windows program. The bundler's own options work on Windows only.
//
// Non-obvious: the library supports only programs whose resources are followed by relocations, but rt's code comes after these. So it
// edits a copy without rt's section, and the resources, padded to the same size, are copied back.
import { Data, NtExecutable, NtExecutableResource, Resource } from "resedit";
import { drawIcon } from "./icon.ts";
import { PRODUCT } from "../product.ts";

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
    Data.IconFile.from(drawIcon()).icons.map(({ data }) => data),
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
  readonly name: string;
  readonly offset: number;
  readonly size: number;
}

/** Field offsets from the "PE" signature. */
const HEADER = {
  sectionCount: 6,
  optionalSize: 20,
  optional: 24,
  checksum: 88,
  resources: 24 + 112 + 16,
} as const;

/** Returns the offset of the PE header. */
function headerOf(program: Buffer): number {
  return program.readUInt32LE(0x3c);
}

function sectionsOf(program: Buffer): Section[] {
  const header = headerOf(program);
  const table = header + HEADER.optional + program.readUInt16LE(header + HEADER.optionalSize);
  return Array.from({ length: program.readUInt16LE(header + HEADER.sectionCount) }, (_, index) => {
    const at = table + 40 * index;
    return {
      name: program.toString("latin1", at, at + 8).replace(/\0+$/, ""),
      offset: program.readUInt32LE(at + 20),
      size: program.readUInt32LE(at + 16),
    };
  });
}

/** Returns the PE checksum: 16-bit words with carry, plus the length. The field itself counts as zero. */
function checksumOf(program: Buffer): number {
  let sum = 0;
  for (let at = 0; at + 1 < program.length; at += 2) sum += program.readUInt16LE(at);
  if (program.length % 2 === 1) sum += program.at(-1)!;
  while (sum > 0xffff) sum = (sum % 0x10000) + Math.floor(sum / 0x10000);
  return sum + program.length;
}

export function setMetadata(file: Uint8Array): Uint8Array {
  const program = Buffer.from(file);
  const header = headerOf(program);
  const sections = sectionsOf(program);
  const ours = sections.at(-1)!;
  const resources = sections.find(({ name }) => name === ".rsrc");
  if (ours.name !== ".bun" || !resources) throw new Error("The program's sections are not as expected");
  const rest = Buffer.from(program.subarray(0, ours.offset));
  rest.writeUInt16LE(sections.length - 1, header + HEADER.sectionCount);
  const edited = Buffer.from(withMetadata(rest));
  const moved = sectionsOf(edited).find(({ name }) => name === ".rsrc")!;
  if (moved.offset !== resources.offset || moved.size !== resources.size)
    throw new Error("The resources do not fit where the engine's were");
  edited.copy(program, resources.offset, resources.offset, resources.offset + resources.size);
  edited.copy(program, header + HEADER.resources, header + HEADER.resources, header + HEADER.resources + 8);
  program.writeUInt32LE(0, header + HEADER.checksum);
  program.writeUInt32LE(checksumOf(program), header + HEADER.checksum);
  return program;
}
