#!/bin/sh
# The first process of a machine: gives it a root file system of its own (the Debian packages, and over them a folder that
# takes all writes), mounts, devices and cgroups, then starts docker.sh in it. Nothing of it is seen outside.
#   mounts.sh DIR SCRIPTS LAYERS IMAGES
set -eu
dir=$1 scripts=$2 layers=$3 images=$4 root=$1/root
mount --make-rprivate /
mount -t overlay -o "lowerdir=$layers,upperdir=$dir/upper,workdir=$dir/work" overlay "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
while read -r names _; do
  hierarchy=$root/sys/fs/cgroup/${names#name=}
  mkdir "$hierarchy"
  case $names in
  name=*) mount -t cgroup -o "none,$names" cgroup "$hierarchy" ;;
  *) mount -t cgroup -o "$names" cgroup "$hierarchy" ;;
  esac
done <"$dir/cgroups"

# The devices that every container has, and the log of the kernel, which kubelet reads; no disk.
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty kmsg; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"

for folder in run tmp; do mount -t tmpfs tmpfs "$root/$folder"; done
mkdir -p "$root/machine" "$root/images" "$root/scripts" "$root/var/lib/docker" "$root/old"
mount --bind "$dir/shared" "$root/machine"
mount --bind "$dir/docker" "$root/var/lib/docker"
for pair in "$images:images" "$scripts:scripts"; do
  mount --bind "${pair%:*}" "$root/${pair##*:}"
  mount -o remount,bind,ro "$root/${pair##*:}"
done
cd "$root"
pivot_root . old
exec chroot . /bin/sh /scripts/docker.sh <&0
