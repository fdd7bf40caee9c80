// Mutants of what is found in a stream: forms of values, sequences of terminals, and what is held back.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/redaction/escape-sequences.ts": [
    {
      fault: "CAN ends no sequence",
      text: "let isOver = byte === CANCEL || byte === SUBSTITUTE;",
      becomes: "let isOver = byte === SUBSTITUTE;",
      tests: ["redaction/filter"],
    },
    {
      fault: "a bell ends no title",
      text: "} else if (state === TITLE) isOver = byte === BELL;",
      becomes: "}",
      tests: ["redaction/filter"],
    },
    {
      fault: "a bell ends every string",
      text: "else if (byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f) state = STRING;",
      becomes: "else if (byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f) state = TITLE;",
      tests: ["redaction/filter"],
    },
    {
      fault: "an escape in a string is a part of it",
      text: "      if (byte === ESCAPE) {",
      becomes: "      if (byte === ESCAPE && state !== STRING) {",
      tests: ["redaction/filter"],
    },
    {
      fault: "the second screen in a list of modes is none",
      text: "(?:.*;)?(?:1049",
      becomes: "(?:1049",
      tests: ["redaction/filter"],
    },
    {
      fault: "letters of more than one byte are a part of a sequence",
      text: "        isPart = byte < 0x80;\n        isOver = byte >= 0x40;",
      becomes: "        isOver = byte >= 0x40;",
      tests: ["redaction/filter"],
    },
    {
      fault: "the parameters of a sequence that is cut are forgotten",
      text: "    if (state === CSI) parameters += latin(piece, begun, size);\n",
      becomes: "",
      tests: ["redaction/filter"],
    },
  ],
  "src/redaction/filter.ts": [
    {
      fault: "what is held stays in memory",
      text: "    this.#held.fill(0);\n",
      becomes: "",
      tests: ["redaction/filter", "secrets/zeroing"],
    },
    {
      fault: "a long piece decides what is held although a value goes on in it",
      text: "held.includes(ESCAPE) || bytes.includes(ESCAPE)",
      becomes: "held.includes(ESCAPE)",
      tests: ["redaction/filter"],
    },
    {
      fault: "overlapping values have the name of the last",
      text: "second.longest > first.longest ? second : first",
      becomes: "second",
      tests: ["redaction/filter"],
    },
    {
      fault: "of two that are as long the last has its name",
      text: "second.longest > first.longest",
      becomes: "second.longest >= first.longest",
      tests: ["redaction/filter"],
    },
    {
      fault: "colours in a value are lost",
      text: "      for (const [start, stop] of steering) parts.push(piece.subarray(start, stop));\n",
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "a wide letter is one column",
      text: "const width = Bun.stringWidth(new TextDecoder().decode(value));",
      becomes: "const width = value.length;",
      tests: ["redaction/filter"],
    },
    {
      fault: "after a release a mark covers what was shown",
      text: "let at = Math.max(0, this.#shown - base);",
      becomes: "let at = 0;",
      tests: ["redaction/filter"],
    },
  ],
  "src/redaction/pattern-matcher.ts": [
    {
      fault: "of two values with one form the last has its name",
      text: "          bytes.fill(0);\n          continue;\n",
      becomes: "          alike.length = 0;\n",
      tests: ["redaction/filter"],
    },
    {
      fault: "what may be shown is hidden",
      text: "      if (!isRedacted) continue;\n",
      becomes: "",
      tests: ["redaction/filter", "run/attended"],
    },
    {
      fault: "a value that is the end of another is missed in the first half",
      text: "near += skip || 1;",
      becomes: "near += skip || this.#window;",
      tests: ["redaction/filter"],
    },
    {
      fault: "a value that is the end of another is missed in the second half",
      text: "far += farSkip || 1;",
      becomes: "far += farSkip || this.#window;",
      tests: ["redaction/filter"],
    },
    {
      fault: "a value that is the end of another is missed behind the halves",
      text: "at += skip || 1;",
      becomes: "at += skip || this.#window;",
      tests: ["redaction/filter"],
    },
    {
      fault: "what is in the middle of a text is missed",
      text: "let far = middle;",
      becomes: "let far = middle + 1;",
      tests: ["redaction/filter"],
    },
    {
      fault: "what is left when one half has been searched is missed",
      text: "near < middle ? [near, middle] : [far, length]",
      becomes: "[far, length]",
      tests: ["redaction/filter"],
    },
    {
      fault: "a value is held back from its second byte on",
      text: "return last >= from && this.#isFirst[text[last]!] === 1 ? last : length;",
      becomes: "return length;",
      tests: ["redaction/filter"],
    },
  ],
  "src/redaction/minimum-length.ts": [
    {
      fault: "bytes of one letter count as letters",
      text: "if ((value[at]! & 0xc0) !== 0x80) count += 1;",
      becomes: "count += 1;",
      tests: ["redaction/filter"],
    },
    {
      fault: "line breaks at the end make a value long enough",
      text: "  while (end > 0 && (value[end - 1] === 10 || value[end - 1] === 13)) end -= 1;\n  for",
      becomes: "  for",
      tests: ["redaction/filter"],
    },
  ],
  "src/redaction/stream.ts": [
    {
      fault: "at the end of a stream what is held is lost",
      text: "    const output = this.#filter.end();\n",
      becomes: "    const output = this.#filter.release();\n",
      tests: ["redaction/filter"],
    },
  ],
  "src/redaction/encodings.ts": [
    {
      fault: "a value is not found in the JSON that .NET makes",
      text: "{ isAscii: true, isUpper: true, ",
      becomes: "{ isAscii: true, ",
      tests: ["redaction/filter"],
    },
    {
      fault: "a value is not found in the JSON that Gson makes",
      text: "  { escaped: [0x3c, 0x3e, 0x26, 0x3d, 0x27] },\n",
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "a value is not found in the JSON that PHP makes by itself",
      text: "  { isAscii: true, slash: true },\n",
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "a value is not found in JSON that is a text in JSON",
      text: "    if (!style.isNested) return written;\n",
      becomes: "    if (style) return written;\n",
      tests: ["redaction/filter"],
    },
    {
      fault: "a value is not found in a URL that was encoded as a whole",
      text: `  { plain: bytesOf("!~*'();/?:@&=+$,#") },\n`,
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "a password is not found in a URL that it was put into",
      text: `  { plain: bytesOf("!$&'()*+,~%") },\n`,
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "an address is not found in the form that URL gives it",
      text: '  { plain: bytesOf("!$%&()*+,/:;=?@[\\\\]^`{|}~") },\n',
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "a pair of surrogates in JSON is one",
      text: "if (code >= 0x10000) length = writeUnit(",
      becomes: "if (code >= 0x110000) length = writeUnit(",
      tests: ["redaction/filter"],
    },
    {
      fault: "a plus for a space is not looked for",
      text: "if (plus && byte === SPACE) scratch[length++] = PLUS;\n        else if",
      becomes: "if",
      tests: ["redaction/filter"],
    },
    {
      fault: "a return in front of a line break is doubled",
      text: "if (byte === RETURN && value[at + 1] === NEWLINE) continue;",
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "what is escaped in a URL with capitals is not looked for",
      text: "if (!hasLetters) break;",
      becomes: "break;",
      tests: ["redaction/filter"],
    },
    {
      fault: "a slash with a backslash is not looked for",
      text: "if (slash && byte === SLASH) scratch[length++] = BACKSLASH;",
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "a line of base64 lacks its first letters",
      text: "lines.set(text.subarray(from, from + width), at);",
      becomes: "lines.set(text.subarray(from + 1, from + width), at);",
      tests: ["redaction/filter"],
    },
  ],
  "src/redaction/value-variants.ts": [
    {
      fault: "letters of JSON are not looked for",
      text: "made.push(...inJson(value, places), ...inUrl(value, places), ",
      becomes: "made.push(...inUrl(value, places), ",
      tests: ["redaction/filter"],
    },
    {
      fault: "lines of base64 are not looked for",
      text: "lead === 0 ? BASE64_WIDTHS : []",
      becomes: "lead < 0 ? BASE64_WIDTHS : []",
      tests: ["redaction/filter"],
    },
    {
      fault: "hexadecimal letters in capitals are not looked for",
      text: "for (const hex of inHex(value)) {",
      becomes: "for (const hex of inHex(value).slice(0, 1)) {",
      tests: ["redaction/filter"],
    },
    {
      fault: "the address of a database is hidden from its first letter on",
      text: "  if (end > 0) return end;\n",
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "copies of what is too short stay in memory",
      text: "if (bytes.length < SHORTEST) bytes.fill(0);",
      becomes: "if (bytes.length < SHORTEST) continue;",
      tests: ["redaction/filter"],
    },
  ],
} satisfies MutantTable;
