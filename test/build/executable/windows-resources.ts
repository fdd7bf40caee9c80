// Reads the icons and the version of a program for Windows from its resources: a tree of type, name and language.

export interface WindowsResources {
  /** In pixels. */
  readonly icons: readonly number[];
  readonly strings: Readonly<Record<string, string>>;
  readonly fixedVersion: string;
}

const GROUP_ICON = 14;
const VERSION = 16;

interface Entry {
  readonly id: number;
  readonly data: Buffer;
}

function readEntries(file: Buffer): Array<Entry & { type: number }> {
  const header = file.readUInt32LE(0x3c);
  const directory = header + 24 + 112 + 16;
  const address = file.readUInt32LE(directory);
  const table = header + 24 + file.readUInt16LE(header + 20);
  let base = 0;
  for (let index = 0; index < file.readUInt16LE(header + 6); index += 1)
    if (file.readUInt32LE(table + 40 * index + 12) === address)
      base = file.readUInt32LE(table + 40 * index + 20);
  const list = (offset: number) => {
    const count = file.readUInt16LE(base + offset + 12) + file.readUInt16LE(base + offset + 14);
    return Array.from({ length: count }, (_, index) => {
      const at = base + offset + 16 + 8 * index;
      return { id: file.readUInt32LE(at), child: file.readUInt32LE(at + 4) & 0x7fffffff };
    });
  };
  return list(0).flatMap((type) =>
    list(type.child).flatMap((name) =>
      list(name.child).map((language) => {
        const at = base + language.child;
        const start = base + file.readUInt32LE(at) - address;
        return { type: type.id, id: name.id, data: file.subarray(start, start + file.readUInt32LE(at + 4)) };
      }),
    ),
  );
}

/** A block of the version resource: key, value and nested blocks. */
function readStrings(block: Buffer, found: Record<string, string>): void {
  let at = 0;
  while (at + 6 < block.length) {
    const length = block.readUInt16LE(at);
    if (length === 0) return;
    const valueLength = block.readUInt16LE(at + 2);
    const isText = block.readUInt16LE(at + 4) === 1;
    let end = at + 6;
    while (block.readUInt16LE(end) !== 0) end += 2;
    const key = block.toString("utf16le", at + 6, end);
    const value = Math.ceil((end + 2) / 4) * 4;
    if (isText && valueLength > 0)
      found[key] = block.toString("utf16le", value, value + 2 * valueLength).replace(/\0.*$/s, "");
    else {
      const inner = value + Math.ceil(valueLength / 4) * 4;
      readStrings(block.subarray(inner, at + length), found);
    }
    at += Math.ceil(length / 4) * 4;
  }
}

export function readResources(file: Buffer): WindowsResources {
  const entries = readEntries(file);
  const group = entries.find(({ type }) => type === GROUP_ICON)!.data;
  const icons = Array.from({ length: group.readUInt16LE(4) }, (_, index) => group[6 + 14 * index]! || 256);
  const version = entries.find(({ type }) => type === VERSION)!.data;
  const fixed = version.indexOf(Buffer.from([0xbd, 0x04, 0xef, 0xfe]));
  const parts = [10, 8, 14, 12].map((offset) => version.readUInt16LE(fixed + offset));
  const strings: Record<string, string> = {};
  readStrings(version, strings);
  return { icons, strings, fixedVersion: parts.join(".") };
}
