# shellcheck shell=bash
# Sourced first by every script here: names of places, and what the scripts share.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
project=$PWD
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pg_snowid
target=${CARGO_TARGET_DIR:-$project/target}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
mapfile -t majors < <(sed -n 's/^pg\([0-9]*\) = .*/\1/p' Cargo.toml) # of PostgreSQL, the supported ones in order
supported="${majors[0]} to ${majors[-1]}"
export CARGO_TARGET_DIR=$target

say() { printf '==> %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
die() { # die FACT [NEXT STEP…]
  printf 'error: %s\n' "$1" >&2
  if [ $# -gt 1 ]; then printf '       %s\n' "${@:2}" >&2; fi
  exit 1
}

is_root() { [ "$(id -u)" = 0 ]; }
has_root() { is_root || { command -v sudo >/dev/null && sudo true; }; }
as_root() {
  if is_root; then "$@"; return; fi
  has_root || die "this step needs root, and there is no sudo here, or it doesn't let $(id -un)" "run it as root: $*"
  sudo "$@"
}

# PostgreSQL refuses to run as root: then its servers run as the user postgres.
server_user=$(id -un)
if is_root; then server_user=postgres; fi
as_server() { if is_root; then runuser -u "$server_user" -- "$@"; else "$@"; fi; }

# logged WHAT COMMAND…: the output goes to a file; a line now and then shows that it goes on. If it fails,
# $remedy is the next step.
remedy=
logged() {
  local what=$1 log=$target/log/${1//[^a-zA-Z0-9.]/-}.log start=$SECONDS beat status=0
  mkdir -p "${log%/*}"
  say "$what"
  shift
  while sleep 20 && kill -0 $$; do note "$((SECONDS - start)) s: $(tail -n 1 "$log" | tr -d '\r' | cut -c1-70)"; done &
  beat=$!
  "$@" </dev/null >"$log" 2>&1 || status=$?
  kill "$beat" 2>/dev/null || true
  wait "$beat" 2>/dev/null || true
  [ "$status" = 0 ] && return
  tail -n 40 "$log" >&2
  die "failed: $what" ${remedy:+"$remedy"} "the whole output: $log"
}

# The release of Debian that brings a major.
suite_of() {
  case $1 in
    15) echo bookworm ;;
    17) echo trixie ;;
    18) echo forky ;;
    19) echo experimental ;;
  esac
}
# Whether Debian has the major's server: what is no release yet comes from experimental, and may be gone again.
is_to_be_had() {
  local list=$target/experimental.xz helper=/usr/lib/apt/apt-helper mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
  [ "$(suite_of "$1")" != experimental ] || [ -d "$cache/root-$1" ] || {
    mkdir -p "$target" && rm -f "$list"
    "$helper" download-file "$mirror/dists/experimental/main/binary-amd64/Packages.xz" "$list" >/dev/null 2>&1 &&
      "$helper" cat-file "$list" | grep -x "Package: postgresql-$1" >/dev/null
  }
}

this_suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null || true)

