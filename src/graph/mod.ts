/** Operators without code: graphs of resources as templates with expressions, compiled to controllers. */
export { graphControllers } from "./graph_controllers.ts";
export type { GraphFileDocument } from "./graph_document.ts";
export { GraphError } from "./graph_error.ts";
