#!/bin/sh
# Runs a command that cannot change the kernel's settings for the whole machine: over each folder of /proc/sys but net (a
# network namespace has its own) lies a copy, which is written instead. kubelet and systemd write there.
#   own_sysctls.sh COMMAND ARGS...
set -eu
copies=$(mktemp -d)
mount -t tmpfs tmpfs "$copies"
mkdir "$copies/random"
mount --bind /proc/sys/kernel/random "$copies/random"
for folder in /proc/sys/*; do
  [ "$folder" != /proc/sys/net ] || continue
  # Some files can only be written.
  cp -r "$folder" "$copies/" 2>/dev/null || true
  mount --bind "$copies/${folder##*/}" "$folder"
done
# Each read of its `uuid` is another one.
mount --bind "$copies/random" /proc/sys/kernel/random
mount -o remount,bind,ro /proc/sys/kernel/random
umount -l "$copies"
rmdir "$copies"
exec "$@"
