/** A request as somebody sees it who was made for another version of its kind. */
import { type AdmissionRequest, draftOf, type JsonObject, type Kind } from "../model/mod.ts";

/** The request as somebody sees it who knows the kind in another version. */
export async function shownAs(request: AdmissionRequest, kind: Kind): Promise<AdmissionRequest> {
  if (kind === request.kind) return request;
  const { object, oldObject } = request;
  return {
    ...request,
    kind,
    object: object === undefined ? undefined : draftOf(await converted(object, kind)),
    oldObject: oldObject === undefined ? undefined : await converted(oldObject, kind),
    warn: (text) => request.warn(text),
  };
}

/** An object in another version. */
export async function converted(object: JsonObject, kind: Kind): Promise<JsonObject> {
  const [made] = await kind.convert([object]);
  return made ?? object;
}
