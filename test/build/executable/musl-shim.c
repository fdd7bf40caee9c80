/* Symbols that Debian's libstdc++ and libgcc need from glibc and that musl lacks. With them a program for musl runs on
   a system without musl's own C++ library. The file gets the name of glibc's loader, another dependency of both. */
typedef unsigned long size_t;
struct tm;
long syscall(long number, ...);
size_t strftime_l(char *, size_t, const char *, const struct tm *, void *);

char __libc_single_threaded = 0;
unsigned __cpu_model[8], __cpu_features2[8];

int __cpu_indicator_init(void) { return 0; }

/* Not found: then the unwinder searches itself. */
int _dl_find_object(void *address, void *result) {
  (void)address;
  (void)result;
  return -1;
}

/* Destructors of thread variables do not run, because the process ends soon. */
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library) {
  (void)destroy;
  (void)object;
  (void)library;
  return 0;
}

unsigned arc4random(void) {
  unsigned value = 0;
  syscall(318 /* getrandom */, &value, sizeof value, 0);
  return value;
}

size_t __strftime_l(char *text, size_t size, const char *format, const struct tm *time, void *locale) {
  return strftime_l(text, size, format, time, locale);
}
