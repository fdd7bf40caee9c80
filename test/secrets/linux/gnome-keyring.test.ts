import { startKeyring } from "../../support/keyring/keyring.ts";
import { testKeyring } from "../conformance.ts";

testKeyring("GNOME Keyring", startKeyring, { maxValue: 1 << 20 });
