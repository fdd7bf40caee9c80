// Names of the Secret Service API (freedesktop.org, draft 0.2) and of the bus.
export const BUS_NAME = "org.freedesktop.DBus";
export const BUS_PATH = "/org/freedesktop/DBus";
export const SERVICE_NAME = "org.freedesktop.secrets";
export const SERVICE_PATH = "/org/freedesktop/secrets";
export const SERVICE_INTERFACE = "org.freedesktop.Secret.Service";
export const COLLECTION_INTERFACE = "org.freedesktop.Secret.Collection";
export const ITEM_INTERFACE = "org.freedesktop.Secret.Item";
export const PROPERTIES_INTERFACE = "org.freedesktop.DBus.Properties";
export const PROMPT_INTERFACE = "org.freedesktop.Secret.Prompt";
/** "No object" in results of the API. */
export const NO_OBJECT = "/";
export const DH_ALGORITHM = "dh-ietf1024-sha256-aes128-cbc-pkcs7";

const SESSION_COLLECTION = "/org/freedesktop/secrets/collection/session";

/** Returns whether a collection or item persists: the session collection does not, and nothing is stored there. */
export function isKept(path: string): boolean {
  return path !== SESSION_COLLECTION && !path.startsWith(`${SESSION_COLLECTION}/`);
}
