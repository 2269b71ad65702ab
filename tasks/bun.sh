#!/bin/sh
# Runs the Bun that `deno install` fetched, at the version deno.json pins: nobody has to install Bun.
#
# The npm package `bun` brings one program per system and C library; its install script, which would pick one, does not
# run under Deno. The first that starts is the right one.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
version=$(sed -n 's/.*"bun": *"npm:bun@\([^"]*\)".*/\1/p' "$root/deno.json")
for bun in "$root"/node_modules/.deno/@oven+bun-*@"$version"/node_modules/@oven/bun-*/bin/bun*; do
  if [ -x "$bun" ] && "$bun" --version >/dev/null 2>&1; then exec "$bun" "$@"; fi
done
echo "bun.sh: Cannot find Bun $version in $root/node_modules: it is not installed. Run: deno install" >&2
exit 1
