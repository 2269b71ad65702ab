/** A definition that has each construct of structural schemas at least once, and names that are hard to write. */
const longName = "a".repeat(63);

/** The definition as YAML. */
export const richDefinition = `# A definition of another program.
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: machines.shop.example.com
  annotations: { controller-gen.kubebuilder.io/version: v0.20.0 }
  creationTimestamp: null
spec:
  group: shop.example.com
  scope: Namespaced
  names:
    kind: Machine
    listKind: MachineList
    plural: machines
    singular: machine
    shortNames: [mc, mach]
    categories: [all, shop]
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        service: { namespace: shop, name: webhook, path: /convert, port: 443 }
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector }
    additionalPrinterColumns:
    - { name: Replicas, type: integer, jsonPath: .spec.replicas, format: int32, priority: 1, description: How many. }
    - { name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status' }
    - { name: Age, type: date, jsonPath: .metadata.creationTimestamp }
    selectableFields: [{ jsonPath: .spec.mode }]
    schema:
      openAPIV3Schema: &schema
        type: object
        description: |-
          A machine of the "shop".
          It isn't small.
        required: [spec]
        x-kubernetes-validations:
        - { rule: "self.metadata.name.size() < 60", message: the name is too long, reason: FieldValueInvalid, fieldPath: .metadata.name }
        properties:
          apiVersion: { type: string, description: The version. }
          kind: { type: string }
          metadata: { type: object, properties: { name: { type: string, maxLength: 59 } } }
          owner: { type: string, default: nobody }
          spec:
            type: object
            required: [mode, replicas, ports]
            minProperties: 1
            maxProperties: 60
            oneOf: [{ required: [small] }, { required: [large] }]
            not: { required: [small, large] }
            anyOf: [{ required: [mode] }, { required: [weight] }]
            allOf: [{ required: [mode] }]
            x-kubernetes-validations:
            - { rule: "self.replicas <= self.most", messageExpression: "'replicas exceed ' + 'most'" }
            - { rule: "!oldSelf.hasValue() || self.mode == oldSelf.value().mode", message: mode is immutable, optionalOldSelf: true }
            properties:
              mode: { type: string, enum: [A, B, ""], default: A, description: A or B. }
              replicas: { type: integer, format: int32, minimum: 0, maximum: 100, exclusiveMaximum: true, default: 3 }
              most: { type: integer, format: int64, minimum: 0, default: 9 }
              huge: { type: integer, format: int64, default: 9007199254740993 }
              weight: { type: integer, multipleOf: 5, minimum: -10, maximum: 10 }
              plain: { type: integer }
              level: { type: integer, enum: [1, 2, 3] }
              ratio: { type: number, format: double, minimum: 0.5, exclusiveMinimum: true, multipleOf: 0.25 }
              single: { type: number, format: float }
              isOn: { type: boolean, default: true }
              name: { type: string, minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9/]*[a-z0-9])?$' }
              goPattern: { type: string, pattern: '^(?i)[[:alpha:]]+$', maxLength: 10 }
              when: { type: string, format: date-time }
              secret: { type: string, format: password, nullable: true }
              choice: { type: string, nullable: true, enum: [x, y, null] }
              either: { x-kubernetes-int-or-string: true, anyOf: [{ type: integer }, { type: string }], pattern: '^[0-9]+%?$' }
              surge: { x-kubernetes-int-or-string: true, default: 25% }
              small: { type: object, properties: { size: { type: string } } }
              large: { type: object, nullable: true, properties: { size: { type: string, default: L } }, default: {} }
              free: { type: object, x-kubernetes-preserve-unknown-fields: true }
              anything: { x-kubernetes-preserve-unknown-fields: true, description: Anything. }
              template: { type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true }
              pruned: { type: object, x-kubernetes-embedded-resource: true, properties: { spec: { type: object } } }
              labels: { type: object, maxProperties: 5, x-kubernetes-map-type: atomic, additionalProperties: { type: string } }
              open: { type: object, additionalProperties: true }
              deep: { type: object, additionalProperties: { type: array, items: { type: object, properties: { a: { type: string, default: z } } } } }
              tags: { type: array, maxItems: 4, minItems: 1, x-kubernetes-list-type: set, items: { type: string, maxLength: 9 } }
              ports:
                type: array
                maxItems: 10
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [port, protocol]
                items:
                  type: object
                  required: [port, protocol]
                  properties:
                    port: { type: integer, format: int32, minimum: 1, maximum: 65535 }
                    protocol: { type: string, default: TCP }
                    name: { type: string, title: Name, example: http, externalDocs: { url: "https://example.com" } }
              ref: &ref
                type: object
                required: [name]
                x-kubernetes-map-type: atomic
                properties:
                  name: { type: string, description: "The name of the object that is referred to, which stands in the same namespace." }
                  key: { type: string, description: "The key in the object; without one, the whole object is meant." }
              otherRef: *ref
              "with-dash.and/slash": { type: string }
              "1st": { type: string }
              "class": { type: string }
              "constructor": { type: string }
              "quo'te\\"d": { type: string }
              ${longName}: { type: string }
          status:
            type: object
            properties:
              replicas: { type: integer, format: int32 }
              selector: { type: string }
              conditions:
                type: array
                items:
                  type: object
                  required: [type, status]
                  properties: { type: { type: string }, status: { type: string, enum: ["True", "False", Unknown] } }
  - name: v1alpha1
    served: false
    storage: false
    deprecated: true
    deprecationWarning: use v1
    subresources: { status: {} }
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: { type: object, x-kubernetes-preserve-unknown-fields: true }
`;
