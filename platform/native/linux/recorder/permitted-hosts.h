// The addresses that a task with permissions may connect to. rt adds those of permitted host names while the task runs
// (../../../permissions/linux/permitted-addresses.ts).
//
// Invariants:
// - rt alone writes the entries, and the process with the listener alone reads them. An entry that changes during the read does not
//   count.
#pragma once
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>

enum { MAX_RESOLVING = 32 };

struct permitted_host {
  /** 0 for no entry, odd while rt writes it; each write increases it. */
  atomic_uint version;
  /** In the byte order of the network; 0 for all ports except those of DNS. */
  unsigned port;
  /** An address of IPv4 is mapped to IPv6. */
  unsigned char address[16];
};

struct permitted_hosts {
  /** Open connections to rt's resolver. */
  atomic_int resolving;
  /** Number of entries. */
  int capacity;
  struct permitted_host entries[];
};

/** DNS, and DNS over TLS. A resolver sends the names in queries to other hosts, so a name can carry data. */
static int is_resolver_port(unsigned short port) {
  return port == htons(53) || port == htons(853);
}

static int is_permitted_host(struct permitted_hosts *hosts, const unsigned char *address, unsigned short port) {
  for (int each = 0; each < hosts->capacity; each++) {
    struct permitted_host *entry = &hosts->entries[each];
    const unsigned version = atomic_load_explicit(&entry->version, memory_order_acquire);
    if (version == 0) return 0; // rt fills the entries in order
    const int is_port = entry->port == port || (entry->port == 0 && !is_resolver_port(port));
    const int is_equal = is_port && memcmp(entry->address, address, sizeof entry->address) == 0;
    atomic_thread_fence(memory_order_acquire);
    const unsigned now = atomic_load_explicit(&entry->version, memory_order_relaxed);
    if (is_equal && version % 2 == 0 && now == version) return 1;
  }
  return 0;
}
