// KWallet in a private session, headless: its wallet is made and opened through the call that the login
// manager's PAM module uses, with a key instead of a typed password.
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Keyring, startKeyring } from "./keyring.ts";

const CONFIG = `[Wallet]
Enabled=true
First Use=false
Default Wallet=kdewallet
Use One Wallet=true
Close When Idle=false
Leave Open=true

[org.freedesktop.secrets]
apiEnabled=true

[Auto Allow]
kdewallet=*
`;
const KEY = Array.from({ length: 56 }, (_, index) => index + 1);

/** A session whose secret service is KWallet, with an open wallet. */
export async function startKWallet(): Promise<Keyring> {
  const keyring = await startKeyring({ service: "none" });
  try {
    await mkdir(join(keyring.home, ".config"), { recursive: true });
    await writeFile(join(keyring.home, ".config", "kwalletrc"), CONFIG);
    const start = () => keyring.start(["kwalletd5"], { QT_QPA_PLATFORM: "offscreen" });
    // Collections are read at the start, so the wallet has to exist before it.
    await start();
    await openWallet(keyring);
    const wallet = join(keyring.home, ".local/share/kwalletd/kdewallet.kwl");
    while (!existsSync(wallet)) await Bun.sleep(5);
    await keyring.killService();
    await start();
    await openWallet(keyring);
    return keyring;
  } catch (error) {
    await keyring[Symbol.asyncDispose]();
    throw error;
  }
}

async function openWallet(keyring: Keyring): Promise<void> {
  const call = ["--dest=org.kde.kwalletd5", "/modules/kwalletd5", "org.kde.KWallet.pamOpen"];
  const args = ["string:kdewallet", `array:byte:${KEY.join()}`, "int32:0"];
  await keyring.run(["dbus-send", "--session", "--print-reply", ...call, ...args]);
}
