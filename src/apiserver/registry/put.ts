/**
 * The verb update, from a body: PUT of an object, or of a part of it such as its status.
 */
import type { Draft } from "../model/mod.ts";
import type { Answer, Body, Call } from "./call.ts";
import type { Engine } from "./engine.ts";
import { trackFields } from "./fields.ts";
import { metadataText } from "./metadata.ts";
import { dropDuplicateOwners } from "./owners.ts";
import { checkName, update } from "./update.ts";

/** Puts the body in the place of the object. @throws Refusal */
export function put(engine: Engine, call: Call, name: string, body: Body): Promise<Answer> {
  const { kind } = call;
  const decode = (): Draft => {
    const draft = body();
    kind.setDefaults(draft);
    return draft;
  };
  let decoded: Draft | undefined = decode();
  checkName(call, decoded, name);
  dropDuplicateOwners(decoded, false, (text) => call.warn(text));
  return update(engine, call, {
    name,
    mayCreate: kind.allowsCreateOnUpdate ?? false,
    uid: metadataText(decoded, "uid"),
    next: async (old) => {
      const draft = decoded ?? decode();
      // What follows changes the draft: another attempt needs another one.
      decoded = undefined;
      await trackFields(engine, call, old, draft);
      return draft;
    },
  });
}
