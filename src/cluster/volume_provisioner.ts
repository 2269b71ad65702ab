/**
 * The simulated provisioner: volumes for the claims of classes with the provisioner `rancher.io/local-path`, as kind has one.
 * Claims of other provisioners wait for theirs, so that a controller that is a provisioner can be tested.
 */
import { builtin } from "../api/mod.ts";
import { type Client, isAlreadyExists } from "../client/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";
import { type Claim, classOf, provisionedBy, requestOf, selectedNode, type StorageClass } from "./_volumes.ts";

/** The provisioner that is simulated. */
export const simulatedProvisioner = "rancher.io/local-path";

/** The annotations of a claim that needs a volume; the value is the provisioner. */
export const storageProvisioners = [
  "volume.beta.kubernetes.io/storage-provisioner",
  "volume.kubernetes.io/storage-provisioner",
] as const;

/** Creates the class `standard`, which is the default class, as in a cluster of kind. An existing one is not changed. */
export async function createStandardClass(client: Client, signal: AbortSignal): Promise<void> {
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  await client.create(builtin.StorageClass, {
    metadata: { name: "standard", annotations },
    provisioner: simulatedProvisioner,
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
  }, { signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** Provisions volumes. */
export const volumeProvisioner: ControllerDefinition = controller("local-path-provisioner")
  .for(builtin.PersistentVolumeClaim, {
    when: ({ object: { metadata, spec } }) =>
      spec.volumeName === undefined &&
      storageProvisioners.some((name) => metadata.annotations?.[name] === simulatedProvisioner),
  })
  .watches(builtin.StorageClass, { to: () => [] })
  .reconcile(async (ctx) => {
    const claim = ctx.object;
    const storageClass = ctx.find(builtin.StorageClass, classOf(claim));
    if (storageClass?.provisioner !== simulatedProvisioner || claim.spec.volumeName !== undefined) return done;
    const node = claim.metadata.annotations?.[selectedNode];
    if (storageClass.volumeBindingMode === "WaitForFirstConsumer" && node === undefined) return done;
    try {
      const { metadata } = await ctx.client.create(builtin.PersistentVolume, volumeFor(claim, storageClass, node), {
        signal: ctx.signal,
      });
      ctx.event("Normal", "ProvisioningSucceeded", `Successfully provisioned volume ${metadata.name}`);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    return done;
  });

function volumeFor(claim: Claim, storageClass: StorageClass, node: string | undefined) {
  const { namespace, name: claimName, uid, resourceVersion } = claim.metadata;
  const name = `pvc-${uid}`;
  const onNode = [{
    matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In" as const, values: [`${node}`] }],
  }];
  return {
    metadata: {
      name,
      annotations: {
        [provisionedBy]: simulatedProvisioner,
        ...(node === undefined ? {} : { "local.path.provisioner/selected-node": node }),
      },
    },
    spec: {
      capacity: { storage: requestOf(claim) },
      accessModes: claim.spec.accessModes,
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name: claimName, uid, resourceVersion },
      hostPath: {
        path: `/var/local-path-provisioner/${name}_${namespace}_${claimName}`,
        type: "DirectoryOrCreate" as const,
      },
      mountOptions: storageClass.mountOptions,
      ...(node === undefined ? {} : { nodeAffinity: { required: { nodeSelectorTerms: onNode } } }),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: storageClass.metadata.name,
      volumeMode: claim.spec.volumeMode,
    },
  };
}
