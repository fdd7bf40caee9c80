// Lists the minisign public keys that verify releases, as `npm run release-key -- create` prints them.
//
// Invariants:
// - `rt upgrade` trusts only these keys; the build writes the same ones into install.sh and install.ps1.
// - They are fixed at build time. With an empty list, a release is accepted only with --sha256.
// - At most two: the current key and the next one. docs/releasing.md describes the rotation.

export const RELEASE_KEYS: readonly string[] = [];
