/** What shows the ingress manager at work; examples/ingress.yaml says the same for people. */
export const ingressSamples = [{
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "shop", annotations: { "ingress/http": "shop.example.com/cart" } },
  spec: { selector: { app: "shop" }, ports: [{ port: 80, targetPort: 8080 }] },
}];
