/** imageParts(): splits the reference of a container image, `registry.example.com:5000/team/operator:1.2.3@sha256:…`. */

/** The parts of a reference. */
export interface ImageParts {
  /** The registry and the path. */
  readonly repository: string;
  readonly tag?: string;
  /** `sha256:…` */
  readonly digest?: string;
}

/** Splits a reference. A colon before the last slash belongs to the port of the registry. */
export function imageParts(image: string): ImageParts {
  const [reference = "", digest] = image.split("@", 2);
  const colon = reference.indexOf(":", reference.lastIndexOf("/") + 1);
  return {
    repository: colon < 0 ? reference : reference.slice(0, colon),
    ...(colon < 0 ? {} : { tag: reference.slice(colon + 1) }),
    ...(digest === undefined ? {} : { digest }),
  };
}
