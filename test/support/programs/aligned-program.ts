// Aligns the sections of a Windows program to pages of the file, so that Wine can map them. Otherwise Wine reads a hundred
// megabytes into memory at each start. It changes only that.
const PAGE = 4096; // bytes
const SECTION_HEADER = 40; // bytes

export function alignSections(program: Buffer): Buffer {
  const header = program.readUInt32LE(0x3c);
  const count = program.readUInt16LE(header + 6);
  const optional = header + 24;
  const table = optional + program.readUInt16LE(header + 20);
  const head = Buffer.from(program.subarray(0, program.readUInt32LE(optional + 60)));
  const parts: Buffer[] = [head];
  let [length, end] = [head.length, head.length];
  for (let index = 0; index < count; index += 1) {
    const at = table + index * SECTION_HEADER;
    const [size, offset] = [head.readUInt32LE(at + 16), head.readUInt32LE(at + 20)];
    if (size === 0) continue;
    const padding = Buffer.alloc((PAGE - (length % PAGE)) % PAGE);
    end = offset + size;
    parts.push(padding, program.subarray(offset, end));
    head.writeUInt32LE(length + padding.length, at + 20);
    length += padding.length + size;
  }
  return Buffer.concat([...parts, program.subarray(end)]);
}
