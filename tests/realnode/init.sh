#!/bin/sh
# Process 1 of a node: init.sh DIR. It gives the node a view of its own of /proc, /sys, /run, /var/lib, /var/log and the
# network, and then starts and stops daemons as its input says. When the input closes, it ends, and with it everything
# in the namespace.
#
#   start NAME   runs DIR/daemons/NAME; its output is in DIR/log/NAME.log, its exit code later in DIR/ended/NAME
#   stop NAME    SIGTERM
set -eu
dir=$1

mount --make-rprivate /
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
while read -r controllers name _; do
  mkdir "/sys/fs/cgroup/$name"
  case $controllers in name=*) controllers=none,$controllers ;; esac
  mount -t cgroup -o "$controllers" cgroup "/sys/fs/cgroup/$name"
done <"$dir/hierarchies"
mount -t tmpfs -o mode=755 tmpfs /run
for folder in lib log; do mount --bind "$dir/var/$folder" "/var/$folder"; done

# kubelet sets these for the whole machine: here it writes into files of ours.
mkdir /run/sysctl
for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
  kernel/keys/root_maxbytes; do
  file=/run/sysctl/$(echo "$name" | tr / .)
  [ -e "/proc/sys/$name" ] || continue
  cat "/proc/sys/$name" >"$file"
  mount --bind "$file" "/proc/sys/$name"
done
mount --make-rshared /
hostname pintle-node

# Nothing leaves this network: both ends of node0 are in it. It carries the addresses of the nodes.
ip link set lo up
ip link add node0 type veth peer name node0peer
while read -r name address; do
  ip address add "$address/24" dev node0
  for cgroup in /sys/fs/cgroup/*; do # the root of the node's Pods
    mkdir "$cgroup/$name"
    [ ! -e "$cgroup/cpuset.cpus" ] || for file in cpuset.cpus cpuset.mems; do cat "$cgroup/$file" >"$cgroup/$name/$file"; done
  done
done <"$dir/nodes.txt"
ip link set node0 up
ip link set node0peer up
ip route add default via 10.99.0.254 dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward

export PATH="$dir/bin:$PATH" TMPDIR="$dir/tmp" HOME="$dir/home"
start() {
  "$dir/daemons/$1" >"$dir/log/$1.log" 2>&1 </dev/null 3<&- || code=$?
  echo "${code:-0}" >"$dir/ended/$1"
}
exec 3<&0
(
  while read -r verb name; do
    case $verb in
      start) rm -f "$dir/ended/$name"; start "$name" & ;;
      stop) kill "$(cat "$dir/pids/$name")" || true ;;
    esac
  done
) <&3 &
reader=$!
exec 3<&- </dev/null
touch "$dir/up"
wait "$reader" # collects orphans, too
