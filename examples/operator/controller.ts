/** website: creates a ConfigMap, a Deployment and a Service for each Website, and reports how many servers are ready. */
import { ConfigMap, controller, Deployment, done, Service } from "../../src/mod.ts";
import { desiredPage, desiredServers, desiredService } from "./desired.ts";
import { Website } from "./website.ts";

export const websiteController = controller("website")
  .for(Website)
  .owns(ConfigMap)
  .owns(Deployment)
  .owns(Service)
  .reconcile(async (ctx) => {
    const site = ctx.object;
    await ctx.apply(desiredPage(site));
    const servers = await ctx.apply(desiredServers(site));
    await ctx.apply(desiredService(site));
    await ctx.patchStatus({ readyReplicas: servers.status?.readyReplicas ?? 0 });
    return done;
  });
