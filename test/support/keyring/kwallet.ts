// KWallet in a private session. The wallet is created and opened by the call of the login manager's PAM module, with a key
// derived from the password.
import { pbkdf2Sync } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Keyring, startKeyring } from "./keyring.ts";
import { waitUntil } from "../processes.ts";

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
/** The password of the wallet, for dialogs. */
export const WALLET_PASSWORD = "the-wallet's-password";
const SALT = Uint8Array.from({ length: 56 }, (_, index) => index + 1);
const KEY = [...pbkdf2Sync(WALLET_PASSWORD, SALT, 50_000, 56, "sha512")];

/** Starts a session whose secret service is KWallet, with an open wallet; its dialogs need a display. */
export async function startKWallet({ display }: { display?: string } = {}): Promise<Keyring> {
  const keyring = await startKeyring({ service: "none", display });
  try {
    for (const path of [".config", ".local/share/kwalletd"])
      await mkdir(join(keyring.home, path), { recursive: true });
    await writeFile(join(keyring.home, ".local/share/kwalletd/kdewallet.salt"), SALT);
    await writeFile(join(keyring.home, ".config", "kwalletrc"), CONFIG);
    const platform = { QT_QPA_PLATFORM: display === undefined ? "offscreen" : "xcb" };
    const start = () => keyring.start(["kwalletd5"], platform);
    // KWallet reads collections at its start, so the wallet must exist before.
    await start();
    await openWallet(keyring);
    const wallet = join(keyring.home, ".local/share/kwalletd/kdewallet.kwl");
    await waitUntil(() => existsSync(wallet));
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
