import { startKeePassXC } from "../support/keepassxc.ts";
import { testKeyring } from "./conformance.ts";

testKeyring("KeePassXC", startKeePassXC);
