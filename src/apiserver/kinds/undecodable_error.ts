/** UndecodableError: a body that a kind has no place for. */
import { Refusal } from "../model/mod.ts";

/** 400: the body is not of the kind. `detail` is what Go's decoder would say, for those who put it into other words. */
export class UndecodableError extends Refusal {
  readonly detail: string;

  constructor(kind: { readonly kind: string; readonly version: string }, detail: string) {
    super(
      400,
      "BadRequest",
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${detail}`,
    );
    this.detail = detail;
  }
}
