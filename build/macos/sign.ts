// Signs with an identity, on a Mac: the command, and rt.app around it, which can be notarized and stapled. See docs/releasing.md for
// the next steps.
//
// Both have the hardened runtime, which notarization requires, with the entitlements of a JIT engine. Both have the same identifier, so
// a keychain treats them, and later versions, as one program.
import { sign } from "@electron/osx-sign";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ArchiveFile } from "../release/archive.ts";
import { PRODUCT } from "../product.ts";

const ENTITLEMENTS = join(import.meta.dir, "entitlements.plist");

const INFORMATION: Readonly<Record<string, string>> = {
  CFBundleExecutable: PRODUCT.command,
  CFBundleIdentifier: PRODUCT.identifier,
  CFBundleInfoDictionaryVersion: "6.0",
  CFBundleName: PRODUCT.command,
  CFBundlePackageType: "APPL",
  CFBundleShortVersionString: PRODUCT.version,
  CFBundleVersion: PRODUCT.version,
  LSMinimumSystemVersion: "13.0",
  NSHumanReadableCopyright: PRODUCT.copyright,
};

function renderInformation(): string {
  const entries = Object.entries(INFORMATION).map(
    ([key, value]) => `\t<key>${key}</key>\n\t<string>${value}</string>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
${entries.join("\n")}
\t<!-- A command: no icon in the Dock, no menu. -->
\t<key>LSUIElement</key>
\t<true/>
</dict>
</plist>
`;
}

async function makeApp(binary: string, directory: string): Promise<string> {
  const app = join(directory, `${PRODUCT.command}.app`);
  const programs = join(app, "Contents", "MacOS");
  await mkdir(programs, { recursive: true });
  await cp(binary, join(programs, PRODUCT.command));
  await writeFile(join(app, "Contents", "Info.plist"), renderInformation());
  return app;
}

async function readApp(directory: string): Promise<ArchiveFile[]> {
  const paths = [...new Bun.Glob("**/*").scanSync({ cwd: directory, dot: true })];
  return await Promise.all(
    paths.map(async (path) => ({
      path,
      content: await readFile(join(directory, path)),
      isExecutable: path.includes("/MacOS/"),
    })),
  );
}

/**
 * @param binary signed in place
 * @param identity as listed by `security find-identity -v -p codesigning`
 * @param directory for temporary files
 * @returns the files of the signed app
 */
export async function signWithIdentity(
  binary: string,
  identity: string,
  directory: string,
): Promise<ArchiveFile[]> {
  if (!Bun.which("codesign"))
    throw new Error("Signing with an identity needs codesign, which is on a Mac alone");
  const workspace = await mkdtemp(join(directory, ".sign-"));
  try {
    await sign({
      app: await makeApp(binary, workspace),
      binaries: [binary],
      identity,
      platform: "darwin",
      preAutoEntitlements: false,
      preEmbedProvisioningProfile: false,
      optionsForFile: () => ({
        entitlements: ENTITLEMENTS,
        hardenedRuntime: true,
        additionalArguments: ["--identifier", PRODUCT.identifier],
      }),
    });
    return await readApp(workspace);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}
