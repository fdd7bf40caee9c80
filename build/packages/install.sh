#!/bin/sh
# Installs rt for one user, without root:
#
#   sh install.sh [--version 1.2.3] [--dir <directory>] [--url <address of the releases>]
#   sh install.sh --uninstall [--dir <directory>]
#
# RT_VERSION, RT_DIR and RT_URL say the same. What is below the address: latest/download/ and download/v<version>/, each
# with SHA256SUMS and the archives. The archive is checked before anything of it is run, and rt is replaced in one step,
# also while it runs.
set -eu

releases='@RELEASES@'

fail() {
  printf 'error: %s\n' "$1" >&2
  if [ $# -gt 1 ]; then printf 'hint: %s\n' "$2" >&2; fi
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

version=${RT_VERSION:-}
directory=${RT_DIR:-}
url=${RT_URL:-}
uninstall=

value() {
  if [ $# -lt 2 ] || [ -z "$2" ]; then fail "$1 needs a value"; fi
  printf '%s' "$2"
}

while [ $# -gt 0 ]; do
  case $1 in
    --version) version=$(value "$@") && shift ;;
    --dir) directory=$(value "$@") && shift ;;
    --url) url=$(value "$@") && shift ;;
    --uninstall) uninstall=1 ;;
    -h | --help)
      printf 'Usage: sh install.sh [--version <version>] [--dir <directory>] [--url <address>] [--uninstall]\n'
      exit 0
      ;;
    *) fail "There is no option \"$1\"" "see install.sh --help" ;;
  esac
  shift
done

if [ -z "$directory" ]; then
  if [ -z "${HOME:-}" ]; then fail "HOME is not set" "name a directory with --dir"; fi
  directory=$HOME/.local/bin
fi

if [ -n "$uninstall" ]; then
  if [ ! -e "$directory/rt" ]; then fail "There is no rt in $directory" "name its directory with --dir"; fi
  rm -f "$directory/rt" "$directory/rt.previous" || fail "Cannot remove $directory/rt"
  printf 'Removed %s\n' "$directory/rt"
  exit 0
fi

if [ -z "$url" ]; then
  case $releases in
    @*) fail "This script does not know where the releases are" "name the address with --url" ;;
    *) url=$releases ;;
  esac
fi
url=${url%/}

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "There is no rt for $(uname -s)" "on Windows, use install.ps1" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "There is no rt for $(uname -m)" ;;
esac
# A terminal that is itself translated by Rosetta says x86_64.
if [ $os = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then arch=arm64; fi
target=$os-$arch
if [ $os = linux ] && ! getconf GNU_LIBC_VERSION >/dev/null 2>&1; then
  case $(ldd --version 2>&1 || true) in
    *musl*) target=$target-musl ;;
  esac
fi

if has curl; then
  download() { curl --fail --silent --show-error --location --output "$2" "$1"; }
elif has wget; then
  download() { wget --quiet --output-document="$2" "$1"; }
else
  fail "Neither curl nor wget is installed"
fi

if has sha256sum; then
  sum() { sha256sum "$1" | cut -d ' ' -f 1; }
elif has shasum; then
  sum() { shasum -a 256 "$1" | cut -d ' ' -f 1; }
elif has openssl; then
  sum() { openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1; }
else
  fail "Nothing here computes SHA-256" "install coreutils or openssl"
fi

if [ -n "$version" ]; then
  folder=$url/download/v${version#v}
else
  folder=$url/latest/download
fi

mkdir -p "$directory" 2>/dev/null || fail "Cannot create $directory" "name another directory with --dir"
if [ ! -w "$directory" ]; then fail "Cannot write to $directory" "name another directory with --dir"; fi
# On the same file system as the place it goes to, so that it gets there in one step.
work=$(mktemp -d "$directory/.rt-install.XXXXXX") || fail "Cannot write to $directory"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

download "$folder/SHA256SUMS" "$work/SHA256SUMS" ||
  fail "Cannot download $folder/SHA256SUMS" "is there such a version, and is the network up?"
line=$(grep -E "^[0-9a-f]{64}  rt-[^ ]*[0-9]-$target\.tar\.gz\$" "$work/SHA256SUMS" | head -n 1) ||
  fail "This release has nothing for $target"
if [ -z "$line" ]; then fail "This release has nothing for $target"; fi
expected=${line%% *}
archive=${line##* }

printf 'Downloading %s\n' "$folder/$archive"
download "$folder/$archive" "$work/$archive" || fail "Cannot download $folder/$archive"
actual=$(sum "$work/$archive")
if [ "$actual" != "$expected" ]; then
  fail "The archive is not the one that was released: its SHA-256 is $actual, not $expected" "download it again"
fi
tar -xzf "$work/$archive" -C "$work" || fail "Cannot unpack $archive"
program=$work/${archive%.tar.gz}/rt
hint="its binary was for $target"
case $target in
  *-musl) hint="it needs libstdc++, on Alpine from: apk add libstdc++" ;;
esac
installed=$("$program" --version) || fail "rt does not start on this system" "$hint"
mv -f "$program" "$directory/rt" || fail "Cannot write $directory/rt"

printf 'Installed rt %s at %s\n' "$installed" "$directory/rt"
case :$PATH: in
  *":$directory:"*) ;;
  *)
    case ${SHELL:-} in
      */fish) printf 'Put it on your PATH:  fish_add_path %s\n' "$directory" ;;
      */zsh) printf "Put it on your PATH:  echo 'export PATH=\"%s:\$PATH\"' >> ~/.zshrc\n" "$directory" ;;
      *) printf "Put it on your PATH:  echo 'export PATH=\"%s:\$PATH\"' >> ~/.profile\n" "$directory" ;;
    esac
    ;;
esac