# The major to work with where none is named: one that is installed, else the one that apt offers, else
# (its lists may never have been fetched) the one that this release of Debian brings.
native_major() {
  local i major
  for ((i = ${#majors[@]} - 1; i >= 0; i--)); do
    if [ -x "/usr/lib/postgresql/${majors[i]}/bin/postgres" ]; then echo "${majors[i]}"; return; fi
  done
  major=$(apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -1)
  if [ -n "$major" ]; then echo "$major"; return; fi
  for major in "${majors[@]}"; do
    if [ "$(suite_of "$major")" = "${this_suite:-unknown}" ]; then echo "$major"; fi
  done
}

# Whether this machine or its apt has the major's server; the others run in a root of their own, or out
# of a wheel.
is_local() {
  [ -x "/usr/lib/postgresql/$1/bin/postgres" ] || apt-cache show "postgresql-$1" >/dev/null 2>&1 ||
    [ "$(suite_of "$1")" = "${this_suite:-unknown}" ]
}

is_supported() { [[ " ${majors[*]} " == *" ${1:-none} "* ]]; }

# use_pg_config FILE: builds are for the server it names. Each major has its own configuration
# for pgrx in target/: the user's ~/.pgrx stays untouched, and changing majors rebuilds nothing.
use_pg_config() {
  pg_config=$1
  pg=$("$pg_config" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')
  is_supported "$pg" ||
    die "$pg_config is of PostgreSQL $pg; pg_snowid supports $supported" "name another: PG_CONFIG=/path/to/pg_config"
  export PGRX_HOME=$target/pgrx-$pg
  local config="[configs]
pg$pg = \"$pg_config\""
  mkdir -p "$PGRX_HOME"
  [ "$(cat "$PGRX_HOME/config.toml" 2>/dev/null)" = "$config" ] || echo "$config" >"$PGRX_HOME/config.toml"
}

# named_pg_config FILE: the PG_CONFIG of make install and the like, checked. Debian's /usr/bin/pg_config
# stands for that of a major: it is taken as that, so that one server isn't mistaken for two.
named_pg_config() {
  local own
  command -v "$1" >/dev/null || die "there is no $1" "name your server's: PG_CONFIG=/path/to/pg_config"
  own=$("$1" --bindir)/pg_config
  if [ -x "$own" ]; then echo "$own"; else command -v "$1"; fi
}

# use_major NN: the same for a major that scripts/setup has prepared; sets root or wheel when it has one.
use_major() {
  root='' wheel=''
  if is_local "$1"; then
    use_pg_config "/usr/lib/postgresql/$1/bin/pg_config"
  elif [ -z "$(suite_of "$1")" ]; then
    wheel=$cache/wheel-$1
    use_pg_config "$wheel/server/bin/pg_config"
  else
    root=$cache/root-$1
    use_pg_config "$root.pg_config"
  fi
}

# Said before anything is installed or built: an old Rust fails on what it doesn't know, and pgrx's build runs rustfmt.
check_rust() {
  local needed own
  needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  own=$(rustc --version 2>/dev/null | cut -d' ' -f2 || true)
  printf '%s\n' "$needed" "${own:-0}" | sort -CV && command -v cargo >/dev/null ||
    die "there is no Rust $needed or later here (rustc on the PATH: ${own:-none})" \
      "install it as https://rustup.rs says, then try again"
  rustfmt --version >/dev/null 2>&1 ||
    die "there is no rustfmt here, which the build needs" "rustup component add rustfmt    (then try again)"
}

# cargo_pg COMMAND…: cargo for the major $pg. pgrx 0.19 declares Rust 1.96 and needs no more than Cargo.toml's
# rust-version, with which all is tested.
cargo_pg() { cargo "$1" --ignore-rust-version --no-default-features --features "pg$pg" "${@:2}"; }

# build PROFILE: the libraries, for the server of use_pg_config; sets built. That of etcd is left out of what
# the demo needs, and where ETCD=no says that nobody leases worker IDs.
build() {
  local library packages=()
  built=("$target/$1/libpg_snowid.so")
  if [ "$1" != demo ] && [ "${ETCD:-yes}" != no ]; then built+=("$target/$1/libpg_snowid_etcd.so"); fi
  for library in "${built[@]}"; do
    library=${library##*/lib}
    packages+=(-p "${library%.so}")
  done
  logged "building pg_snowid $version for PostgreSQL $pg" cargo_pg build --profile "$1" --lib --locked "${packages[@]}"
}

# install_files LIB EXTENSION [COMMAND]: puts what was built into these folders, by way of COMMAND as_root where
# that is needed. install replaces a library that servers have loaded; written over in place it would crash them.
install_files() {
  local library sql=$target/pg_snowid--$version.sql
  scripts/install-sql >"$sql"
  for library in "${built[@]}"; do
    ${3:-} install -m 755 "$library" "$1/${library##*/lib}"
  done
  ${3:-} install -m 644 pg_snowid.control "$sql" "$2/"
}

# can_install LIB EXTENSION: whether this user, or root by way of sudo, may put files there.
can_install() { [ -w "$1" ] && [ -w "$2" ] || has_root; }

# build_and_install PROFILE: into the server of use_pg_config.
build_and_install() {
  local lib extension how=
  build "$1"
  lib=$("$pg_config" --pkglibdir) extension=$("$pg_config" --sharedir)/extension
  if [ ! -w "$lib" ] || [ ! -w "$extension" ]; then how=as_root; fi
  install_files "$lib" "$extension" $how
}

# start_server DIR: a server of its own, with its data, socket and log in that empty folder of the server's user.
start_server() {
  local bin
  bin=$("$pg_config" --bindir)
  as_server env -C "$1" "$bin/initdb" -D "$1/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
  as_server tee -a "$1/data/postgresql.conf" >/dev/null <<END
listen_addresses = ''
unix_socket_directories = '$1'
shared_preload_libraries = 'pg_snowid'
END
  as_server env -i -C "$1" PATH=/usr/bin:/bin LANG=C.UTF-8 \
    "$bin/pg_ctl" -D "$1/data" -l "$1/log" -w start >/dev/null || die "the server didn't start" "its log: $1/log"
}
