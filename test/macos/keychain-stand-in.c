/* Fakes CoreFoundation, the Objective-C runtime's pools and Security.framework on other systems. Has what
 * platform/secrets/macos calls. Built at test time into one shared library.
 *
 * It is stricter than the real ones: it records the address of every object. A double release, a use after the last
 * release, a wrong type or an invalid reference ends the process with a message. Short strings are tagged pointers with
 * bit 63 set, as on Apple's arm64. Memory of released objects is neither reused nor erased, so a test can find a value
 * that the caller did not erase. The keychain is a file; its values are stored encoded, also in memory.
 *
 * Everything is in the directory RT_STAND_IN_KEYCHAIN:
 *
 *   items     the credentials
 *   rules     configured failures, one a line: <function> <account or *> <action> <number>
 *             - status N: returns N; once N: the same, one time
 *             - delay N: takes N milliseconds
 *             - dialog N: waits until the file answer-<account> exists, then returns the status in it
 *   calls     a line for each call: <function> <account>
 *   state     of the keychain and the session: none, or words of: locked, readonly, nodefault, nographics, adhoc
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t Ref;
typedef int32_t OSStatus;
typedef long CFIndex;

enum {
  errSecParam = -50,
  errSecDuplicateItem = -25299,
  errSecItemNotFound = -25300,
  errSecNoDefaultKeychain = -25307,
  errSecMissingEntitlement = -34018,
};

static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("keychain stand-in: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  abort();
}

/* ---- Objects ---------------------------------------------------------------------------------------------- */

enum Type { STRING = 7, DATA = 20, DICTIONARY = 18, ARRAY = 19, BOOLEAN = 21, NUMBER = 22, KEYCHAIN = 300, CODE = 301 };

typedef struct Object {
  enum Type type;
  long count; /* of references; 0 is dead, -1 immortal */
  CFIndex length;
  union {
    uint16_t *units;
    uint8_t *bytes;
    Ref *members; /* of a dictionary, keys and values by turns */
    int64_t number;
  };
  int is_mutable;
} Object;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Object **known;
static size_t known_size, known_count, live;

