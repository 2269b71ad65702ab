/** The kinds of the group storage.k8s.io. */
import type { KindGroup } from "../rules/mod.ts";
import {
  csiDriverDefaults,
  csiDriverRow,
  csiDriverRules,
  csiNodeRow,
  csiNodeRules,
  csiStorageCapacityRow,
  csiStorageCapacityRules,
  volumeAttributesClassRow,
  volumeAttributesClassRules,
} from "./csi.ts";
import { storageClassDefaults, storageClassRow, storageClassRules } from "./storage_classes.ts";
import { volumeAttachmentRow, volumeAttachmentRules } from "./volume_attachments.ts";

/** The kinds of the group storage.k8s.io. */
export const storageKinds: KindGroup = {
  rules: {
    "StorageClass.storage.k8s.io": storageClassRules,
    "CSIDriver.storage.k8s.io": csiDriverRules,
    "CSINode.storage.k8s.io": csiNodeRules,
    "CSIStorageCapacity.storage.k8s.io": csiStorageCapacityRules,
    "VolumeAttachment.storage.k8s.io": volumeAttachmentRules,
    "VolumeAttributesClass.storage.k8s.io": volumeAttributesClassRules,
  },
  defaults: { ...storageClassDefaults, ...csiDriverDefaults },
  rows: {
    "storageclasses.storage.k8s.io": storageClassRow,
    "csidrivers.storage.k8s.io": csiDriverRow,
    "csinodes.storage.k8s.io": csiNodeRow,
    "csistoragecapacities.storage.k8s.io": csiStorageCapacityRow,
    "volumeattachments.storage.k8s.io": volumeAttachmentRow,
    "volumeattributesclasses.storage.k8s.io": volumeAttributesClassRow,
  },
};
