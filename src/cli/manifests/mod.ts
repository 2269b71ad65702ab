/** TODO */
export { manifests } from "./manifests.ts";
