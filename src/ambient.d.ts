// Modules that only the build knows.
declare module "rt:preload" {
  const url: string;
  export default url;
}

declare module "rt:parts" {
  const file: string;
  export default file;
}

declare module "rt:registry-addon" {
  const file: string;
  export default file;
}

declare module "rt:types" {
  const text: string;
  export default text;
}

declare module "rt:guides" {
  /** JSON of names and pages, compressed. */
  const file: string;
  export default file;
}

declare module "damerau-levenshtein" {
  export default function damerauLevenshtein(a: string, b: string): { readonly steps: number };
}
