#!/bin/bash
# runc without the capabilities that this machine lacks: `docker run --privileged` asks for all, and where one is missing
# (CAP_SYS_RESOURCE, in many virtual machines) nothing starts. Who lacks that one may not lower an oom_score_adj, either.
spec=
words=("$@")
for index in "${!words[@]}"; do
  next=${words[index + 1]-}
  case ${words[index]} in
  --bundle | -b) spec=$next/config.json ;;
  --process | -p) spec=$next ;;
  esac
done
if [ -n "$spec" ] && [ -f "$spec" ]; then
  bounding=$(sed -n 's/^CapBnd:\t*//p' /proc/self/status)
  if (((16#$bounding >> 24 & 1) == 0)); then
    jq -c 'def cap: .capabilities |= ((. // {}) | map_values(map(select(. != "CAP_SYS_RESOURCE"))))
        | .oomScoreAdj |= ([. // 0, 0] | max);
      if .process then .process |= cap else cap end' "$spec" >"$spec.capped" && cat "$spec.capped" >"$spec"
    rm -f "$spec.capped"
  fi
fi
exec /usr/sbin/runc "$@"
