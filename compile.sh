#!/bin/sh
# Compiles an operator into one binary, and says how large it is and how fast it starts.
#
# Bun is the release runtime: the one `deno install` fetched (tasks/bun.sh), the other systems' from the npm registry.
# The version in the nearest deno.json or package.json above the entry is stamped into the binary.
set -eu

usage() {
  cat <<'TEXT'
Usage: compile.sh [options]

  --entry FILE      the operator's main module (default: this repository's main.ts)
  --outfile FILE    the binary (default: dist/controller)
  --runtime NAME    bun (default) or deno
  --target NAME     linux-x64, linux-arm64, darwin-x64, darwin-arm64 or windows-x64 (default: this machine)
  --version TEXT    the version to stamp in (default: the one in deno.json or package.json)

Examples:
  ./compile.sh
  ./compile.sh --target linux-arm64 --outfile dist/controller-arm64
  ./compile.sh --entry my_operator/main.ts --outfile my_operator/bin/my-operator
TEXT
}

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
entry=$root/main.ts outfile=$root/dist/controller runtime=bun target='' version=''

refuse() {
  echo "compile.sh: $1. Run: compile.sh --help" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --entry | --outfile | --runtime | --target | --version)
      [ $# -ge 2 ] || refuse "Cannot parse $1: its value is missing"
      name=${1#--} && eval "$name=\$2" && shift 2
      ;;
    *) refuse "Cannot parse \"$1\": it is not an option" ;;
  esac
done
case $runtime in bun | deno) ;; *) refuse "Cannot compile with \"$runtime\": the runtimes are bun and deno" ;; esac
case $target in
  '' | linux-x64 | linux-arm64 | darwin-x64 | darwin-arm64 | windows-x64) ;;
  *) refuse "Cannot compile for \"$target\": that target is not known" ;;
esac
[ -f "$entry" ] || refuse "Cannot compile \"$entry\": there is no such file"

# The nearest version above the entry.
stamp_of() {
  folder=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)
  while :; do
    for file in "$folder/deno.json" "$folder/package.json"; do
      [ -f "$file" ] || continue
      found=$(sed -n 's/^[[:space:]]*"version":[[:space:]]*"\([^"]*\)".*/\1/p' "$file" | head -n 1)
      if [ -n "$found" ]; then echo "$found" && return; fi
    done
    [ "$folder" != / ] || return 0
    folder=$(dirname -- "$folder")
  done
}
version=${version:-$(stamp_of "$entry")}
version=${version:-dev}
# It becomes source text below.
case $version in *[!A-Za-z0-9.+_-]*) refuse "Cannot stamp version \"$version\": only letters, digits and .+_- may be in it" ;; esac

compile_with_bun() {
  # The source map goes into the binary (2 %, nothing at start): what -v and a crash show are lines of the sources.
  # No .env, bunfig.toml, tsconfig.json or package.json of whatever folder it is started in may change what it does.
  # Splitting loads what import() names only when it is asked for: less memory at rest, and a faster start. To compile
  # functions to machine code later than usual (--compile-jit-policy=4) would save 2.4 MiB at rest, and cost a webhook a third
  # more CPU and a reconcile a seventh (bench/README.md).
  # Bun also writes every chunk's map beside the binary, hence a folder of its own.
  folder=$(mktemp -d "$(dirname -- "$outfile")/.compile.XXXXXX") && trap 'rm -rf "$folder"' EXIT
  # An operator outside of this repository names the library as deno.json does: Bun is told where that is.
  tsconfig=
  if [ ! -f "$(dirname -- "$entry")/tsconfig.json" ]; then
    tsconfig=$(CDPATH='' cd -- "$folder" && pwd)/tsconfig.json
    printf '{"compilerOptions":{"paths":{"@pintle/controller":["%s"],"@pintle/controller/*":["%s"]}}}\n' \
      "$root/src/mod.ts" "$root/src/*.ts" >"$tsconfig"
  fi
  "$root/tasks/bun.sh" build --compile ${target:+"--target=bun-$target"} --bytecode --minify --format=esm \
    ${tsconfig:+"--tsconfig-override=$tsconfig"} \
    --splitting --sourcemap=linked \
    --no-compile-autoload-dotenv --no-compile-autoload-bunfig \
    --no-compile-autoload-tsconfig --no-compile-autoload-package-json \
    --define "PINTLE_OPERATOR_VERSION=\"$version\"" "--outfile=$folder/$(basename -- "$outfile")" "$entry"
  case $target in windows-*) outfile=${outfile%.exe}.exe ;; esac
  mv "$folder/$(basename -- "$outfile")" "$outfile"
}

deno_target() {
  case $1 in
    linux-x64) echo x86_64-unknown-linux-gnu ;;
    linux-arm64) echo aarch64-unknown-linux-gnu ;;
    darwin-x64) echo x86_64-apple-darwin ;;
    darwin-arm64) echo aarch64-apple-darwin ;;
    windows-x64) echo x86_64-pc-windows-msvc ;;
  esac
}

compile_with_deno() {
  stamp=$(mktemp) && trap 'rm -f "$stamp"' EXIT
  echo "PINTLE_OPERATOR_VERSION=$version" >"$stamp"
  deno compile ${target:+"--target=$(deno_target "$target")"} --frozen --no-check "--env-file=$stamp" \
    --allow-net --allow-env --allow-read --allow-write --allow-sys --allow-run "--output=$outfile" "$entry" || {
    echo "compile.sh: Cannot compile with Deno: see above; it fetches a runtime of its own, which must be reachable" >&2
    exit 1
  }
}

# Starts the binary some times and prints the median in milliseconds.
# shellcheck disable=SC2016
measure='
import { spawnSync } from "node:child_process";
import process from "node:process";
const run = () => {
  const startedAt = performance.now();
  const { status } = spawnSync(process.env.BINARY, ["--version"]);
  if (status !== 0) throw new Error(`Cannot start ${process.env.BINARY}: exit code ${status}`);
  return performance.now() - startedAt;
};
run();
const times = Array.from({ length: 15 }, run).sort((a, b) => a - b);
console.log(times[7].toFixed(1));
'

mkdir -p "$(dirname -- "$outfile")"
"compile_with_$runtime"
echo "binary      $outfile"
echo "version     $version"
echo "bytes       $(($(wc -c <"$outfile")))"
if [ -z "$target" ]; then
  case $outfile in /*) ;; *) outfile=./$outfile ;; esac
  case $runtime in
    bun) ms=$(BINARY=$outfile "$root/tasks/bun.sh" -e "$measure") ;;
    deno) ms=$(BINARY=$outfile deno eval "$measure") ;;
  esac
  echo "cold start  $ms ms (--version, median of 15)"
fi
