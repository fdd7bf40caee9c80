// The SBOM of a program: the engine and the bundled npm packages with versions and licences, in CycloneDX format and as one text.
//
// It is reproducible: it contains neither a time nor a serial number.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PRODUCT } from "../product.ts";
import type { BuildTarget } from "../targets.ts";

const ROOT = join(import.meta.dir, "../..");

interface Component {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly licenceText: string;
}

/** Packages declare their licence in one of three ways. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string | { readonly type: string };
  readonly licenses?: ReadonlyArray<{ readonly type: string }>;
}

function licenceOf({ license, licenses }: Manifest): string {
  if (typeof license === "string") return license.replace(/^MIT\/X11$/, "MIT");
  const types = (license ? [license] : (licenses ?? [])).map(({ type }) => type.replace(/^MIT\/X11$/, "MIT"));
  return types.join(" OR ");
}

/** Licence texts in source files, for packages without a licence file. One refers to the Apache licence, which others contain. */
const IN_SOURCES: Readonly<Record<string, readonly string[]>> = {
  "@bufbuild/protobuf": ["dist/esm/create.js", "dist/esm/wire/varint.js"],
};

/** Licence texts of packages that contain none, from the repositories of their authors. */
const OUTSIDE_PACKAGES: Readonly<Record<string, string>> = {
  "@xterm/headless": "build/release/licences/xterm.txt",
};

function firstComment(source: string): string {
  const lines = source.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ""))
    .join("\n");
}

function readLicenceText(name: string, directory: string): string | undefined {
  const read = (path: string) => readFileSync(path, "utf8").trim();
  const file = readdirSync(directory)
    .toSorted() // file systems have different orders
    .find((each) => /^licen[cs]e/i.test(each));
  if (file) return read(join(directory, file));
  const outside = OUTSIDE_PACKAGES[name];
  if (outside !== undefined) return read(join(ROOT, outside));
  const sources = IN_SOURCES[name]?.map((each) => firstComment(read(join(directory, each))));
  return sources?.join("\n\n").trim();
}

/** @param inputs bundled source files, relative to the root */
export function readComponents(inputs: Iterable<string>): Component[] {
  const folders = new Set<string>();
  for (const input of inputs) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
    if (folder) folders.add(folder);
  }
  const components = [...folders].map((folder) => {
    const directory = join(ROOT, folder);
    const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest;
    const licence = licenceOf(manifest);
    const licenceText = readLicenceText(manifest.name, directory);
    if (!licence || licenceText === undefined)
      throw new Error(`The licence of ${manifest.name} is not in its package`);
    return { name: manifest.name, version: manifest.version, licence, licenceText };
  });
  return components.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const ENGINE = {
  name: "bun",
  version: Bun.version,
  licence: "MIT",
  licenceText: `Bun is under the MIT licence, copyright (c) Jarred Sumner and others. It contains JavaScriptCore and WebCore of
WebKit (LGPL-2.1 and BSD-2-Clause) and the libraries that its own documentation lists with their licences; the engine
is embedded unmodified and can be exchanged by building rt with another one.`,
};

function toCycloneDx({ name, version, licence }: Component, kind: "library" | "platform") {
  return {
    type: kind,
    "bom-ref": `pkg:npm/${name.replace("@", "%40")}@${version}`,
    name,
    version,
    licenses: [licence.includes(" ") ? { expression: licence } : { license: { id: licence } }],
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
  };
}

/** @param program the finished binary */
export function describeContents(
  target: BuildTarget,
  program: Uint8Array,
  components: readonly Component[],
): string {
  const parts = [toCycloneDx(ENGINE, "platform"), ...components.map((each) => toCycloneDx(each, "library"))];
  const self = `pkg:generic/${PRODUCT.package}@${PRODUCT.version}?target=${target.name}`;
  const bom = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": self,
        name: PRODUCT.package,
        version: PRODUCT.version,
        licenses: [{ license: { id: PRODUCT.licence } }],
        hashes: [{ alg: "SHA-256", content: createHash("sha256").update(program).digest("hex") }],
        properties: [{ name: "target", value: target.name }],
      },
    },
    components: parts,
    dependencies: [{ ref: self, dependsOn: parts.map((part) => part["bom-ref"]) }],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

export function renderNotices(components: readonly Component[]): string {
  const notices = [ENGINE, ...components].map(
    ({ name, version, licence, licenceText }) => `${name} ${version} (${licence})\n\n${licenceText}\n`,
  );
  return [`${PRODUCT.command} contains the following.\n`, ...notices].join(`\n${"-".repeat(80)}\n\n`);
}
