// Recognizes names that git treats as its directory `.git` on any file system. A program that can write to such a directory
// can run commands as the user, through hooks or configuration such as core.fsmonitor.
//
// Non-obvious:
// - The rules are git's verify_path(): any letter case, the Windows short name, trailing dots and spaces, NTFS streams, and
//   characters that HFS+ ignores.
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const REPOSITORY = /^(?:\.git|git~\d+)[ .]*(?::.*)?$/is;

/** @param name one segment of a path. On POSIX it may contain "\", which Windows treats as a separator: each part is checked */
export function isRepositoryName(name: string): boolean {
  return name.split("\\").some((part) => REPOSITORY.test(part.replace(HFS_IGNORED, "")));
}
