#!/bin/sh
# Keeps one machine (machine.ts): makes its cgroups, runs its first process in namespaces of its own, and when that has
# ended, for whatever reason, ends and removes all that is left of it. Its standard input is a pipe whose other end only
# the harness has; the first process ends when it closes, also after a SIGKILL of the harness.
#   supervise.sh DIR SCRIPTS LAYERS IMAGES
trap '' HUP INT TERM
dir=$1 scripts=$2 layers=$3 images=$4
exec >"$dir/log/machine.log" 2>&1
: >"$dir/cgroups"
while IFS=: read -r _ names path; do
  hierarchy=/sys/fs/cgroup/${names#name=}
  [ -n "$names" ] && [ -d "$hierarchy" ] || continue
  cgroup=$hierarchy${path%/}/${dir##*/}
  mkdir "$cgroup"
  # A cpuset takes no process before it has processors.
  for file in cpuset.cpus cpuset.mems; do
    [ ! -e "$cgroup/$file" ] || cat "$hierarchy$path/$file" >"$cgroup/$file"
  done
  echo "$names $cgroup" >>"$dir/cgroups"
done </proc/self/cgroup

"$scripts/enter.sh" "$dir" sh -c 'echo $$ >"$1/unshare.pid"; shift; exec "$@"' sh "$dir" \
  unshare --fork --kill-child=SIGKILL --pid --mount --net --uts --ipc --cgroup \
  sh "$scripts/mounts.sh" "$dir" "$scripts" "$layers" "$images"

# What was started in the cgroups without the namespaces (enter.sh) lives on until here.
tries=200
while [ "$tries" -gt 0 ]; do
  left=
  while read -r _ cgroup; do
    [ -d "$cgroup" ] || continue
    pids=$(find "$cgroup" -name cgroup.procs -exec cat {} + 2>/dev/null | grep -vx 0)
    [ -z "$pids" ] || kill -KILL $pids 2>/dev/null
    find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
    [ ! -d "$cgroup" ] || left=$cgroup
  done <"$dir/cgroups"
  [ -n "$left" ] || break
  tries=$((tries - 1))
  sleep 0.1
done
rm -rf "$dir"
