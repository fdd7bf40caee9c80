// Renders a self-contained HTML page with embedded data, style and script.
//
// Invariants: the Content-Security-Policy (CSP) permits only this style and this script, by hash, and no requests.
// Data is never executed.
import { escapeJson, printable } from "../../printable.ts";

/** Created by build/bundle/bundled-pages.ts. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

export function renderDocument(title: string, data: object, { script, style }: PageParts): string {
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
<title>${Bun.escapeHTML(printable(title))}</title>
<style>${style}</style>
</head>
<body>
<noscript>This page needs JavaScript: allow scripts for it.</noscript>
<script type="application/json" id="data">${embedJson(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** Escapes `<`, so that the data cannot end the element or begin a comment. */
function embedJson(data: object): string {
  return escapeJson(JSON.stringify(data)).replaceAll("<", "\\u003c");
}

function hash(text: string): string {
  return `sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}`;
}
