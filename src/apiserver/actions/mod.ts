/** Subresources with actions of their own: binding, eviction, log, exec, attach and portforward of Pods, finalize of Namespaces. And the ComponentStatuses. */
import type { Clock } from "../../async/mod.ts";
import type { ReviewHandler, SubresourceHandler } from "../registry/mod.ts";
import { portForwardHandler } from "../forward/mod.ts";
export { type ComponentName, componentStatuses } from "./component_statuses.ts";
import { namespaceFinalizeHandler } from "./namespace_finalize.ts";
import { bindingReview, podBindingHandler } from "./pod_binding.ts";
import { podEvictionHandler } from "./pod_eviction.ts";
import { podLogHandler } from "./pod_log.ts";
import { type ExecAnswers, podStreamHandlers } from "./pod_streams.ts";
export type { ExecAnswer, ExecAnswers, ExecCall } from "./pod_streams.ts";

/** All handlers. @param execAnswers scripts the commands of containers */
export function actionHandlers(clock: Clock, execAnswers?: ExecAnswers): readonly SubresourceHandler[] {
  const now = () => clock.now();
  return [
    podBindingHandler(now),
    podEvictionHandler(now),
    podLogHandler(clock),
    ...podStreamHandlers(clock, execAnswers),
    portForwardHandler(clock),
    namespaceFinalizeHandler,
  ];
}

/** The handlers of kinds that are created but never stored. @param now milliseconds since 1970, of the server's Clock */
export function actionReviews(now: () => number): readonly ReviewHandler[] {
  return [bindingReview(now)];
}
