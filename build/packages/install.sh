#!/bin/sh
# Installs rt for one user, without root:
#
#   sh install.sh [--version 1.2.3] [--dir <directory>] [--url <address of the releases>] [--sha256 <of the archive>]
#   sh install.sh --uninstall [--dir <directory>]
#
# RT_VERSION, RT_DIR and RT_URL say the same. What is below the address: latest/download/ and download/v<version>/, each
# with SHA256SUMS, its signatures and the archives.
#
# Nothing of an archive is run before it is known to be what was released: SHA256SUMS has to be signed with one of the
# keys below, which openssl 3, minisign or OpenSSH's ssh-keygen can tell; or the user gives the archive's checksum. From
# https, no redirect leads to anything else. rt is replaced in one step, also while it runs.
set -eu

releases='@RELEASES@'
# One a line: minisign's public key, and the same key as OpenSSH writes it.
keys='@KEYS@'

fail() {
  printf 'error: %s\n' "$1" >&2
  if [ $# -gt 1 ]; then printf 'hint: %s\n' "$2" >&2; fi
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

version=${RT_VERSION:-}
directory=${RT_DIR:-}
url=${RT_URL:-}
expected=
uninstall=

while [ $# -gt 0 ]; do
  case $1 in
    --version | --dir | --url | --sha256)
      if [ $# -lt 2 ] || [ -z "$2" ]; then fail "$1 needs a value" "see install.sh --help"; fi
      case $1 in
        --version) version=$2 ;;
        --dir) directory=$2 ;;
        --url) url=$2 ;;
        --sha256) expected=$2 ;;
      esac
      shift
      ;;
    --uninstall) uninstall=1 ;;
    -h | --help)
      printf 'Usage: sh install.sh [--version <version>] [--dir <directory>] [--url <address>] [--sha256 <sum>]\n'
      printf '       sh install.sh --uninstall [--dir <directory>]\n'
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
version=${version#v}
if [ "$version" = latest ]; then version=; fi
case $version in
  *[!0-9A-Za-z.+-]*) fail "--version is not a version" "it is like 1.2.3, or \"latest\"" ;;
esac

if [ -n "$expected" ]; then
  case $expected in
    *[!0-9a-fA-F]*) fail "--sha256 is not a SHA-256" "it has 64 hexadecimal digits" ;;
  esac
  if [ ${#expected} -ne 64 ]; then fail "--sha256 is not a SHA-256" "it has 64 hexadecimal digits"; fi
  expected=$(printf '%s' "$expected" | tr ABCDEF abcdef)
fi
case $url in
  https://*) protocols='=https' ;;
  http://*)
    protocols='=http,https'
    if [ -z "$expected" ]; then
      fail "Over http, anybody on the way could put something else in its place" \
        "use https, or give the archive's checksum with --sha256"
    fi
    ;;
  *) fail "\"$url\" is no address of releases" "it begins with https://" ;;
esac

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
  download() {
    curl --fail --silent --show-error --location --proto "$protocols" --proto-redir "$protocols" --output "$2" "$1"
  }
elif has wget; then
  # It follows redirects to wherever they lead, but says where.
  download() {
    if ! wget --server-response --output-document="$2" "$1" 2>"$work/log"; then
      cat "$work/log" >&2
      return 1
    fi
    if [ $protocols = '=https' ] && grep -qi '^ *location: *http:' "$work/log"; then
      rm -f "$2"
      printf '%s leads from https to http\n' "$1" >&2
      return 1
    fi
  }
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

# verify <key of minisign> <key of OpenSSH>: whether SHA256SUMS in $work is signed with it. Nothing, if nothing here can
# tell. minisign's files are: a comment, a signature, a comment that is signed too, and the signature over these two.
if openssl version 2>/dev/null | grep -q '^OpenSSL [3-9]'; then
  signature=minisig
  is_signed() { openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key" -rawin -in "$1" -sigfile "$2" >/dev/null 2>&1; }
  decode() { printf '%s' "$1" | openssl base64 -d -A; }
  verify() {
    { IFS= read -r _ && IFS= read -r first && IFS= read -r comment && IFS= read -r second; } <"$work/signature" || return 1
    { printf '\060\052\060\005\006\003\053\145\160\003\041\000' && decode "$1" | tail -c 32; } >"$work/key"
    openssl dgst -blake2b512 -binary "$work/SHA256SUMS" >"$work/hash"
    decode "$first" | tail -c 64 >"$work/first"
    decode "$second" >"$work/second"
    { cat "$work/first" && printf '%s' "${comment#trusted comment: }"; } >"$work/both"
    is_signed "$work/hash" "$work/first" && is_signed "$work/both" "$work/second"
  }
elif has minisign; then
  signature=minisig
  verify() { minisign -Vqm "$work/SHA256SUMS" -x "$work/signature" -P "$1" >/dev/null 2>&1; }
elif ssh-keygen -Y verify 2>&1 </dev/null | grep -q 'for verify'; then
  signature=sig
  verify() {
    printf 'rt ssh-ed25519 %s\n' "$2" >"$work/signers"
    ssh-keygen -Y verify -f "$work/signers" -I rt -n rt-release -s "$work/signature" <"$work/SHA256SUMS" >/dev/null 2>&1
  }
else
  signature=
fi

if [ -z "$expected" ]; then
  case $keys in
    @*) fail "This script has no key that releases are signed with" "give the archive's checksum with --sha256" ;;
  esac
  if [ -z "$signature" ]; then
    fail "Nothing here can check the signature of a release" \
      "install openssl 3, minisign or openssh-client; or give the archive's checksum with --sha256"
  fi
fi

if [ -n "$version" ]; then
  folder=$url/download/v$version
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
if [ -z "$expected" ]; then
  download "$folder/SHA256SUMS.$signature" "$work/signature" ||
    fail "Cannot download $folder/SHA256SUMS.$signature" "this release is not signed; give the archive's checksum with --sha256"
  signed=
  for key in $keys; do
    if verify "${key%%:*}" "${key#*:}"; then signed=1; fi
  done
  if [ -z "$signed" ]; then
    fail "SHA256SUMS is not signed with a key that this script knows" "download install.sh of that release, and try again"
  fi
fi
line=$(grep -E "^[0-9a-f]{64}  rt-[^ ]*[0-9]-$target\.tar\.gz\$" "$work/SHA256SUMS" | head -n 1) ||
  fail "This release has nothing for $target"
if [ -z "$line" ]; then fail "This release has nothing for $target"; fi
if [ -z "$expected" ]; then expected=${line%% *}; fi
archive=${line##* }
# The name is signed, where the folder that it is in is not.
if [ -n "$version" ] && [ "$archive" != "rt-$version-$target.tar.gz" ]; then
  fail "What is at $folder is another version: $archive" "nothing was changed"
fi

printf 'Downloading %s\n' "$folder/$archive"
download "$folder/$archive" "$work/$archive" || fail "Cannot download $folder/$archive"
actual=$(sum "$work/$archive")
if [ "$actual" != "$expected" ]; then
  fail "The archive is not the one that was released: its SHA-256 is $actual, not $expected" "download it again"
fi
program=$work/${archive%.tar.gz}/rt
tar -xzf "$work/$archive" -C "$work" "${archive%.tar.gz}/rt" || fail "Cannot unpack $archive"
if [ -L "${program%/rt}" ] || [ -L "$program" ] || [ ! -f "$program" ]; then
  fail "$archive has something else than a program in the place of rt" "nothing was changed"
fi
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
