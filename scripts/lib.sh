# shellcheck shell=bash
# Sourced first by every script here: names of places, and what the scripts share.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
project=$PWD
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pg_snowid
target=${CARGO_TARGET_DIR:-$project/target}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
pgrx_version=$(sed -n 's/^pgrx = "=\(.*\)"/\1/p' Cargo.toml)
export CARGO_TARGET_DIR=$target
unset RUST_BACKTRACE # a server that inherits it shows backtraces in its errors' details

say() { printf '==> %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
die() { # die FACT [NEXT STEP…]
  printf 'error: %s\n' "$1" >&2
  if [ $# -gt 1 ]; then printf '       %s\n' "${@:2}" >&2; fi
  exit 1
}

is_root() { [ "$(id -u)" = 0 ]; }
as_root() {
  if is_root; then "$@"; return; fi
  command -v sudo >/dev/null || die "this step needs root, and there is no sudo here" "run it as root: $*"
  sudo "$@"
}

# PostgreSQL refuses to run as root: then its servers run as the user postgres.
server_user=$(id -un)
if is_root; then server_user=postgres; fi
as_server() { if is_root; then runuser -u "$server_user" -- "$@"; else "$@"; fi; }

# logged WHAT COMMAND…: the output goes to a file; a line now and then shows that it goes on.
logged() {
  local what=$1 log=$target/log/${1//[^a-zA-Z0-9.]/-}.log start=$SECONDS beat status=0
  mkdir -p "${log%/*}"
  say "$what"
  shift
  while sleep 20; do note "$((SECONDS - start)) s: $(tail -n 1 "$log" | tr -d '\r' | cut -c1-70)"; done &
  beat=$!
  "$@" </dev/null >"$log" 2>&1 || status=$?
  kill "$beat" 2>/dev/null || true
  wait "$beat" 2>/dev/null || true
  [ "$status" = 0 ] && return
  tail -n 40 "$log" >&2
  die "failed: $what" "the whole output: $log"
}

# The major that this machine's Debian brings: one that is installed, else the one that apt offers.
native_major() {
  local major
  for major in 18 17 16 15; do
    if [ -x "/usr/lib/postgresql/$major/bin/postgres" ]; then echo "$major"; return; fi
  done
  apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -1
}

# Whether apt or this machine has the major's server; the others run in a root of their own.
is_local() {
  [ -x "/usr/lib/postgresql/$1/bin/postgres" ] || apt-cache show "postgresql-$1" >/dev/null 2>&1
}

# use_pg_config FILE: builds are for the server it names. Each major has its own configuration
# for pgrx in target/: the user's ~/.pgrx stays untouched, and changing majors rebuilds nothing.
use_pg_config() {
  pg_config=$1
  pg=$("$pg_config" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')
  case $pg in
    15 | 16 | 17 | 18) ;;
    *) die "$pg_config is of PostgreSQL $pg; pg_snowid supports 15 to 18" "name another: PG_CONFIG=/path/to/pg_config" ;;
  esac
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

# use_major NN: the same for a major that scripts/setup has prepared; sets root when it has one.
use_major() {
  root=
  if is_local "$1"; then
    use_pg_config "/usr/lib/postgresql/$1/bin/pg_config"
  else
    root=$cache/root-$1
    use_pg_config "$root.pg_config"
  fi
}

# cargo-pgrx must have exactly the version of the pgrx crate: the user's own, or one in our cache.
use_cargo_pgrx() {
  local own
  own=$(command -v cargo-pgrx || true)
  if [ -z "$own" ] || [ "$("$own" pgrx --version 2>/dev/null)" != "cargo-pgrx $pgrx_version" ]; then
    own=$cache/tools/bin/cargo-pgrx
  fi
  export CARGO_PGRX=$own # read by pgrx-tests too
}
cargo_pgrx() { "$CARGO_PGRX" pgrx "$@"; }

# install_release: builds the release library for the server of use_pg_config, and installs it.
install_release() {
  local sudo=() lib
  lib=$("$pg_config" --pkglibdir)
  if [ ! -w "$lib" ] || [ ! -w "$("$pg_config" --sharedir)/extension" ]; then
    sudo=(--sudo)
    as_root rm -f "$lib/pg_snowid.so" # --sudo copies over it in place, which crashes servers that have it loaded
  fi
  logged "building pg_snowid $version for PostgreSQL $pg" cargo_pgrx install --release \
    --no-default-features --features "pg$pg" --pg-config "$pg_config" "${sudo[@]}"
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
