/** The command `run-graph`. */
export { runGraph } from "./run_graph.ts";
