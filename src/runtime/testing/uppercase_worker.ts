/**
 * A program for worker_process_test.ts: it answers each request in capitals, ends at the request "end", and takes an hour for
 * the request "wait".
 */
import process from "node:process";
import { answerWorkerRequests } from "../process/worker_process.ts";

const hourMs = 3_600_000;

await answerWorkerRequests((line) => {
  if (line === "end") process.exit(3);
  if (line === "wait") return new Promise((resolve) => setTimeout(resolve, hourMs, ""));
  console.log(`not a response to ${line}`);
  return Promise.resolve(line.toUpperCase());
});
