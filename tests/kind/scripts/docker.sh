#!/bin/sh
# The machine's only service, dockerd, for as long as the harness holds its end of standard input. Its network has no way
# out: kubelet and dockerd want a default route, and get one that leads nowhere.
set -eu
umount -l /old
sh /scripts/own_sysctls.sh true
hostname kindhost
echo "127.0.0.1 localhost kindhost" >/etc/hosts
echo "nameserver 192.0.2.1" >/etc/resolv.conf
ip link set lo up
ip link add uplink type veth peer name nowhere
ip address add 192.0.2.2/24 dev uplink
ip link set nowhere up
ip link set uplink up
ip route add default via 192.0.2.1 dev uplink
dockerd --host unix:///machine/docker.sock --exec-opt native.cgroupdriver=cgroupfs \
  --add-runtime capped=/scripts/capped_runc.sh --default-runtime capped >/machine/dockerd.log 2>&1 </dev/null &
cat >/dev/null
