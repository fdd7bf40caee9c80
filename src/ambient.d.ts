// Types of virtual modules, which the build generates, of embedded files, and of packages without types.
declare module "*.bin" {
  /** See platform/native/linux/memory-program.ts. */
  const program: string;
  export default program;
}

declare module "rt:preload" {
  const url: string;
  export default url;
}

declare module "rt:debugger" {
  /** File names of the bundles: src/debugger/bootstrap.ts with the runtime, and debugger-thread.ts. */
  export const program: string;
  export const thread: string;
}

declare module "rt:debugger-texts" {
  /** Source texts of the same bundles. */
  export const program: string;
  export const thread: string;
}

declare module "rt:option-preload" {
  const url: string;
  export default url;
}

declare module "rt:pages" {
  /** The script and the style of each page of src/reporters/page. */
  export const run: import("./reporters/page/document.ts").PageParts;
  export const plan: import("./reporters/page/document.ts").PageParts;
}

declare module "rt:parts" {
  const file: string;
  export default file;
}

declare module "rt:registry-addon" {
  const file: string;
  export default file;
}

declare module "rt:texts" {
  /** File name of a zstd-compressed JSON object of names and texts. */
  const file: string;
  export default file;
}

declare module "damerau-levenshtein" {
  export default function damerauLevenshtein(a: string, b: string): { readonly steps: number };
}

declare module "jsonc-parser/lib/esm/impl/parser.js" {
  export { visit } from "jsonc-parser";
}
