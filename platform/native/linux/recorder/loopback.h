// Recognizes addresses that connect to this host.
#pragma once
#include "../syscalls.h"
#include <netinet/in.h>
#include <string.h>

static int is_loopback_v4(unsigned long address) {
  return address >> 24 == 127 || address == 0; // 0.0.0.0 connects to this host
}

static unsigned long number_of_bytes(const unsigned char *bytes) {
  return (unsigned long)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

static int is_loopback_v6(const unsigned char *bytes) {
  static const unsigned char MAPPED[12] = {[10] = 0xff, [11] = 0xff};
  if (memcmp(bytes, MAPPED, sizeof MAPPED) == 0) return is_loopback_v4(number_of_bytes(bytes + 12));
  for (int each = 0; each < 15; each++)
    if (bytes[each]) return 0;
  return bytes[15] <= 1; // :: connects to this host
}
