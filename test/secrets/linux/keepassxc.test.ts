import { startKeePassXC } from "../../support/keyring/keepassxc.ts";
import { testKeyring } from "../conformance.ts";

testKeyring("KeePassXC", startKeePassXC);
