/**
 * The scale of an object: an autoscaling/v1 Scale, whatever the kind in the URL, in a PUT's body and in every answer.
 */
import { apiVersionOf } from "../../api/mod.ts";
import { badRequest, type Draft, type JsonObject, type Kind, read } from "../model/mod.ts";
import { scaleTable } from "../kinds/mod.ts";
import { type AnswerForm, plainAnswer } from "./answer.ts";
import { bodySource } from "./read_body.ts";
import { type Exchange, writingCall } from "./resource_handler.ts";
import { type TableKind, transformObject } from "./table.ts";

/** Serves it. @throws Refusal */
export async function putScale(exchange: Exchange): Promise<Response> {
  const { request, info, services, kind, form } = exchange;
  const call = writingCall(exchange, "UpdateOptions");
  const source = await bodySource(request, kind, services.decoders);
  const body = (): Draft => {
    const { draft } = source();
    checkScale(draft, kind);
    return draft;
  };
  const { code, result } = await services.registry.putScale(call, info.name, body);
  return await scaleAnswer(result.object, code, form);
}

const scaleKind: TableKind = { group: "autoscaling", kind: "Scale", hasStrategicMerge: true, table: scaleTable };

/** A Scale, in the form that was agreed on. */
export function scaleAnswer(scale: JsonObject, code: number, form: AnswerForm): Promise<Response> | Response {
  const { transform } = form.negotiated;
  if (transform === undefined) return plainAnswer(scale, code, form);
  return plainAnswer(transformObject(scaleKind, scale, transform, form.table, form.now), code, form);
}

function checkScale(draft: Draft, parent: Kind): void {
  draft["kind"] ??= "Scale";
  draft["apiVersion"] ??= "autoscaling/v1";
  const [name, apiVersion] = [String(read(draft, "kind")), String(read(draft, "apiVersion"))];
  if (name === "Scale" && apiVersion === "autoscaling/v1") return;
  if (parent.hasStrategicMerge) {
    const version = apiVersion.split("/").at(-1) ?? "";
    const why = `converting (${version}.${name}) to (autoscaling.Scale): unknown conversion`;
    throw badRequest(`${name} in version ${JSON.stringify(version)} cannot be handled as a Scale: ${why}`);
  }
  throw badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${apiVersionOf(parent)})`,
  );
}
