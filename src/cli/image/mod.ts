/** The command `image`. */
export { type BillOfMaterials, billOfMaterials, type BundledPackage } from "./bill_of_materials.ts";
export { image } from "./image.ts";
