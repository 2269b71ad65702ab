/** The command `manifests`. */
export { manifests } from "./manifests.ts";
