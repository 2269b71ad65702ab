/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
CustomResourceColumnDefinition		name:!rs type:!rs format:s description:s priority:i jsonPath:!rs
CustomResourceConversion		strategy:!r<v1.ConversionStrategyType>s webhook:*@apiextensions/v1.WebhookConversion
CustomResourceDefinition	{"x-kubernetes-group-version-kind":[{"group":"apiextensions.k8s.io","kind":"CustomResourceDefinition","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@apiextensions/v1.CustomResourceDefinitionSpec status:@apiextensions/v1.CustomResourceDefinitionStatus
CustomResourceDefinitionCondition		type:!r<v1.CustomResourceDefinitionConditionType>s status:!r<v1.ConditionStatus>s lastTransitionTime:t reason:s message:s observedGeneration:l
CustomResourceDefinitionList	{"x-kubernetes-group-version-kind":[{"group":"apiextensions.k8s.io","kind":"CustomResourceDefinitionList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@apiextensions/v1.CustomResourceDefinition
CustomResourceDefinitionNames		plural:!rs singular:s shortNames:[s;a kind:!rs listKind:s categories:[s;a
CustomResourceDefinitionSpec		group:!rs names:!r@apiextensions/v1.CustomResourceDefinitionNames scope:!r<v1.ResourceScope>s versions:!r[@apiextensions/v1.CustomResourceDefinitionVersion;a conversion:*@apiextensions/v1.CustomResourceConversion preserveUnknownFields:b
CustomResourceDefinitionStatus		conditions:![@apiextensions/v1.CustomResourceDefinitionCondition;Mtype acceptedNames:!@apiextensions/v1.CustomResourceDefinitionNames storedVersions:![s;a observedGeneration:l
CustomResourceDefinitionVersion		name:!rs served:!rb storage:!rb deprecated:b deprecationWarning:*s schema:*@apiextensions/v1.CustomResourceValidation subresources:*@apiextensions/v1.CustomResourceSubresources additionalPrinterColumns:[@apiextensions/v1.CustomResourceColumnDefinition;a selectableFields:[@apiextensions/v1.SelectableField;a
CustomResourceSubresourceScale		specReplicasPath:!rs statusReplicasPath:!rs labelSelectorPath:*s
CustomResourceSubresourceStatus	{"type":"object"}	
CustomResourceSubresources		status:*@apiextensions/v1.CustomResourceSubresourceStatus scale:*@apiextensions/v1.CustomResourceSubresourceScale
CustomResourceValidation		openAPIV3Schema:*@apiextensions/v1.JSONSchemaProps
ExternalDocumentation		description:s url:s
JSON	{}	
JSONSchemaProps		id:s $schema:<v1.JSONSchemaURL>s $ref:*s description:s type:s format:s title:s default:*j maximum:*d exclusiveMaximum:b minimum:*d exclusiveMinimum:b maxLength:*l minLength:*l pattern:s maxItems:*l minItems:*l uniqueItems:b multipleOf:*d enum:[j;a maxProperties:*l minProperties:*l required:[s;a items:*@apiextensions/v1.JSONSchemaPropsOrArray;R allOf:[@apiextensions/v1.JSONSchemaProps;a oneOf:[@apiextensions/v1.JSONSchemaProps;a anyOf:[@apiextensions/v1.JSONSchemaProps;a not:*@apiextensions/v1.JSONSchemaProps;R properties:{@apiextensions/v1.JSONSchemaProps additionalProperties:*@apiextensions/v1.JSONSchemaPropsOrBool;R patternProperties:{@apiextensions/v1.JSONSchemaProps dependencies:<v1.JSONSchemaDependencies>{@apiextensions/v1.JSONSchemaPropsOrStringArray additionalItems:*@apiextensions/v1.JSONSchemaPropsOrBool;R definitions:<v1.JSONSchemaDefinitions>{@apiextensions/v1.JSONSchemaProps externalDocs:*@apiextensions/v1.ExternalDocumentation;R example:*j;R nullable:b x-kubernetes-preserve-unknown-fields:*b x-kubernetes-embedded-resource:b x-kubernetes-int-or-string:b x-kubernetes-list-map-keys:[s;a x-kubernetes-list-type:*s x-kubernetes-map-type:*s x-kubernetes-validations:<v1.ValidationRules>[@apiextensions/v1.ValidationRule;Mrule;krule;pmerge
JSONSchemaPropsOrArray	{}	
JSONSchemaPropsOrBool	{}	
JSONSchemaPropsOrStringArray	{}	
SelectableField		jsonPath:!rs
ServiceReference		namespace:!rs name:!rs path:*s port:*i
ValidationRule		rule:!rs message:s messageExpression:s reason:*<v1.FieldValueErrorReason>s;eFieldValueDuplicate,FieldValueForbidden,FieldValueInvalid,FieldValueRequired fieldPath:s optionalOldSelf:*b
WebhookClientConfig		url:*s service:*@apiextensions/v1.ServiceReference caBundle:y
WebhookConversion		clientConfig:*@apiextensions/v1.WebhookClientConfig conversionReviewVersions:!r[s;a
`;
