"""Starts a program in which the kernel refuses pidfd_getfd, as in a container of Docker: forbidden-call.py <program> <argv...>"""
import ctypes
import os
import struct
import sys

PIDFD_GETFD, EPERM = 438, 1
NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2
# Load the number of the call; if it is pidfd_getfd, return the error; otherwise allow.
INSTRUCTIONS = [(0x20, 0, 0, 0), (0x15, 0, 1, PIDFD_GETFD), (0x06, 0, 0, 0x50000 | EPERM), (0x06, 0, 0, 0x7FFF0000)]

code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in INSTRUCTIONS))
program = struct.pack("HxxxxxxP", len(INSTRUCTIONS), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
for call in [(NO_NEW_PRIVS, 1, 0, 0, 0), (SET_SECCOMP, FILTER, program, 0, 0)]:
    if libc.prctl(*call) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
