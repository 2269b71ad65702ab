/**
 * CustomResourceDefinitions and TokenRequests: defaults and table rows. The rules of CustomResourceDefinitions are in crd/.
 */
import type { Draft } from "../../model/mod.ts";
import { createdAtCell, type DefaultsByType, nameCell, type Row, rowOf } from "../rules/mod.ts";
import { draftAt, setIfAbsent, setIfEmpty, textAt } from "../types/mod.ts";

/** The defaults of CustomResourceDefinitions and TokenRequests. */
export const extensionDefaults: DefaultsByType = {
  "apiextensions/v1.CustomResourceDefinition": setDefinitionDefaults,
  "apiextensions/v1.ServiceReference": (draft) => setIfAbsent(draft, "port", 443),
  "authentication/v1.TokenRequestSpec": (draft) => setIfAbsent(draft, "expirationSeconds", 3_600),
};

function setDefinitionDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  const names = draftAt(spec, "names");
  const kind = textAt(names, "kind");
  if (kind !== "") {
    setIfEmpty(names, "singular", kind.toLowerCase());
    setIfEmpty(names, "listKind", `${kind}List`);
  }
  setIfAbsent(spec, "conversion", { strategy: "None" });
}

/** The cells of a CustomResourceDefinition. */
export const definitionRow: Row = rowOf(nameCell, createdAtCell);
