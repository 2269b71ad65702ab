/**
 * What `kind create cluster` is told beyond the README's words, because no registry is reached: which image a node has,
 * and where the images of the control plane are. The rest is for hosts with cgroups of version 1, on which kubelet has to
 * be asked to run, and for disks that are fuller than kubelet likes.
 */
import { nodeImagesDir } from "./node_image.ts";

/** The folder of the images in the machine; scripts/mounts.sh mounts it. */
const imagesOfMachine = "/images";

const kubelet = {
  kind: "KubeletConfiguration",
  failCgroupV1: false,
  cgroupDriver: "cgroupfs",
  evictionHard: {
    "memory.available": "0%",
    "nodefs.available": "0%",
    "nodefs.inodesFree": "0%",
    "imagefs.available": "0%",
  },
};

/** The text of the configuration: JSON, which is YAML. */
export function clusterConfig(image: string): string {
  const extraMounts = [{ hostPath: imagesOfMachine, containerPath: nodeImagesDir, readOnly: true }];
  return JSON.stringify({
    kind: "Cluster",
    apiVersion: "kind.x-k8s.io/v1alpha4",
    networking: { disableDefaultCNI: true, ipFamily: "ipv4", kubeProxyMode: "nftables" },
    nodes: [{ role: "control-plane", image, extraMounts }],
    kubeadmConfigPatches: [JSON.stringify(kubelet)],
  });
}
