/** Subresources with actions of their own: binding, eviction and log of Pods, finalize of Namespaces. */
import type { ReviewHandler, SubresourceHandler } from "../registry/mod.ts";
import { namespaceFinalizeHandler } from "./namespace_finalize.ts";
import { bindingReview, podBindingHandler } from "./pod_binding.ts";
import { podEvictionHandler } from "./pod_eviction.ts";
import { podLogHandler } from "./pod_log.ts";

/** All handlers. @param now milliseconds since 1970, of the server's Clock */
export function actionHandlers(now: () => number): readonly SubresourceHandler[] {
  return [podBindingHandler(now), podEvictionHandler(now), podLogHandler, namespaceFinalizeHandler];
}

/** The handlers of kinds that are created but never stored. @param now milliseconds since 1970, of the server's Clock */
export function actionReviews(now: () => number): readonly ReviewHandler[] {
  return [bindingReview(now)];
}
