/** Image names, as far as the API server reads them: which tag an image has decides how it is pulled. */

/**
 * The tag of an image: `latest` where it has neither a tag nor a digest, "" for a digest and for a name that is none.
 *
 * @example
 * ```ts
 * import { imageTag } from "./images.ts";
 *
 * console.assert(imageTag("registry.example:5000/app") === "latest");
 * console.assert(imageTag("app:v1") === "v1");
 * console.assert(imageTag("app@sha256:" + "0".repeat(64)) === "");
 * ```
 */
export function imageTag(image: string): string {
  const at = image.indexOf("@");
  const bare = at < 0 ? image : image.slice(0, at);
  const colon = bare.lastIndexOf(":");
  const hasTag = colon > bare.lastIndexOf("/");
  if (hasTag) return bare.slice(colon + 1);
  if (at >= 0) return "";
  return isImageName(bare) ? "latest" : "";
}

function isImageName(name: string): boolean {
  return /^[a-z0-9A-Z.:/_[\]-]+$/.test(name) && /^(?:[^/]*[.:A-Z][^/]*\/|localhost\/)?[a-z0-9._/-]+$/.test(name);
}
