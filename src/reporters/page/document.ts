// A page as one file that needs nothing else: its data, its style and its script are in it.
//
// Contract: the page's own rules forbid it everything but this very style and this very script (by their hashes), so that
// whatever gets into its data is no more than text. It fetches nothing.
import { escapeJson, printable } from "../../printable.ts";

/** As build/bundled-pages.ts makes them. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

/** @param body what is in the page before its script runs: HTML */
export function renderDocument(
  title: string,
  data: object,
  { script, style }: PageParts,
  body: string,
): string {
  const rules = [
    "default-src 'none'",
    `script-src '${hash(script)}'`,
    `style-src '${hash(style)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${rules.join("; ")}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${escapeHtml(printable(title))}</title>
<style>${style}</style>
</head>
<body>
${body}
<script type="application/json" id="data">${embedJson(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return Bun.escapeHTML(text);
}

/** Nothing in it ends the element, or begins a comment. */
function embedJson(data: object): string {
  return escapeJson(JSON.stringify(data)).replaceAll("<", "\\u003c");
}

function hash(text: string): string {
  return `sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}`;
}
