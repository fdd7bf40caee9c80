// Diagnoses the keychain: default keychain, lock state, dialogs in this session, and this program's code signature.
//
// Invariants:
// - It shows no dialog, unlocks nothing and stores nothing. A failed call ends only its own check.
import { errorMessage } from "../../caught-error.ts";
import {
  type DiagnosisCheck,
  type Diagnosis,
  ProviderFailure,
  splitRemedy,
} from "../contract/secret-provider.ts";
import {
  readConstants,
  readEntry,
  readNumber,
  readString,
  type CFReference,
  Scope,
} from "./core-foundation.ts";
import { SECURITY } from "./frameworks.ts";
import { openStateThreads, type SecurityCall, type StateSymbol } from "./security.ts";

type KeychainFinding = Omit<DiagnosisCheck, "name">;
type Inspection = (call: SecurityCall<StateSymbol>, scope: Scope) => Promise<KeychainFinding>;

const CHECKS: readonly (readonly [string, Inspection])[] = [
  ["default keychain", lookAtKeychain],
  ["dialogs", lookAtSession],
  ["signature", lookAtSignature],
];

// Bits of SecKeychainStatus, SessionAttributeBits and SecCodeSignatureFlags.
const IS_UNLOCKED = 1;
const IS_WRITABLE = 4;
const HAS_GRAPHICS = 0x10;
const IS_AD_HOC = 2;

const THIS_SESSION = 0xffff_ffff; // callerSecuritySession
const SIGNING_INFORMATION = 2; // kSecCSSigningInformation
const MAX_PATH = 4096;

export async function diagnoseKeychain(): Promise<Diagnosis> {
  const threads = openStateThreads();
  const checks: DiagnosisCheck[] = [];
  for (const [name, look] of CHECKS) {
    const finding = await threads
      .use(async (call) => {
        using scope = new Scope();
        return await look(call, scope);
      })
      .catch(toProblem);
    checks.push({ name, ...finding });
  }
  return { store: "Keychain", checks };
}

async function lookAtKeychain(call: SecurityCall<StateSymbol>, scope: Scope): Promise<KeychainFinding> {
  const keychain = await copy(scope, (result) => call("SecKeychainCopyDefault", [result]));
  const length = Uint32Array.of(MAX_PATH);
  const path = Buffer.alloc(MAX_PATH);
  await call("SecKeychainGetPath", [keychain, length, path]);
  const state = new Uint32Array(1);
  await call("SecKeychainGetStatus", [keychain, state]);
  const [bits = 0] = state;
  const file = path.toString("utf8", 0, length[0]);
  if ((bits & IS_WRITABLE) === 0)
    return { status: "problem", found: `${file} is read-only`, remedy: "make the file writable" };
  if ((bits & IS_UNLOCKED) === 0) {
    const remedy = "`security unlock-keychain` asks for its password, here and over SSH";
    return { status: "problem", found: `${file} is locked`, remedy };
  }
  return { status: "ok", found: `${file}, unlocked` };
}

async function lookAtSession(call: SecurityCall<StateSymbol>): Promise<KeychainFinding> {
  const [id, attributes] = [new Uint32Array(1), new Uint32Array(1)];
  await call("SessionGetInfo", [THIS_SESSION, id, attributes]);
  if ((attributes[0]! & HAS_GRAPHICS) !== 0)
    return { status: "ok", found: "macOS can show them in this session" };
  return {
    status: "warning",
    found: "macOS cannot show any in this session (SSH, a service), so what would have to be asked fails",
    remedy:
      "choose Always Allow once at the Mac's own screen, and unlock the keychain with `security unlock-keychain`",
  };
}

async function lookAtSignature(call: SecurityCall<StateSymbol>, scope: Scope): Promise<KeychainFinding> {
  const code = await copy(scope, (result) => call("SecCodeCopySelf", [0, result]));
  const information = await copy(scope, (result) =>
    call("SecCodeCopySigningInformation", [code, SIGNING_INFORMATION, result]),
  );
  const { kSecCodeInfoIdentifier, kSecCodeInfoTeamIdentifier, kSecCodeInfoFlags } = readConstants(SECURITY, [
    "kSecCodeInfoIdentifier",
    "kSecCodeInfoTeamIdentifier",
    "kSecCodeInfoFlags",
  ]);
  const identifier = readString(readEntry(information, kSecCodeInfoIdentifier));
  const team = readString(readEntry(information, kSecCodeInfoTeamIdentifier));
  const isAdHoc = (readNumber(readEntry(information, kSecCodeInfoFlags)) & IS_AD_HOC) !== 0;
  if (identifier !== undefined && !isAdHoc)
    return { status: "ok", found: `${identifier}${team ? `, team ${team}` : ""}` };
  return {
    status: "warning",
    found:
      identifier === undefined ? "No signature found" : `${identifier}, signed ad hoc, without an identity`,
    remedy: "macOS may ask again for each entry after an update of rt; choose Always Allow",
  };
}

async function copy(scope: Scope, call: (result: BigUint64Array) => Promise<number>): Promise<CFReference> {
  const result = new BigUint64Array(1);
  await call(result);
  return scope.own(result[0]!);
}

function toProblem(error: unknown): KeychainFinding {
  const [found, remedy] = splitRemedy(errorMessage(error));
  // Other errors concern the check itself, not the keychain.
  return { status: error instanceof ProviderFailure ? "problem" : "warning", found, remedy };
}
