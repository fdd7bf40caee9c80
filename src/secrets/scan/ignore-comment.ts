// Recognizes the comment `rt-ignore-secret`, which suppresses a finding in its line or, on a separate line, in the next line.
//
// Non-obvious:
// - A line that begins with a comment mark need not be a comment: "//r.example/:_authToken=..." in .npmrc is a setting.
// - Code may follow the end of "/* rt-ignore-secret */" on the same line.

const IGNORE = "rt-ignore-secret";
/** Comment marks of languages, and the key `"//"` of package.json. */
const STARTS = [
  ...["#", "//", "/*", "*", ";", "%", "--", "::", "REM", '"//":'],
  ...["<!--", "<%--", "{/*", "{{!", "{#", "{-", "(*"],
];
const ENDS = ["*/", "-->", "--%>", "--}}", "#}", "-}", "*)"];
const oneOf = (words: readonly string[]) =>
  `(?:${words.map((word) => word.replace(/\W/g, "\\$&")).join("|")})`;
/** Matches the bare word too, for key files without a comment syntax. */
const OWN_LINE = new RegExp(
  String.raw`^\ufeff?\s*(?:${oneOf(STARTS)}[#/*;%!-]*(?:\s.*)?)?${IGNORE}(?!.*${oneOf(ENDS)}\}?\s*[^\s}])`,
);

/** Returns whether a finding is suppressed. @param line number from 1 */
export function isIgnored(lines: readonly string[], line: number): boolean {
  return (lines[line - 1]?.includes(IGNORE) ?? false) || OWN_LINE.test(lines[line - 2] ?? "");
}
