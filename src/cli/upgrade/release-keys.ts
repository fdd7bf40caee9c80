// The keys that releases of rt are signed with: minisign's public keys, as `npm run release-key -- create` prints them.
//
// Contract: these, in the program, are all that `rt upgrade` trusts; install.sh and install.ps1 are given the same when a
// release is built. Nothing at run time adds to them. While the table is empty, a release counts only with --sha256.
//
// Two at most: the one that signs now, and the next. docs/releasing.md says how one follows the other.

export const RELEASE_KEYS: readonly string[] = [];
