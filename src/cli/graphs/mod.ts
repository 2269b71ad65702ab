/** The controllers of graphs, for the commands that select controllers. */
export { graphFlag, useGraph, useGraphFile } from "./use_graph.ts";
