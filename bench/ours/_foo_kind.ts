/** The CRD of Foo, on a server that is reached by a fetch function. */
import type { Transport } from "../../src/client/mod.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";

/** Creates it; the kind is served once this resolves. */
export async function createFooKind(fetch: Transport): Promise<void> {
  const url = "http://in.memory/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const headers = { "content-type": "application/json" };
  const response = await fetch(new Request(url, { method: "POST", headers, body: JSON.stringify(Foo.crd) }));
  const text = await response.text();
  if (response.status !== 201) throw new Error(`Cannot create the CRD of Foo: ${text}`);
}