static size_t slot_of(Object **table, size_t size, const void *object) {
  size_t slot = ((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15ull % size;
  while (table[slot] && table[slot] != object) slot = (slot + 1) % size;
  return slot;
}

static Object *make(enum Type type, CFIndex length, size_t size) {
  Object *object = calloc(1, sizeof(Object));
  *object = (Object){.type = type, .count = 1, .length = length};
  if (size) object->bytes = calloc(1, size);
  pthread_mutex_lock(&mutex);
  if (known_count * 2 >= known_size) {
    size_t larger = known_size ? known_size * 2 : 1024;
    Object **table = calloc(larger, sizeof *table);
    for (size_t index = 0; index < known_size; index++)
      if (known[index]) table[slot_of(table, larger, known[index])] = known[index];
    free(known);
    known = table;
    known_size = larger;
  }
  known[slot_of(known, known_size, object)] = object;
  known_count++;
  live++;
  pthread_mutex_unlock(&mutex);
  return object;
}

static int is_tagged(Ref ref) { return ref >> 63; }

static Object *find(Ref ref, const char *user) {
  if (is_tagged(ref)) fail("%s was given a tagged string where none can be", user);
  pthread_mutex_lock(&mutex);
  Object *object = known_size && ref ? known[slot_of(known, known_size, (void *)ref)] : NULL;
  pthread_mutex_unlock(&mutex);
  if (!object) fail("%s was given %#lx, which is no object", user, ref);
  if (object->count == 0) fail("%s was given an object that has been released", user);
  return object;
}

static Object *find_type(Ref ref, enum Type type, const char *user) {
  Object *object = find(ref, user);
  if (object->type != type) fail("%s was given an object of type %d, not %d", user, object->type, type);
  return object;
}

Ref CFRetain(Ref ref) {
  if (is_tagged(ref)) return ref;
  Object *object = find(ref, "CFRetain");
  if (object->count > 0) __atomic_add_fetch(&object->count, 1, __ATOMIC_SEQ_CST);
  return ref;
}

void CFRelease(Ref ref) {
  if (is_tagged(ref)) return;
  Object *object = find(ref, "CFRelease");
  if (object->count < 0) fail("CFRelease was given a constant, which the caller does not own");
  if (__atomic_sub_fetch(&object->count, 1, __ATOMIC_SEQ_CST) > 0) return;
  pthread_mutex_lock(&mutex);
  live--;
  pthread_mutex_unlock(&mutex);
  if (object->type == ARRAY)
    for (CFIndex index = 0; index < object->length; index++) CFRelease(object->members[index]);
  if (object->type == DICTIONARY)
    for (CFIndex index = 0; index < object->length * 2; index++)
      if (is_tagged(object->members[index]) || find(object->members[index], "CFRelease")->count > 0)
        CFRelease(object->members[index]);
}

/* Not in Apple's library: returns the number of live objects, without constants. */
uint64_t stand_in_live_objects(void) {
  pthread_mutex_lock(&mutex);
  uint64_t count = live;
  pthread_mutex_unlock(&mutex);
  return count;
}

uint64_t CFStringGetTypeID(void) { return STRING; }
uint64_t CFDataGetTypeID(void) { return DATA; }
uint64_t CFDictionaryGetTypeID(void) { return DICTIONARY; }
uint64_t CFArrayGetTypeID(void) { return ARRAY; }
uint64_t CFGetTypeID(Ref ref) { return is_tagged(ref) ? STRING : find(ref, "CFGetTypeID")->type; }

/* ---- Strings: up to seven characters of ASCII are in the reference itself ----------------------------------- */

static Ref make_string(const uint16_t *units, CFIndex length) {
  int is_short = length <= 7;
  for (CFIndex index = 0; is_short && index < length; index++) is_short = units[index] < 128;
  if (is_short) {
    Ref ref = 1ull << 63 | (Ref)length << 56;
    for (CFIndex index = 0; index < length; index++) ref |= (Ref)units[index] << index * 8;
    return ref;
  }
  Object *object = make(STRING, length, length * sizeof *units);
  memcpy(object->units, units, length * sizeof *units);
  return (Ref)object;
}

static CFIndex read_string(Ref ref, const uint16_t **units, uint16_t room[8], const char *user) {
  if (!is_tagged(ref)) {
    Object *object = find_type(ref, STRING, user);
    *units = object->units;
    return object->length;
  }
  CFIndex length = ref >> 56 & 7;
  for (CFIndex index = 0; index < length; index++) room[index] = ref >> index * 8 & 0xff;
  *units = room;
  return length;
}

Ref CFStringCreateWithCharacters(Ref allocator, const uint16_t *units, CFIndex length) {
  if (allocator != 0) fail("CFStringCreateWithCharacters was given an allocator");
  return make_string(units, length);
}

CFIndex CFStringGetLength(Ref ref) {
  const uint16_t *units;
  uint16_t room[8];
  return read_string(ref, &units, room, "CFStringGetLength");
}

void CFStringGetCharacters(Ref ref, CFIndex location, CFIndex count, uint16_t *buffer) {
  const uint16_t *units;
  uint16_t room[8];
  CFIndex length = read_string(ref, &units, room, "CFStringGetCharacters");
  if (location < 0 || count < 0 || location + count > length) fail("CFStringGetCharacters was given a range beyond the end");
  memcpy(buffer, units + location, count * sizeof *units);
}

/* UTF-16 to UTF-8 and back. Names come as what JavaScript and Security.framework agree on: well-formed text. */
static char *to_utf8(Ref ref, const char *user) {
  const uint16_t *units;
  uint16_t room[8];
  CFIndex length = read_string(ref, &units, room, user);
  uint8_t *text = calloc(1, length * 3 + 1), *end = text;
  for (CFIndex index = 0; index < length; index++) {
    uint32_t code = units[index];
    if (code >= 0xd800 && code < 0xdc00 && index + 1 < length)
      code = 0x10000 + ((code - 0xd800) << 10) + (units[++index] - 0xdc00);
    if (code < 0x80) *end++ = code;
    else if (code < 0x800) *end++ = 0xc0 | code >> 6;
    else if (code < 0x10000) *end++ = 0xe0 | code >> 12;
    else *end++ = 0xf0 | code >> 18;
    if (code >= 0x10000) *end++ = 0x80 | (code >> 12 & 0x3f);
    if (code >= 0x800) *end++ = 0x80 | (code >> 6 & 0x3f);
    if (code >= 0x80) *end++ = 0x80 | (code & 0x3f);
  }
  return (char *)text;
}

static Ref from_utf8(const char *text) {
  size_t size = strlen(text);
  uint16_t *units = calloc(size + 1, sizeof *units);
  CFIndex length = 0;
  for (const uint8_t *at = (const uint8_t *)text; *at;) {
    int more = *at < 0x80 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
    uint32_t code = more == 0 ? *at : *at & (0x3f >> more);
    for (at++; more > 0; more--) code = code << 6 | (*at++ & 0x3f);
    if (code < 0x10000) units[length++] = code;
    else {
      units[length++] = 0xd800 + ((code - 0x10000) >> 10);
      units[length++] = 0xdc00 + ((code - 0x10000) & 0x3ff);
    }
  }
  Ref ref = make_string(units, length);
  free(units);
  return ref;
}

static int is_equal(Ref one, Ref other) {
  if (one == other) return 1;
  if (CFGetTypeID(one) != STRING || CFGetTypeID(other) != STRING) return 0;
  char *first = to_utf8(one, "CFEqual"), *second = to_utf8(other, "CFEqual");
  int equal = strcmp(first, second) == 0;
  free(first);
  free(second);
  return equal;
}

/* ---- Data, dictionaries, arrays ----------------------------------------------------------------------------- */

Ref CFDataCreateMutable(Ref allocator, CFIndex capacity) {
  if (allocator != 0) fail("CFDataCreateMutable was given an allocator");
  Object *data = make(DATA, 0, capacity);
  data->is_mutable = 1;
  return (Ref)data;
}

void CFDataSetLength(Ref ref, CFIndex length) {
  Object *data = find_type(ref, DATA, "CFDataSetLength");
  if (!data->is_mutable) fail("CFDataSetLength was given immutable data");
  uint8_t *bytes = calloc(1, length + 1);
  memcpy(bytes, data->bytes, length < data->length ? length : data->length); /* the old ones stay where they are */
  data->bytes = bytes;
  data->length = length;
}

uint8_t *CFDataGetMutableBytePtr(Ref ref) {
  Object *data = find_type(ref, DATA, "CFDataGetMutableBytePtr");
  if (!data->is_mutable) fail("CFDataGetMutableBytePtr was given immutable data");
  return data->bytes;
}

const uint8_t *CFDataGetBytePtr(Ref ref) { return find_type(ref, DATA, "CFDataGetBytePtr")->bytes; }
CFIndex CFDataGetLength(Ref ref) { return find_type(ref, DATA, "CFDataGetLength")->length; }

/* Only the addresses of the callbacks matter. */
const char kCFTypeDictionaryKeyCallBacks[48] = {1};
const char kCFTypeDictionaryValueCallBacks[40] = {1};

static Ref make_dictionary(const Ref *keys, const Ref *values, CFIndex count) {
  Object *dictionary = make(DICTIONARY, count, (count * 2 + 1) * sizeof(Ref));
  for (CFIndex index = 0; index < count; index++) {
    dictionary->members[index * 2] = CFRetain(keys[index]);
    dictionary->members[index * 2 + 1] = CFRetain(values[index]);
  }
  return (Ref)dictionary;
}

Ref CFDictionaryCreate(Ref allocator, const Ref *keys, const Ref *values, CFIndex count, const void *on_keys, const void *on_values) {
  if (allocator != 0) fail("CFDictionaryCreate was given an allocator");
  if (on_keys != kCFTypeDictionaryKeyCallBacks || on_values != kCFTypeDictionaryValueCallBacks)
    fail("CFDictionaryCreate was given other callbacks than those for objects");
  for (CFIndex index = 0; index < count; index++)
    for (CFIndex other = 0; other < index; other++)
      if (is_equal(keys[index], keys[other])) fail("CFDictionaryCreate was given a key twice");
  return make_dictionary(keys, values, count);
}

Ref CFDictionaryGetValue(Ref ref, Ref key) {
  Object *dictionary = find_type(ref, DICTIONARY, "CFDictionaryGetValue");
  for (CFIndex index = 0; index < dictionary->length; index++)
    if (is_equal(dictionary->members[index * 2], key)) return dictionary->members[index * 2 + 1];
  return 0;
}

CFIndex CFArrayGetCount(Ref ref) { return find_type(ref, ARRAY, "CFArrayGetCount")->length; }

Ref CFArrayGetValueAtIndex(Ref ref, CFIndex index) {
  Object *array = find_type(ref, ARRAY, "CFArrayGetValueAtIndex");
  if (index < 0 || index >= array->length) fail("CFArrayGetValueAtIndex was given an index beyond the end");
  return array->members[index];
}

uint8_t CFNumberGetValue(Ref ref, CFIndex type, void *value) {
  if (type != 4) fail("CFNumberGetValue was asked for another type than a 64-bit integer");
  *(int64_t *)value = find_type(ref, NUMBER, "CFNumberGetValue")->number;
  return 1;
}

/* ---- Constants ---------------------------------------------------------------------------------------------- */

Ref kCFBooleanTrue;
#define CONSTANTS(EACH)                         \
  EACH(kSecClass, "class")                      \
  EACH(kSecClassGenericPassword, "genp")        \
  EACH(kSecAttrService, "svce")                 \
  EACH(kSecAttrAccount, "acct")                 \
  EACH(kSecAttrLabel, "labl")                   \
  EACH(kSecValueData, "v_Data")                 \
  EACH(kSecReturnData, "r_Data")                \
  EACH(kSecReturnAttributes, "r_Attributes")    \
  EACH(kSecMatchLimit, "m_Limit")               \
  EACH(kSecMatchLimitOne, "m_LimitOne")         \
  EACH(kSecMatchLimitAll, "m_LimitAll")         \
  EACH(kSecUseDataProtectionKeychain, "nleg")   \
  EACH(kSecCodeInfoIdentifier, "identifier")    \
  EACH(kSecCodeInfoTeamIdentifier, "teamid")    \
  EACH(kSecCodeInfoFlags, "flags")
#define DECLARE(name, text) Ref name;
CONSTANTS(DECLARE)

static Ref immortal(Ref ref) {
  Object *object = find(ref, "the start");
  object->count = -1;
  live--;
  return ref;
}

/* Always a separate object: the real constants are never tagged. */
static Ref make_constant(const char *text) {
  size_t length = strlen(text);
  Object *object = make(STRING, length, length * sizeof(uint16_t));
  for (size_t index = 0; index < length; index++) object->units[index] = text[index];
  return immortal((Ref)object);
}

__attribute__((constructor)) static void start(void) {
  kCFBooleanTrue = immortal((Ref)make(BOOLEAN, 0, 0));
#define MAKE(name, text) name = make_constant(text);
  CONSTANTS(MAKE)
}

/* ---- Pools -------------------------------------------------------------------------------------------------- */

static _Thread_local struct { Ref objects[64]; int count; int depth; } pool;

void *objc_autoreleasePoolPush(void) {
  pool.depth++;
  return (void *)(uintptr_t)(pool.count + 1);
}

void objc_autoreleasePoolPop(void *token) {
  if (pool.depth-- == 0) fail("objc_autoreleasePoolPop without a push");
  int base = (int)(uintptr_t)token - 1;
  if (base < 0 || base > pool.count) fail("objc_autoreleasePoolPop was given no token");
  while (pool.count > base) CFRelease(pool.objects[--pool.count]);
}

/* The real functions autorelease such objects; without a pool they would leak. */
static void leave_in_pool(const char *user) {
  if (pool.depth == 0) fail("%s was called without a pool", user);
  if (pool.count < 64) pool.objects[pool.count++] = (Ref)make(DATA, 0, 1);
}

/* ---- The keychain ------------------------------------------------------------------------------------------- */

typedef struct Item { char *service, *account, *label; uint32_t size; uint8_t *hidden; } Item;
typedef struct Store { Item *items; uint32_t count; int lock; } Store;

static char chosen[4096];

/* Not in Apple's library: selects a directory other than the environment's. */
void stand_in_use(const char *directory) { snprintf(chosen, sizeof chosen, "%s", directory); }

static const char *place(char path[4096], const char *name) {
  const char *directory = chosen[0] ? chosen : getenv("RT_STAND_IN_KEYCHAIN");
  if (!directory) fail("RT_STAND_IN_KEYCHAIN is not set");
  snprintf(path, 4096, "%s/%s", directory, name);
  return path;
}

static uint32_t read_number(FILE *file) {
  uint32_t number = 0;
  if (fread(&number, sizeof number, 1, file) != 1) fail("the file of items is damaged");
  return number;
}

static void *read_bytes(FILE *file, uint32_t *size) {
  *size = read_number(file);
  char *bytes = calloc(1, *size + 1);
  if (*size && fread(bytes, *size, 1, file) != 1) fail("the file of items is damaged");
  return bytes;
}

static void write_bytes(FILE *file, const void *bytes, uint32_t size) {
  fwrite(&size, sizeof size, 1, file);
  fwrite(bytes, size, 1, file);
}

static Store open_store(void) {
  char path[4096];
  Store store = {.lock = open(place(path, "lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (store.lock < 0 || flock(store.lock, LOCK_EX) != 0) fail("%s cannot be locked", path);
  FILE *file = fopen(place(path, "items"), "r");
  if (!file) return store;
  store.count = read_number(file);
  store.items = calloc(store.count + 1, sizeof(Item));
  for (Item *item = store.items; item < store.items + store.count; item++) {
    uint32_t size;
    item->service = read_bytes(file, &size);
    item->account = read_bytes(file, &size);
    item->label = read_bytes(file, &size);
    item->hidden = read_bytes(file, &item->size);
  }
  fclose(file);
  return store;
}

static void close_store(Store *store, int is_changed) {
  char path[4096], draft[4096];
  if (is_changed) {
    FILE *file = fopen(place(draft, "items.draft"), "w");
    fwrite(&store->count, sizeof store->count, 1, file);
    for (Item *item = store->items; item < store->items + store->count; item++) {
      write_bytes(file, item->service, strlen(item->service));
      write_bytes(file, item->account, strlen(item->account));
      write_bytes(file, item->label, strlen(item->label));
      write_bytes(file, item->hidden, item->size);
    }
    fclose(file);
    rename(draft, place(path, "items"));
  }
  for (Item *item = store->items; item && item < store->items + store->count; item++) {
    free(item->service), free(item->account), free(item->label), free(item->hidden);
  }
  free(store->items);
  close(store->lock);
}

static void hide(uint8_t *to, const uint8_t *from, size_t size) {
  for (size_t index = 0; index < size; index++) to[index] = from[index] ^ 0xa5;
}

static void note_call(const char *function, const char *account) {
  char path[4096], line[4096];
  int file = open(place(path, "calls"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  int length = snprintf(line, sizeof line, "%s %s\n", function, account);
  if (write(file, line, length) != length) fail("%s cannot be written", path);
  close(file);
}

static int has_state(const char *word) {
  char path[4096], text[256] = "";
  FILE *file = fopen(place(path, "state"), "r");
  if (!file) return 0;
  size_t length = fread(text, 1, sizeof text - 1, file);
  text[length] = 0;
  fclose(file);
  return strstr(text, word) != NULL;
}

static void pause_for(long milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* Waits for the test's answer to a dialog, which counts once, for all callers that wait for this account. */
static OSStatus await_answer(const char *account) {
  char name[512], path[4096];
  snprintf(name, sizeof name, "answer-%s", account);
  for (;;) {
    FILE *file = fopen(place(path, name), "r");
    int status, is_whole = file && fscanf(file, "%d\n", &status) == 1;
    if (file) fclose(file);
    if (is_whole) return status;
    pause_for(2);
  }
}

/* Applies the rules for this call. Returns the status, or 0 to continue. Holds no lock while it waits. */
static OSStatus obey(const char *function, const char *account) {
  char path[4096], line[1024], rest[65536] = "";
  note_call(function, account);
  Store store = open_store();
  OSStatus status = 0;
  int is_dialog = 0, is_spent = 0;
  long delay = 0;
  FILE *file = fopen(place(path, "rules"), "r");
  while (file && fgets(line, sizeof line, file)) {
    char of[128], whose[512], action[32];
    int number = 0;
    int applies = sscanf(line, "%127s %511s %31s %d", of, whose, action, &number) == 4 && strcmp(of, function) == 0 &&
                  (strcmp(whose, "*") == 0 || strcmp(whose, account) == 0) && status == 0;
    int is_once = applies && strcmp(action, "once") == 0;
    if (is_once || (applies && strcmp(action, "status") == 0)) status = number;
    if (applies && strcmp(action, "delay") == 0) delay = number;
    if (applies && strcmp(action, "dialog") == 0) is_dialog = 1;
    if (is_once) is_spent = 1;
    else strncat(rest, line, sizeof rest - strlen(rest) - 1);
  }
  if (file) fclose(file);
  if (is_spent && (file = fopen(place(path, "rules"), "w"))) {
    fputs(rest, file);
    fclose(file);
  }
  close_store(&store, 0);
  if (delay) pause_for(delay);
  return is_dialog ? await_answer(account) : status;
}

/* A parsed query or list of attributes. Strings are NULL for a missing key. */
typedef struct Query { char *service, *account, *label; Ref value; int returns_data, returns_attributes, is_all, has_limit; OSStatus status; } Query;

static Query read_query(Ref ref, const char *user) {
  Object *dictionary = find_type(ref, DICTIONARY, user);
  Query query = {0};
  for (CFIndex index = 0; index < dictionary->length; index++) {
    Ref key = dictionary->members[index * 2], value = dictionary->members[index * 2 + 1];
    if (key == kSecClass) {
      if (value != kSecClassGenericPassword) query.status = errSecParam;
    } else if (key == kSecAttrService) query.service = to_utf8(value, user);
    else if (key == kSecAttrAccount) query.account = to_utf8(value, user);
    else if (key == kSecAttrLabel) query.label = to_utf8(value, user);
    else if (key == kSecValueData) query.value = (Ref)find_type(value, DATA, user);
    else if (key == kSecReturnData) query.returns_data = value == kCFBooleanTrue;
    else if (key == kSecReturnAttributes) query.returns_attributes = value == kCFBooleanTrue;
    else if (key == kSecMatchLimit) query.has_limit = 1, query.is_all = value == kSecMatchLimitAll;
    else if (key == kSecUseDataProtectionKeychain) query.status = errSecMissingEntitlement;
    else fail("%s was given a key that it does not know", user);
  }
  return query;
}

static void free_query(Query *query) { free(query->service), free(query->account), free(query->label); }

static int has_class(Ref ref) { return CFDictionaryGetValue(ref, kSecClass) == kSecClassGenericPassword; }

static int matches(const Item *item, const Query *query) {
  return (!query->service || strcmp(item->service, query->service) == 0) && (!query->account || strcmp(item->account, query->account) == 0);
}

static OSStatus begin(Query *query, Ref ref, const char *function) {
  leave_in_pool(function);
  *query = read_query(ref, function);
  if (!has_class(ref)) query->status = errSecParam;
  if (query->status == 0) query->status = obey(function, query->account ? query->account : "-");
  return query->status;
}

OSStatus SecItemAdd(Ref attributes, Ref *result) {
  Query query;
  OSStatus status = begin(&query, attributes, "SecItemAdd");
  if (result) fail("SecItemAdd was asked for what nobody needs");
  if (status == 0 && (!query.service || !query.account || !query.value || query.has_limit)) status = errSecParam;
  if (status == 0) {
    Store store = open_store();
    for (Item *item = store.items; item && item < store.items + store.count; item++)
      if (matches(item, &query)) status = errSecDuplicateItem;
    if (status == 0) {
      Object *value = find(query.value, "SecItemAdd");
      store.items = realloc(store.items, (store.count + 1) * sizeof(Item));
      Item *item = &store.items[store.count++];
      *item = (Item){strdup(query.service), strdup(query.account), strdup(query.label ? query.label : ""), value->length, calloc(1, value->length + 1)};
      hide(item->hidden, value->bytes, value->length);
    }
    close_store(&store, status == 0);
  }
  free_query(&query);
  return status;
}

OSStatus SecItemUpdate(Ref ref, Ref attributes) {
  Query query, change = read_query(attributes, "SecItemUpdate");
  OSStatus status = begin(&query, ref, "SecItemUpdate");
  if (query.value) fail("SecItemUpdate was given the value in the query");
  if (CFDictionaryGetValue(attributes, kSecClass)) status = errSecParam; /* an item's class cannot be changed */
  if (status == 0 && (query.has_limit || !change.value || change.returns_data)) status = errSecParam;
  if (status == 0) {
    Store store = open_store();
    status = errSecItemNotFound;
    Object *value = find(change.value, "SecItemUpdate");
    for (Item *item = store.items; item && item < store.items + store.count; item++) {
      if (!matches(item, &query)) continue;
      item->size = value->length;
      item->hidden = realloc(item->hidden, value->length + 1);
      hide(item->hidden, value->bytes, value->length);
      status = 0;
    }
    close_store(&store, status == 0);
  }
  free_query(&query);
  free_query(&change);
  return status;
}

OSStatus SecItemDelete(Ref ref) {
  Query query;
  OSStatus status = begin(&query, ref, "SecItemDelete");
  if (query.value) fail("SecItemDelete was given the value in the query");
  if (status == 0 && query.has_limit) status = errSecParam;
  if (status == 0) {
    Store store = open_store();
    status = errSecItemNotFound;
    for (uint32_t index = 0; index < store.count;) {
      Item *item = &store.items[index];
      if (!matches(item, &query)) {
        index++;
        continue;
      }
      free(item->service), free(item->account), free(item->label), free(item->hidden);
      *item = store.items[--store.count];
      status = 0;
    }
    close_store(&store, status == 0);
  }
  free_query(&query);
  return status;
}

static Ref make_attributes(const Item *item) {
  Ref keys[] = {kSecAttrService, kSecAttrAccount, kSecAttrLabel};
  Ref values[] = {from_utf8(item->service), from_utf8(item->account), from_utf8(item->label)};
  Ref dictionary = make_dictionary(keys, values, 3);
  for (int index = 0; index < 3; index++) CFRelease(values[index]);
  return dictionary;
}

OSStatus SecItemCopyMatching(Ref ref, Ref *result) {
  Query query;
  OSStatus status = begin(&query, ref, "SecItemCopyMatching");
  if (query.value) fail("SecItemCopyMatching was given the value in the query");
  if (!result) fail("SecItemCopyMatching was given no place for its result");
  *result = 0;
  if (query.returns_data == query.returns_attributes || (query.is_all && query.returns_data)) status = errSecParam;
  if (status == 0) {
    Store store = open_store();
    Object *array = make(ARRAY, 0, (store.count + 1) * sizeof(Ref));
    for (Item *item = store.items; item && item < store.items + store.count; item++) {
      if (!matches(item, &query)) continue;
      if (query.is_all) {
        array->members[array->length++] = make_attributes(item);
        continue;
      }
      /* An empty value is returned as no data at all, which the caller must handle. */
      Object *data = item->size ? make(DATA, item->size, item->size) : NULL;
      if (data) hide(data->bytes, item->hidden, item->size);
      CFRelease((Ref)array);
      *result = (Ref)data;
      array = NULL;
      break;
    }
    if (array && array->length == 0) {
      CFRelease((Ref)array);
      status = errSecItemNotFound;
    } else if (array) *result = (Ref)array;
    close_store(&store, 0);
  }
  free_query(&query);
  return status;
}

Ref SecCopyErrorMessageString(OSStatus status, void *reserved) {
  char text[64];
  if (reserved) fail("SecCopyErrorMessageString was given something reserved");
  snprintf(text, sizeof text, "The stand-in's words for %d.", status);
  return from_utf8(text);
}

/* ---- Queries of `rt doctor` -------------------------------------------------------------------------------- */

OSStatus SecKeychainCopyDefault(Ref *keychain) {
  leave_in_pool("SecKeychainCopyDefault");
  *keychain = 0;
  if (has_state("nodefault")) return errSecNoDefaultKeychain;
  *keychain = (Ref)make(KEYCHAIN, 0, 0);
  return 0;
}

OSStatus SecKeychainGetStatus(Ref keychain, uint32_t *status) {
  find_type(keychain, KEYCHAIN, "SecKeychainGetStatus");
  *status = (has_state("locked") ? 0 : 1) | 2 | (has_state("readonly") ? 0 : 4);
  return 0;
}

OSStatus SecKeychainGetPath(Ref keychain, uint32_t *length, char *path) {
  static const char LOGIN[] = "/Users/tester/Library/Keychains/login.keychain-db";
  find_type(keychain, KEYCHAIN, "SecKeychainGetPath");
  if (*length < sizeof LOGIN) return -25301;
  memcpy(path, LOGIN, sizeof LOGIN);
  *length = sizeof LOGIN - 1;
  return 0;
}

OSStatus SessionGetInfo(uint32_t session, uint32_t *id, uint32_t *attributes) {
  if (session != UINT32_MAX) fail("SessionGetInfo was asked for another session");
  *id = 100;
  *attributes = has_state("nographics") ? 0x1020 : 0x0030;
  return 0;
}

OSStatus SecCodeCopySelf(uint32_t flags, Ref *code) {
  if (flags != 0) fail("SecCodeCopySelf was given flags");
  *code = (Ref)make(CODE, 0, 0);
  return 0;
}

OSStatus SecCodeCopySigningInformation(Ref code, uint32_t flags, Ref *information) {
  find_type(code, CODE, "SecCodeCopySigningInformation");
  if (flags != 2) fail("SecCodeCopySigningInformation was given other flags than those for a signature");
  Object *number = make(NUMBER, 0, 0);
  number->number = has_state("adhoc") ? 0x10002 : 0x10000;
  Ref keys[] = {kSecCodeInfoIdentifier, kSecCodeInfoFlags, kSecCodeInfoTeamIdentifier};
  Ref values[] = {from_utf8("com.example.rt"), (Ref)number, from_utf8("TEAM123456")};
  *information = make_dictionary(keys, values, has_state("adhoc") ? 2 : 3);
  for (int index = 0; index < 3; index++) CFRelease(values[index]);
  return 0;
}
