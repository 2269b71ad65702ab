/** A program for worker_process_test.ts: it answers each request in capitals, and ends at the request "end". */
import process from "node:process";
import { answerWorkerRequests } from "../process/worker_process.ts";

await answerWorkerRequests((line) => {
  if (line === "end") process.exit(3);
  console.log(`not a response to ${line}`);
  return Promise.resolve(line.toUpperCase());
});
