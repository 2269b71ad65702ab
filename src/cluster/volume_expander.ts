/**
 * The simulated resizer: a bound claim that requests more than its volume has gets it, if the simulated provisioner has made
 * the volume and its class allows it.
 *
 * Guarantees: as with a real driver, the volume grows first, and the claim shows its new size after that.
 */
import { builtin } from "../api/mod.ts";
import { compareQuantities } from "../apiserver/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";
import { type Claim, claimKeyOf, classOf, isBindingComplete, provisionedBy, requestOf } from "./_volumes.ts";
import { simulatedProvisioner } from "./volume_provisioner.ts";

const { PersistentVolume, PersistentVolumeClaim } = builtin;

/** Enlarges volumes. */
export const volumeExpander: ControllerDefinition = controller("local-path-resizer")
  .for(PersistentVolumeClaim, { when: ({ object }) => isBindingComplete(object) && requestsMore(object) })
  .watches(PersistentVolume, {
    to: (volume) => {
      const claim = claimKeyOf(volume);
      return claim === undefined ? [] : [claim];
    },
  })
  .watches(builtin.StorageClass, { to: () => [] })
  .reconcile(async (ctx) => {
    const claim = ctx.object;
    const volume = ctx.find(PersistentVolume, claim.spec.volumeName ?? "");
    const isAllowed = ctx.find(builtin.StorageClass, classOf(claim))?.allowVolumeExpansion === true;
    if (!isAllowed || !requestsMore(claim) || volume?.metadata.annotations?.[provisionedBy] !== simulatedProvisioner) {
      return done;
    }
    const storage = requestOf(claim);
    if (compareQuantities(volume.spec.capacity?.["storage"] ?? "0", storage) < 0) {
      await ctx.patch(PersistentVolume, volume, { kind: "merge", value: { spec: { capacity: { storage } } } });
    }
    await ctx.patchStatus({ capacity: { storage } });
    return done;
  });

function requestsMore(claim: Claim): boolean {
  const capacity = claim.status?.capacity?.["storage"];
  return capacity !== undefined && compareQuantities(capacity, requestOf(claim)) < 0;
}
