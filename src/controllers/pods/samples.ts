/** What shows the printer of Pods at work; examples/pods.yaml says the same for people. */
export const podsSamples = [{
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "mypod" },
  spec: { containers: [{ name: "nginx", image: "nginx:latest" }] },
}];
