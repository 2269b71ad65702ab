/** The program `controller`: the command line with Pintle's five controllers. */
import process from "node:process";
import { ecsbindingController, ecsbindingSamples, ecsbindingWorkloads } from "./src/controllers/ecsbinding/mod.ts";
import { fooController, fooSamples, fooWorkloads } from "./src/controllers/foo/mod.ts";
import { ingressController, ingressSamples, ingressWorkloads } from "./src/controllers/ingress/mod.ts";
import {
  nodepoolController,
  nodepoolSamples,
  nodepoolWebhooks,
  nodepoolWorkloads,
} from "./src/controllers/nodepool/mod.ts";
import { podsController, podsSamples, podsWorkloads } from "./src/controllers/pods/mod.ts";
import { operatorCli, withSamples, withWebhooks, withWorkloads } from "./src/mod.ts";

process.exit(
  await operatorCli({
    name: "controller",
    controllers: [
      withWorkloads(withSamples(fooController, fooSamples), fooWorkloads),
      withWorkloads(withSamples(podsController, podsSamples), podsWorkloads),
      withWorkloads(withSamples(ecsbindingController, ecsbindingSamples), ecsbindingWorkloads),
      withWorkloads(
        withSamples(withWebhooks(nodepoolController, nodepoolWebhooks), nodepoolSamples),
        nodepoolWorkloads,
      ),
      withWorkloads(withSamples(ingressController, ingressSamples), ingressWorkloads),
    ],
  }),
);
