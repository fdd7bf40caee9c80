// Draws rt's icon: two letters on a rounded square. `bun build/executable/icon.ts` writes dist/rt.ico.
//
// Each size is drawn separately from distances to the shapes, so edges are smooth at 16 pixels too. The file contains PNG images, which
// Windows supports since Vista.
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";

const SIZES = [16, 24, 32, 48, 64, 128, 256];

type Point = readonly [x: number, y: number];
type Colour = readonly [red: number, green: number, blue: number];

const BACKGROUND: Colour = [24, 28, 44];
const LETTERS: Colour = [244, 240, 230];
const DOT: Colour = [240, 138, 60];

/** In units of the icon's width. */
const CORNER = 0.2;
const STROKE = 0.055;

/** The strokes of "r" and "t", as lines from point to point. */
const STROKES: ReadonlyArray<readonly Point[]> = [
  [
    [0.24, 0.36],
    [0.24, 0.74],
  ],
  [
    [0.24, 0.5],
    [0.29, 0.41],
    [0.37, 0.37],
    [0.44, 0.37],
  ],
  [
    [0.6, 0.24],
    [0.6, 0.64],
    [0.63, 0.71],
    [0.69, 0.74],
    [0.75, 0.74],
  ],
  [
    [0.5, 0.38],
    [0.74, 0.38],
  ],
];

const DOT_CENTRE: Point = [0.84, 0.72];
const DOT_RADIUS = 0.06;

function distanceToLine([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}

function distanceToSquare([x, y]: Point): number {
  const [dx, dy] = [Math.abs(x - 0.5) - (0.5 - CORNER), Math.abs(y - 0.5) - (0.5 - CORNER)];
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(0, Math.max(dx, dy)) - CORNER;
}

function distanceToLetters(point: Point): number {
  const distances = STROKES.flatMap((stroke) =>
    stroke.slice(1).map((end, index) => distanceToLine(point, stroke[index]!, end)),
  );
  return Math.min(...distances) - STROKE;
}

/** Returns red, green, blue and opacity of one pixel. */
function pixelAt(column: number, row: number, size: number): number[] {
  const point: Point = [(column + 0.5) / size, (row + 0.5) / size];
  const cover = (distance: number) => Math.min(1, Math.max(0, 0.5 - distance * size));
  const letters = cover(distanceToLetters(point));
  const dot = cover(Math.hypot(point[0] - DOT_CENTRE[0], point[1] - DOT_CENTRE[1]) - DOT_RADIUS);
  const mix = (channel: number) => {
    const lettered = BACKGROUND[channel]! * (1 - letters) + LETTERS[channel]! * letters;
    return Math.round(lettered * (1 - dot) + DOT[channel]! * dot);
  };
  return [mix(0), mix(1), mix(2), Math.round(255 * cover(distanceToSquare(point)))];
}

function pngChunk(kind: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

export function drawPng(size: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6], 8); // eight bits each of four channels
  const rows = Array.from({ length: size }, (_, row) => [
    0, // no filter
    ...Array.from({ length: size }, (_, column) => pixelAt(column, row, size)).flat(),
  ]);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(Buffer.from(rows.flat()), { level: 9 })),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

export function drawIcon(): Buffer {
  const images = SIZES.map(drawPng);
  const directory = Buffer.alloc(6 + 16 * SIZES.length);
  directory.writeUInt16LE(1, 2); // an icon
  directory.writeUInt16LE(SIZES.length, 4);
  let offset = directory.length;
  SIZES.forEach((size, index) => {
    const at = 6 + 16 * index;
    directory.set([size % 256, size % 256], at); // 0 means 256
    directory.writeUInt16LE(1, at + 4);
    directory.writeUInt16LE(32, at + 6);
    directory.writeUInt32LE(images[index]!.length, at + 8);
    directory.writeUInt32LE(offset, at + 12);
    offset += images[index]!.length;
  });
  return Buffer.concat([directory, ...images]);
}

if (import.meta.main) await Bun.write(join(import.meta.dir, "../..", "dist", "rt.ico"), drawIcon());
