// Modules that only the build knows.
declare module "rt:preload" {
  const url: string;
  export default url;
}

declare module "*.txt" {
  const text: string;
  export default text;
}
