// KeePassXC in a private session, without a display. Its database is created on the command line, with one group as the default
// collection. Autosave is off, since version 2.7 sometimes crashes while saving.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Keyring, startKeyring } from "./keyring.ts";
import { waitUntil } from "../processes.ts";

const PASSWORD = "the database's password";
const GROUP = "Secrets";
const SETTINGS = `[General]
AutoSaveAfterEveryChange=false
AutoSaveOnExit=false
ConfigVersion=2
UpdateCheckMessageShown=true

[FdoSecrets]
Enabled=true
ConfirmAccessItem=false
ConfirmDeleteItem=false
ShowNotification=false

[Security]
LockDatabaseIdle=false
`;

/** Starts a session whose secret service is KeePassXC, with an open database. */
export async function startKeePassXC(): Promise<Keyring> {
  const keyring = await startKeyring({ service: "none" });
  try {
    const path = (name: string) => join(keyring.home, name);
    const cli = (args: string[], stdin = `${PASSWORD}\n`) => keyring.run(["keepassxc-cli", ...args], stdin);
    await cli(["db-create", "-q", "-p", "-t", "100", path("first.kdbx")], `${PASSWORD}\n${PASSWORD}\n`);
    await cli(["mkdir", "-q", path("first.kdbx"), GROUP]);
    const xml = await cli(["export", "-q", "-f", "xml", path("first.kdbx")]);
    await writeFile(path("exposed.xml"), exposeGroup(xml));
    await cli(
      ["import", "-q", "-p", "-t", "100", path("exposed.xml"), path("exposed.kdbx")],
      `${PASSWORD}\n${PASSWORD}\n`,
    );
    await mkdir(path(".config/keepassxc"), { recursive: true });
    await mkdir(path("tmp"));
    await writeFile(path(".config/keepassxc/keepassxc.ini"), SETTINGS);
    const environment = { QT_QPA_PLATFORM: "offscreen", TMPDIR: path("tmp") };
    await keyring.start(["keepassxc", "--pw-stdin", path("exposed.kdbx")], environment, `${PASSWORD}\n`);
    // KeePassXC owns the name before the database is open, and the collection exists before it is unlocked.
    await waitUntil(() => keyring.isOpen());
    return keyring;
  } catch (error) {
    await keyring[Symbol.asyncDispose]();
    throw error;
  }
}

function exposeGroup(xml: string): string {
  const [, uuid] = new RegExp(`<UUID>([^<]+)</UUID>\\s*<Name>${GROUP}</Name>`).exec(xml) ?? [];
  if (!uuid) throw new Error("keepassxc-cli exported no group");
  const hex = Buffer.from(uuid, "base64").toString("hex");
  const text = `{${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")}}`;
  const item = `<Item><Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>${text}</Value></Item>`;
  return xml.replace("</Meta>", `<CustomData>${item}</CustomData></Meta>`);
}
