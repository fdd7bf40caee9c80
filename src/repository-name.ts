// Recognizes names that git takes for its own directory `.git`, on any file system. A program that has write access to such a
// directory can run commands as the user: by hooks, or by variables of its config such as core.fsmonitor.
//
// Non-obvious: the rules are git's own (verify_path): names without regard to case, the short name of Windows, its
// trailing dots, blanks and streams, and the characters that HFS+ ignores.
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const REPOSITORY = /^(?:\.git|git~\d+)[ .]*(?::.*)?$/is;

/** @param name one segment of a path; of several that "\" separates, any may be one */
export function isRepositoryName(name: string): boolean {
  return name.split("\\").some((part) => REPOSITORY.test(part.replace(HFS_IGNORED, "")));
}
