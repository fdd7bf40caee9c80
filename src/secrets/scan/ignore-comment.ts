// The comment that says of a finding that it is none: in its line, or in a line of its own above.
//
// Surprising: a line that begins with a mark may be no comment. "//r.example/:_authToken=..." of an .npmrc has no blank after
// the mark, and of "/* rt-ignore-secret */ const token = ..." something is left after the comment's end.

const IGNORE = "rt-ignore-secret";
/** How languages begin a comment; a package.json has a key for it. */
const STARTS = [
  ...["#", "//", "/*", "*", ";", "%", "--", "::", "REM", '"//":'],
  ...["<!--", "<%--", "{/*", "{{!", "{#", "{-", "(*"],
];
const ENDS = ["*/", "-->", "--%>", "--}}", "#}", "-}", "*)"];
const oneOf = (words: readonly string[]) =>
  `(?:${words.map((word) => word.replace(/\W/g, "\\$&")).join("|")})`;
/** A file of keys has the bare word. */
const OWN_LINE = new RegExp(
  String.raw`^\ufeff?\s*(?:${oneOf(STARTS)}[#/*;%!-]*(?:\s.*)?)?${IGNORE}(?!.*${oneOf(ENDS)}\}?\s*[^\s}])`,
);

/** @param line from 1 */
export function isIgnored(lines: readonly string[], line: number): boolean {
  return (lines[line - 1]?.includes(IGNORE) ?? false) || OWN_LINE.test(lines[line - 2] ?? "");
}
