// Modules that only the build knows.
declare module "rt:preload" {
  const url: string;
  export default url;
}

declare module "rt:debugger" {
  /** The names of files: src/debugger/bootstrap.ts with the runtime in it, and debugger-thread.ts. */
  export const program: string;
  export const thread: string;
}

declare module "rt:debugger-texts" {
  /** What is in them: modules. */
  export const program: string;
  export const thread: string;
}

declare module "rt:option-preload" {
  const url: string;
  export default url;
}

declare module "rt:pages" {
  /** The script and the style of each page of src/reporters/page. */
  type Parts = import("./reporters/page/document.ts").PageParts;
  export const run: Parts;
  export const plan: Parts;
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
  /** JSON of names and texts, compressed. */
  const file: string;
  export default file;
}

declare module "damerau-levenshtein" {
  export default function damerauLevenshtein(a: string, b: string): { readonly steps: number };
}
