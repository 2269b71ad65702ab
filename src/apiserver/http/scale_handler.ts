/**
 * PUT of a Scale: its body is an autoscaling/v1 Scale, whatever the kind in the URL.
 */
import { apiVersionOf } from "../../api/mod.ts";
import { badRequest, type Draft, read } from "../model/mod.ts";
import { plainAnswer } from "./answer.ts";
import { bodySource } from "./read_body.ts";
import { type Exchange, writingCall } from "./resource_handler.ts";

/** Serves it. @throws Refusal */
export async function putScale(exchange: Exchange): Promise<Response> {
  const { request, info, services, kind, form } = exchange;
  const call = writingCall(exchange, "UpdateOptions");
  const source = await bodySource(request, kind, services.decoders);
  const body = (): Draft => {
    const { draft } = source();
    checkScale(draft, apiVersionOf(kind));
    return draft;
  };
  const { code, result } = await services.registry.putScale(call, info.name, body);
  return await plainAnswer(result.object, code, form);
}

function checkScale(draft: Draft, parentVersion: string): void {
  draft["kind"] ??= "Scale";
  draft["apiVersion"] ??= "autoscaling/v1";
  if (read(draft, "kind") === "Scale" && read(draft, "apiVersion") === "autoscaling/v1") return;
  throw badRequest(
    `the API version in the data (${String(read(draft, "apiVersion"))}) does not match the expected API version ` +
      `(${parentVersion})`,
  );
}
