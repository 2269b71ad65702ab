#!/bin/sh
# The process outside of a node: keeper.sh DIR. It starts the node's process 1 (init.sh) in namespaces and cgroups of its
# own, and removes what is left when that has ended. Its input is the pipe that the harness holds: process 1 reads
# commands from it and ends when it closes, however the harness ended.
set -u
dir=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
exec 3<&0 </dev/null

while read -r controllers _ cgroup; do
  mkdir "$cgroup" || exit 1
  case $controllers in *cpuset*)
    for file in cpuset.cpus cpuset.mems; do cat "${cgroup%/*}/$file" >"$cgroup/$file"; done ;;
  esac
done <"$dir/hierarchies"

(
  while read -r _ _ cgroup; do echo 0 >"$cgroup/cgroup.procs"; done <"$dir/hierarchies"
  exec unshare --fork --kill-child=SIGKILL --pid --mount --net --uts --ipc --cgroup \
    sh "$here/init.sh" "$dir" <&3 >"$dir/log/init.log" 2>&1
) &
exec 3<&-
wait $! || tail -n 15 "$dir/log/init.log" >&2

# The command that with.ts runs, when with.ts was killed.
[ ! -f "$dir/run/command.pid" ] || kill -KILL "$(cat "$dir/run/command.pid")"

# The kernel frees a cgroup a moment after its last process.
code=0
while read -r _ _ cgroup; do
  tries=200
  while [ -d "$cgroup" ] && [ "$tries" -gt 0 ]; do
    find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.05
    tries=$((tries - 1))
  done
  [ ! -d "$cgroup" ] || code=1
done <"$dir/hierarchies"
rm -rf "$dir"
exit "$code"
