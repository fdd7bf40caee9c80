/** A number below 65,536 of three bytes. Different ones may have the same number. */
export function gramOf(first: number, second: number, third: number): number {
  return Math.imul((first << 16) | (second << 8) | third, FACTOR) >>> 16;
}

const FACTOR = 0x9e3779b1;
