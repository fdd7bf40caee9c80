// Reads a package.json strictly: it rejects more than JSON.parse() does.
//
// Invariants:
// - The text is untrusted. It is validated to its end before a result counts. Every read is within its bounds.
// - An escape in a relevant name and a repeated name are doubts.
#pragma once
#include "text.h"

enum { DEEPEST = 64 };

/** Which object of a package.json is read. */
enum object { ANY_OBJECT, MANIFEST, SCRIPTS };

struct json {
  const char *at, *end;
  /** The name of the script to find. */
  const char *name;
  /** Its text between the quotes; NULL without one. */
  const char *script;
  size_t script_length;
  int count_of_scripts, is_doubtful;
};

struct span {
  const char *start;
  size_t length;
  int has_escape;
};

static void skip_blanks(struct json *json) {
  while (json->at < json->end &&
         (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
    json->at++;
}

static int take(struct json *json, char byte) {
  if (json->at == json->end || *json->at != byte) return 0;
  json->at++;
  return 1;
}

static int take_digits(struct json *json) {
  const char *start = json->at;
  while (json->at < json->end && *json->at >= '0' && *json->at <= '9') json->at++;
  return json->at > start;
}

static int take_word(struct json *json, const char *word) {
  for (; *word; word++)
    if (!take(json, *word)) return 0;
  return 1;
}

static int take_number(struct json *json) {
  take(json, '-');
  if (!take(json, '0') && !take_digits(json)) return 0;
  if (take(json, '.') && !take_digits(json)) return 0;
  if (take(json, 'e') || take(json, 'E')) {
    if (!take(json, '+')) take(json, '-');
    return take_digits(json);
  }
  return 1;
}

static int take_string(struct json *json, struct span *span) {
  if (!take(json, '"')) return 0;
  *span = (struct span){json->at, 0, 0};
  while (json->at < json->end && *json->at != '"') {
    unsigned char byte = *json->at++;
    if (byte < 0x20) return 0;
    if (byte != '\\') continue;
    span->has_escape = 1;
    if (json->at == json->end) return 0;
    char kind = *json->at++;
    if (kind == 'u') {
      for (int each = 0; each < 4; each++) {
        if (json->at == json->end) return 0;
        char digit = *json->at++, letter = digit | 0x20;
        if (!(digit >= '0' && digit <= '9') && !(letter >= 'a' && letter <= 'f')) return 0;
      }
    } else {
      const char *kinds = "\"\\/bfnrt";
      while (*kinds && *kinds != kind) kinds++;
      if (!*kinds) return 0;
    }
  }
  span->length = json->at - span->start;
  return take(json, '"');
}

static int spells(struct span span, const char *word) {
  for (size_t each = 0; each < span.length; each++)
    if (span.start[each] != word[each]) return 0; // a word's NUL is in no JSON string
  return !word[span.length];
}

static int take_value(struct json *json, enum object object, int depth);

static int take_member(struct json *json, enum object object, int depth) {
  struct span name, text;
  if (!take_string(json, &name)) return 0;
  skip_blanks(json);
  if (!take(json, ':')) return 0;
  if (object == ANY_OBJECT) return take_value(json, ANY_OBJECT, depth);
  json->is_doubtful |= name.has_escape;
  if (object == MANIFEST) {
    int is_scripts = spells(name, first_of(SCRIPTS_FIELD));
    json->is_doubtful |= is_scripts && json->count_of_scripts++ > 0;
    return take_value(json, is_scripts ? SCRIPTS : ANY_OBJECT, depth);
  }
  if (!spells(name, json->name)) return take_value(json, ANY_OBJECT, depth);
  json->is_doubtful |= json->script != NULL;
  skip_blanks(json);
  if (!take_string(json, &text)) return 0; // not a text
  json->is_doubtful |= text.has_escape;
  json->script = text.start;
  json->script_length = text.length;
  skip_blanks(json);
  return 1;
}

/** Takes a value and the blanks around it. @returns 0 for a doubt */
static int take_value(struct json *json, enum object object, int depth) {
  struct span span;
  if (depth > DEEPEST) return 0;
  skip_blanks(json);
  if (json->at == json->end) return 0;
  char first = *json->at, close = first == '{' ? '}' : ']';
  if (first == '{' || first == '[') {
    json->at++;
    skip_blanks(json);
    if (!take(json, close)) {
      do {
        skip_blanks(json);
        if (!(first == '{' ? take_member(json, object, depth + 1) : take_value(json, ANY_OBJECT, depth + 1)))
          return 0;
      } while (take(json, ','));
      if (!take(json, close)) return 0;
    }
  } else if (object != ANY_OBJECT) return 0; // no object where one is expected
  else if (first == '"') {
    if (!take_string(json, &span)) return 0;
  } else if (first == 't') {
    if (!take_word(json, "true")) return 0;
  } else if (first == 'f') {
    if (!take_word(json, "false")) return 0;
  } else if (first == 'n') {
    if (!take_word(json, "null")) return 0;
  } else if (!take_number(json)) return 0;
  skip_blanks(json);
  return 1;
}

/** Looks for a script in a package.json. @returns 0 for a doubt */
static int find_script(struct json *json, const char *text, size_t length, const char *name) {
  *json = (struct json){.at = text, .end = text + length, .name = name};
  skip_blanks(json);
  if (!is_utf8(text, length) || json->at == json->end || *json->at != '{') return 0;
  return take_value(json, MANIFEST, 0) && json->at == json->end && !json->is_doubtful;
}
