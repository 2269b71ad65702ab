/** Field numbers of Kubernetes' types in protobuf, one message a line. Written by tasks/proto_fields.ts. Do not edit. */
// deno-fmt-ignore-file
export const protoFields = `
admissionregistration/v1.ApplyConfiguration 1:expression
admissionregistration/v1.AuditAnnotation 1:key 2:valueExpression
admissionregistration/v1.ExpressionWarning 2:fieldRef 3:warning
admissionregistration/v1.JSONPatch 1:expression
admissionregistration/v1.MatchCondition 1:name 2:expression
admissionregistration/v1.MatchResources 1:namespaceSelector 2:objectSelector 3:resourceRules 4:excludeResourceRules 7:matchPolicy
admissionregistration/v1.MutatingAdmissionPolicy 1:metadata 2:spec
admissionregistration/v1.MutatingAdmissionPolicyBinding 1:metadata 2:spec
admissionregistration/v1.MutatingAdmissionPolicyBindingList 1:metadata 2:items
admissionregistration/v1.MutatingAdmissionPolicyBindingSpec 1:policyName 2:paramRef 3:matchResources
admissionregistration/v1.MutatingAdmissionPolicyList 1:metadata 2:items
admissionregistration/v1.MutatingAdmissionPolicySpec 1:paramKind 2:matchConstraints 3:variables 4:mutations 5:failurePolicy 6:matchConditions 7:reinvocationPolicy
admissionregistration/v1.MutatingWebhook 1:name 2:clientConfig 3:rules 4:failurePolicy 9:matchPolicy 5:namespaceSelector 11:objectSelector 6:sideEffects 7:timeoutSeconds 8:admissionReviewVersions 10:reinvocationPolicy 12:matchConditions
admissionregistration/v1.MutatingWebhookConfiguration 1:metadata 2:webhooks
admissionregistration/v1.MutatingWebhookConfigurationList 1:metadata 2:items
admissionregistration/v1.Mutation 2:patchType 3:applyConfiguration 4:jsonPatch
admissionregistration/v1.NamedRuleWithOperations 1:resourceNames 2:=admissionregistration/v1.RuleWithOperations
admissionregistration/v1.ParamKind 1:apiVersion 2:kind
admissionregistration/v1.ParamRef 1:name 2:namespace 3:selector 4:parameterNotFoundAction
admissionregistration/v1.Rule 1:apiGroups 2:apiVersions 3:resources 4:scope
admissionregistration/v1.RuleWithOperations 1:operations 2:=admissionregistration/v1.Rule
admissionregistration/v1.ServiceReference 1:namespace 2:name 3:path 4:port
admissionregistration/v1.TypeChecking 1:expressionWarnings
admissionregistration/v1.ValidatingAdmissionPolicy 1:metadata 2:spec 3:status
admissionregistration/v1.ValidatingAdmissionPolicyBinding 1:metadata 2:spec
admissionregistration/v1.ValidatingAdmissionPolicyBindingList 1:metadata 2:items
admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec 1:policyName 2:paramRef 3:matchResources 4:validationActions
admissionregistration/v1.ValidatingAdmissionPolicyList 1:metadata 2:items
admissionregistration/v1.ValidatingAdmissionPolicySpec 1:paramKind 2:matchConstraints 3:validations 4:failurePolicy 5:auditAnnotations 6:matchConditions 7:variables
admissionregistration/v1.ValidatingAdmissionPolicyStatus 1:observedGeneration 2:typeChecking 3:conditions
admissionregistration/v1.ValidatingWebhook 1:name 2:clientConfig 3:rules 4:failurePolicy 9:matchPolicy 5:namespaceSelector 10:objectSelector 6:sideEffects 7:timeoutSeconds 8:admissionReviewVersions 11:matchConditions
admissionregistration/v1.ValidatingWebhookConfiguration 1:metadata 2:webhooks
admissionregistration/v1.ValidatingWebhookConfigurationList 1:metadata 2:items
admissionregistration/v1.Validation 1:expression 2:message 3:reason 4:messageExpression
admissionregistration/v1.Variable 1:name 2:expression
admissionregistration/v1.WebhookClientConfig 3:url 1:service 2:caBundle
apidiscovery/v2.APIGroupDiscovery 1:metadata 2:versions
apidiscovery/v2.APIGroupDiscoveryList 1:metadata 2:items
apidiscovery/v2.APIResourceDiscovery 1:resource 2:responseKind 3:scope 4:singularResource 5:verbs 6:shortNames 7:categories 8:subresources
apidiscovery/v2.APISubresourceDiscovery 1:subresource 2:responseKind 3:acceptedTypes 4:verbs
apidiscovery/v2.APIVersionDiscovery 1:version 2:resources 3:freshness
apiextensions/v1.ConversionRequest 1:uid 2:desiredAPIVersion 3:objects
apiextensions/v1.ConversionResponse 1:uid 2:convertedObjects 3:result
apiextensions/v1.ConversionReview 1:request 2:response
apiextensions/v1.CustomResourceColumnDefinition 1:name 2:type 3:format 4:description 5:priority 6:jsonPath
apiextensions/v1.CustomResourceConversion 1:strategy 2:webhook
apiextensions/v1.CustomResourceDefinition 1:metadata 2:spec 3:status
apiextensions/v1.CustomResourceDefinitionCondition 1:type 2:status 3:lastTransitionTime 4:reason 5:message 6:observedGeneration
apiextensions/v1.CustomResourceDefinitionList 1:metadata 2:items
apiextensions/v1.CustomResourceDefinitionNames 1:plural 2:singular 3:shortNames 4:kind 5:listKind 6:categories
apiextensions/v1.CustomResourceDefinitionSpec 1:group 3:names 4:scope 7:versions 9:conversion 10:preserveUnknownFields
apiextensions/v1.CustomResourceDefinitionStatus 1:conditions 2:acceptedNames 3:storedVersions 4:observedGeneration
apiextensions/v1.CustomResourceDefinitionVersion 1:name 2:served 3:storage 7:deprecated 8:deprecationWarning 4:schema 5:subresources 6:additionalPrinterColumns 9:selectableFields
apiextensions/v1.CustomResourceSubresourceScale 1:specReplicasPath 2:statusReplicasPath 3:labelSelectorPath
apiextensions/v1.CustomResourceSubresourceStatus
apiextensions/v1.CustomResourceSubresources 1:status 2:scale
apiextensions/v1.CustomResourceValidation 1:openAPIV3Schema
apiextensions/v1.ExternalDocumentation 1:description 2:url
apiextensions/v1.JSON 1:raw
apiextensions/v1.JSONSchemaProps 1:id 2:$schema 3:$ref 4:description 5:type 6:format 7:title 8:default 9:maximum 10:exclusiveMaximum 11:minimum 12:exclusiveMinimum 13:maxLength 14:minLength 15:pattern 16:maxItems 17:minItems 18:uniqueItems 19:multipleOf 20:enum 21:maxProperties 22:minProperties 23:required 24:items 25:allOf 26:oneOf 27:anyOf 28:not 29:properties 30:additionalProperties 31:patternProperties 32:dependencies 33:additionalItems 34:definitions 35:externalDocs 36:example 37:nullable 38:x-kubernetes-preserve-unknown-fields 39:x-kubernetes-embedded-resource 40:x-kubernetes-int-or-string 41:x-kubernetes-list-map-keys 42:x-kubernetes-list-type 43:x-kubernetes-map-type 44:x-kubernetes-validations
apiextensions/v1.JSONSchemaPropsOrArray 1:schema 2:jSONSchemas
apiextensions/v1.JSONSchemaPropsOrBool 1:allows 2:schema
apiextensions/v1.JSONSchemaPropsOrStringArray 1:schema 2:property
apiextensions/v1.SelectableField 1:jsonPath
apiextensions/v1.ServiceReference 1:namespace 2:name 3:path 4:port
apiextensions/v1.ValidationRule 1:rule 2:message 3:messageExpression 4:reason 5:fieldPath 6:optionalOldSelf
apiextensions/v1.WebhookClientConfig 3:url 1:service 2:caBundle
apiextensions/v1.WebhookConversion 2:clientConfig 3:conversionReviewVersions
apiregistration/v1.APIService 1:metadata 2:spec 3:status
apiregistration/v1.APIServiceCondition 1:type 2:status 3:lastTransitionTime 4:reason 5:message
apiregistration/v1.APIServiceList 1:metadata 2:items
apiregistration/v1.APIServiceSpec 1:service 2:group 3:version 4:insecureSkipTLSVerify 5:caBundle 7:groupPriorityMinimum 8:versionPriority
apiregistration/v1.APIServiceStatus 1:conditions
apiregistration/v1.ServiceReference 1:namespace 2:name 3:port
apps/v1.ControllerRevision 1:metadata 2:data 3:revision
apps/v1.ControllerRevisionList 1:metadata 2:items
apps/v1.DaemonSet 1:metadata 2:spec 3:status
apps/v1.DaemonSetCondition 1:type 2:status 3:lastTransitionTime 4:reason 5:message
apps/v1.DaemonSetList 1:metadata 2:items
apps/v1.DaemonSetSpec 1:selector 2:template 3:updateStrategy 4:minReadySeconds 6:revisionHistoryLimit
apps/v1.DaemonSetStatus 1:currentNumberScheduled 2:numberMisscheduled 3:desiredNumberScheduled 4:numberReady 5:observedGeneration 6:updatedNumberScheduled 7:numberAvailable 8:numberUnavailable 9:collisionCount 10:conditions
apps/v1.DaemonSetUpdateStrategy 1:type 2:rollingUpdate
apps/v1.Deployment 1:metadata 2:spec 3:status
apps/v1.DeploymentCondition 1:type 2:status 6:lastUpdateTime 7:lastTransitionTime 4:reason 5:message
apps/v1.DeploymentList 1:metadata 2:items
apps/v1.DeploymentSpec 1:replicas 2:selector 3:template 4:strategy 5:minReadySeconds 6:revisionHistoryLimit 7:paused 9:progressDeadlineSeconds
apps/v1.DeploymentStatus 1:observedGeneration 2:replicas 3:updatedReplicas 7:readyReplicas 4:availableReplicas 5:unavailableReplicas 9:terminatingReplicas 6:conditions 8:collisionCount
apps/v1.DeploymentStrategy 1:type 2:rollingUpdate
apps/v1.ReplicaSet 1:metadata 2:spec 3:status
apps/v1.ReplicaSetCondition 1:type 2:status 3:lastTransitionTime 4:reason 5:message
apps/v1.ReplicaSetList 1:metadata 2:items
apps/v1.ReplicaSetSpec 1:replicas 4:minReadySeconds 2:selector 3:template
apps/v1.ReplicaSetStatus 1:replicas 2:fullyLabeledReplicas 4:readyReplicas 5:availableReplicas 7:terminatingReplicas 3:observedGeneration 6:conditions
apps/v1.RollingUpdateDaemonSet 1:maxUnavailable 2:maxSurge
apps/v1.RollingUpdateDeployment 1:maxUnavailable 2:maxSurge
apps/v1.RollingUpdateStatefulSetStrategy 1:partition 2:maxUnavailable
apps/v1.StatefulSet 1:metadata 2:spec 3:status
apps/v1.StatefulSetCondition 1:type 2:status 3:lastTransitionTime 4:reason 5:message
apps/v1.StatefulSetList 1:metadata 2:items
apps/v1.StatefulSetOrdinals 1:start
apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy 1:whenDeleted 2:whenScaled
apps/v1.StatefulSetSpec 1:replicas 2:selector 3:template 4:volumeClaimTemplates 5:serviceName 6:podManagementPolicy 7:updateStrategy 8:revisionHistoryLimit 9:minReadySeconds 10:persistentVolumeClaimRetentionPolicy 11:ordinals
apps/v1.StatefulSetStatus 1:observedGeneration 2:replicas 3:readyReplicas 4:currentReplicas 5:updatedReplicas 6:currentRevision 7:updateRevision 9:collisionCount 10:conditions 11:availableReplicas
apps/v1.StatefulSetUpdateStrategy 1:type 2:rollingUpdate
authentication/v1.BoundObjectReference 1:kind 2:apiVersion 3:name 4:uid
authentication/v1.ExtraValue 1:items
authentication/v1.SelfSubjectReview 1:metadata 2:status
authentication/v1.SelfSubjectReviewStatus 1:userInfo
authentication/v1.TokenRequest 1:metadata 2:spec 3:status
authentication/v1.TokenRequestSpec 1:audiences 4:expirationSeconds 3:boundObjectRef
authentication/v1.TokenRequestStatus 1:token 2:expirationTimestamp
authentication/v1.TokenReview 1:metadata 2:spec 3:status
authentication/v1.TokenReviewSpec 1:token 2:audiences
authentication/v1.TokenReviewStatus 1:authenticated 2:user 4:audiences 3:error
authentication/v1.UserInfo 1:username 2:uid 3:groups 4:extra
authorization/v1.ExtraValue 1:items
authorization/v1.FieldSelectorAttributes 1:rawSelector 2:requirements
authorization/v1.LabelSelectorAttributes 1:rawSelector 2:requirements
authorization/v1.LocalSubjectAccessReview 1:metadata 2:spec 3:status
authorization/v1.NonResourceAttributes 1:path 2:verb
authorization/v1.NonResourceRule 1:verbs 2:nonResourceURLs
authorization/v1.ResourceAttributes 1:namespace 2:verb 3:group 4:version 5:resource 6:subresource 7:name 8:fieldSelector 9:labelSelector
authorization/v1.ResourceRule 1:verbs 2:apiGroups 3:resources 4:resourceNames
authorization/v1.SelfSubjectAccessReview 1:metadata 2:spec 3:status
authorization/v1.SelfSubjectAccessReviewSpec 1:resourceAttributes 2:nonResourceAttributes
authorization/v1.SelfSubjectRulesReview 1:metadata 2:spec 3:status
authorization/v1.SelfSubjectRulesReviewSpec 1:namespace
authorization/v1.SubjectAccessReview 1:metadata 2:spec 3:status
authorization/v1.SubjectAccessReviewSpec 1:resourceAttributes 2:nonResourceAttributes 3:user 4:groups 5:extra 6:uid
authorization/v1.SubjectAccessReviewStatus 1:allowed 4:denied 2:reason 3:evaluationError
authorization/v1.SubjectRulesReviewStatus 1:resourceRules 2:nonResourceRules 3:incomplete 4:evaluationError
autoscaling/v1.ContainerResourceMetricSource 1:name 2:targetAverageUtilization 3:targetAverageValue 5:container
autoscaling/v1.ContainerResourceMetricStatus 1:name 2:currentAverageUtilization 3:currentAverageValue 4:container
autoscaling/v1.CrossVersionObjectReference 1:kind 2:name 3:apiVersion
autoscaling/v1.ExternalMetricSource 1:metricName 2:metricSelector 3:targetValue 4:targetAverageValue
autoscaling/v1.ExternalMetricStatus 1:metricName 2:metricSelector 3:currentValue 4:currentAverageValue
autoscaling/v1.HorizontalPodAutoscaler 1:metadata 2:spec 3:status
autoscaling/v1.HorizontalPodAutoscalerCondition 1:type 2:status 3:lastTransitionTime 4:reason 5:message
autoscaling/v1.HorizontalPodAutoscalerList 1:metadata 2:items
autoscaling/v1.HorizontalPodAutoscalerSpec 1:scaleTargetRef 2:minReplicas 3:maxReplicas 4:targetCPUUtilizationPercentage
autoscaling/v1.HorizontalPodAutoscalerStatus 1:observedGeneration 2:lastScaleTime 3:currentReplicas 4:desiredReplicas 5:currentCPUUtilizationPercentage
autoscaling/v1.MetricSpec 1:type 2:object 3:pods 4:resource 7:containerResource 5:external
autoscaling/v1.MetricStatus 1:type 2:object 3:pods 4:resource 7:containerResource 5:external
autoscaling/v1.ObjectMetricSource 1:target 2:metricName 3:targetValue 4:selector 5:averageValue
autoscaling/v1.ObjectMetricStatus 1:target 2:metricName 3:currentValue 4:selector 5:averageValue
autoscaling/v1.PodsMetricSource 1:metricName 2:targetAverageValue 3:selector
autoscaling/v1.PodsMetricStatus 1:metricName 2:currentAverageValue 3:selector
autoscaling/v1.ResourceMetricSource 1:name 2:targetAverageUtilization 3:targetAverageValue
autoscaling/v1.ResourceMetricStatus 1:name 2:currentAverageUtilization 3:currentAverageValue
autoscaling/v1.Scale 1:metadata 2:spec 3:status
autoscaling/v1.ScaleSpec 1:replicas
autoscaling/v1.ScaleStatus 1:replicas 2:selector
autoscaling/v2.ContainerResourceMetricSource 1:name 2:target 3:container
autoscaling/v2.ContainerResourceMetricStatus 1:name 2:current 3:container
autoscaling/v2.CrossVersionObjectReference 1:kind 2:name 3:apiVersion
autoscaling/v2.ExternalMetricSource 1:metric 2:target
autoscaling/v2.ExternalMetricStatus 1:metric 2:current
autoscaling/v2.HPAScalingPolicy 1:type 2:value 3:periodSeconds
autoscaling/v2.HPAScalingRules 3:stabilizationWindowSeconds 1:selectPolicy 2:policies 4:tolerance
autoscaling/v2.HorizontalPodAutoscaler 1:metadata 2:spec 3:status
autoscaling/v2.HorizontalPodAutoscalerBehavior 1:scaleUp 2:scaleDown
autoscaling/v2.HorizontalPodAutoscalerCondition 1:type 2:status 3:lastTransitionTime 4:reason 5:message
autoscaling/v2.HorizontalPodAutoscalerList 1:metadata 2:items
autoscaling/v2.HorizontalPodAutoscalerSpec 1:scaleTargetRef 2:minReplicas 3:maxReplicas 4:metrics 5:behavior
autoscaling/v2.HorizontalPodAutoscalerStatus 1:observedGeneration 2:lastScaleTime 3:currentReplicas 4:desiredReplicas 5:currentMetrics 6:conditions
autoscaling/v2.MetricIdentifier 1:name 2:selector
autoscaling/v2.MetricSpec 1:type 2:object 3:pods 4:resource 7:containerResource 5:external
autoscaling/v2.MetricStatus 1:type 2:object 3:pods 4:resource 7:containerResource 5:external
autoscaling/v2.MetricTarget 1:type 2:value 3:averageValue 4:averageUtilization
autoscaling/v2.MetricValueStatus 1:value 2:averageValue 3:averageUtilization
autoscaling/v2.ObjectMetricSource 1:describedObject 2:target 3:metric
autoscaling/v2.ObjectMetricStatus 1:metric 2:current 3:describedObject
autoscaling/v2.PodsMetricSource 1:metric 2:target
autoscaling/v2.PodsMetricStatus 1:metric 2:current
autoscaling/v2.ResourceMetricSource 1:name 2:target
autoscaling/v2.ResourceMetricStatus 1:name 2:current
batch/v1.CronJob 1:metadata 2:spec 3:status
batch/v1.CronJobList 1:metadata 2:items
batch/v1.CronJobSpec 1:schedule 8:timeZone 2:startingDeadlineSeconds 3:concurrencyPolicy 4:suspend 5:jobTemplate 6:successfulJobsHistoryLimit 7:failedJobsHistoryLimit
batch/v1.CronJobStatus 1:active 4:lastScheduleTime 5:lastSuccessfulTime
batch/v1.Job 1:metadata 2:spec 3:status
batch/v1.JobCondition 1:type 2:status 3:lastProbeTime 4:lastTransitionTime 5:reason 6:message
batch/v1.JobList 1:metadata 2:items
batch/v1.JobSpec 1:parallelism 2:completions 3:activeDeadlineSeconds 11:podFailurePolicy 16:successPolicy 7:backoffLimit 12:backoffLimitPerIndex 13:maxFailedIndexes 4:selector 5:manualSelector 6:template 8:ttlSecondsAfterFinished 9:completionMode 10:suspend 14:podReplacementPolicy 15:managedBy
batch/v1.JobStatus 1:conditions 2:startTime 3:completionTime 4:active 5:succeeded 6:failed 11:terminating 7:completedIndexes 10:failedIndexes 8:uncountedTerminatedPods 9:ready
batch/v1.JobTemplateSpec 1:metadata 2:spec
batch/v1.PodFailurePolicy 1:rules
batch/v1.PodFailurePolicyOnExitCodesRequirement 1:containerName 2:operator 3:values
batch/v1.PodFailurePolicyOnPodConditionsPattern 1:type 2:status
batch/v1.PodFailurePolicyRule 1:action 2:onExitCodes 3:onPodConditions
batch/v1.SuccessPolicy 1:rules
batch/v1.SuccessPolicyRule 1:succeededIndexes 2:succeededCount
batch/v1.UncountedTerminatedPods 1:succeeded 2:failed
certificates/v1.CertificateSigningRequest 1:metadata 2:spec 3:status
certificates/v1.CertificateSigningRequestCondition 1:type 6:status 2:reason 3:message 4:lastUpdateTime 5:lastTransitionTime
certificates/v1.CertificateSigningRequestList 1:metadata 2:items
certificates/v1.CertificateSigningRequestSpec 1:request 7:signerName 8:expirationSeconds 5:usages 2:username 3:uid 4:groups 6:extra
certificates/v1.CertificateSigningRequestStatus 1:conditions 2:certificate
certificates/v1.ExtraValue 1:items
coordination/v1.Lease 1:metadata 2:spec
coordination/v1.LeaseList 1:metadata 2:items
coordination/v1.LeaseSpec 1:holderIdentity 2:leaseDurationSeconds 3:acquireTime 4:renewTime 5:leaseTransitions 6:strategy 7:preferredHolder
core/v1.AWSElasticBlockStoreVolumeSource 1:volumeID 2:fsType 3:partition 4:readOnly
core/v1.Affinity 1:nodeAffinity 2:podAffinity 3:podAntiAffinity
core/v1.AppArmorProfile 1:type 2:localhostProfile
core/v1.AttachedVolume 1:name 2:devicePath
core/v1.AvoidPods 1:preferAvoidPods
core/v1.AzureDiskVolumeSource 1:diskName 2:diskURI 3:cachingMode 4:fsType 5:readOnly 6:kind
core/v1.AzureFilePersistentVolumeSource 1:secretName 2:shareName 3:readOnly 4:secretNamespace
core/v1.AzureFileVolumeSource 1:secretName 2:shareName 3:readOnly
core/v1.Binding 1:metadata 2:target
core/v1.CSIPersistentVolumeSource 1:driver 2:volumeHandle 3:readOnly 4:fsType 5:volumeAttributes 6:controllerPublishSecretRef 7:nodeStageSecretRef 8:nodePublishSecretRef 9:controllerExpandSecretRef 10:nodeExpandSecretRef
core/v1.CSIVolumeSource 1:driver 2:readOnly 3:fsType 4:volumeAttributes 5:nodePublishSecretRef
core/v1.Capabilities 1:add 2:drop
core/v1.CephFSPersistentVolumeSource 1:monitors 2:path 3:user 4:secretFile 5:secretRef 6:readOnly
core/v1.CephFSVolumeSource 1:monitors 2:path 3:user 4:secretFile 5:secretRef 6:readOnly
core/v1.CinderPersistentVolumeSource 1:volumeID 2:fsType 3:readOnly 4:secretRef
core/v1.CinderVolumeSource 1:volumeID 2:fsType 3:readOnly 4:secretRef
core/v1.ClientIPConfig 1:timeoutSeconds
core/v1.ClusterTrustBundleProjection 1:name 2:signerName 3:labelSelector 5:optional 4:path
core/v1.ComponentCondition 1:type 2:status 3:message 4:error
core/v1.ComponentStatus 1:metadata 2:conditions
core/v1.ComponentStatusList 1:metadata 2:items
core/v1.ConfigMap 1:metadata 4:immutable 2:data 3:binaryData
core/v1.ConfigMapEnvSource 1:=core/v1.LocalObjectReference 2:optional
core/v1.ConfigMapKeySelector 1:=core/v1.LocalObjectReference 2:key 3:optional
core/v1.ConfigMapList 1:metadata 2:items
core/v1.ConfigMapNodeConfigSource 1:namespace 2:name 3:uid 4:resourceVersion 5:kubeletConfigKey
core/v1.ConfigMapProjection 1:=core/v1.LocalObjectReference 2:items 4:optional
core/v1.ConfigMapVolumeSource 1:=core/v1.LocalObjectReference 2:items 3:defaultMode 4:optional
core/v1.Container 1:name 2:image 3:command 4:args 5:workingDir 6:ports 19:envFrom 7:env 8:resources 23:resizePolicy 24:restartPolicy 25:restartPolicyRules 9:volumeMounts 21:volumeDevices 10:livenessProbe 11:readinessProbe 22:startupProbe 12:lifecycle 13:terminationMessagePath 20:terminationMessagePolicy 14:imagePullPolicy 15:securityContext 16:stdin 17:stdinOnce 18:tty
core/v1.ContainerExtendedResourceRequest 1:containerName 2:resourceName 3:requestName
core/v1.ContainerImage 1:names 2:sizeBytes
core/v1.ContainerPort 1:name 2:hostPort 3:containerPort 4:protocol 5:hostIP
core/v1.ContainerResizePolicy 1:resourceName 2:restartPolicy
core/v1.ContainerRestartRule 1:action 2:exitCodes
core/v1.ContainerRestartRuleOnExitCodes 1:operator 2:values
core/v1.ContainerState 1:waiting 2:running 3:terminated
core/v1.ContainerStateRunning 1:startedAt
core/v1.ContainerStateTerminated 1:exitCode 2:signal 3:reason 4:message 5:startedAt 6:finishedAt 7:containerID
core/v1.ContainerStateWaiting 1:reason 2:message
core/v1.ContainerStatus 1:name 2:state 3:lastState 4:ready 5:restartCount 6:image 7:imageID 8:containerID 9:started 10:allocatedResources 11:resources 12:volumeMounts 13:user 14:allocatedResourcesStatus 15:stopSignal
core/v1.ContainerUser 1:linux
core/v1.DaemonEndpoint 1:Port
core/v1.DownwardAPIProjection 1:items
core/v1.DownwardAPIVolumeFile 1:path 2:fieldRef 3:resourceFieldRef 4:mode
core/v1.DownwardAPIVolumeSource 1:items 2:defaultMode
core/v1.EmptyDirVolumeSource 1:medium 2:sizeLimit
core/v1.EndpointAddress 1:ip 3:hostname 4:nodeName 2:targetRef
core/v1.EndpointPort 1:name 2:port 3:protocol 4:appProtocol
core/v1.EndpointSubset 1:addresses 2:notReadyAddresses 3:ports
core/v1.Endpoints 1:metadata 2:subsets
core/v1.EndpointsList 1:metadata 2:items
core/v1.EnvFromSource 1:prefix 2:configMapRef 3:secretRef
core/v1.EnvVar 1:name 2:value 3:valueFrom
core/v1.EnvVarSource 1:fieldRef 2:resourceFieldRef 3:configMapKeyRef 4:secretKeyRef 5:fileKeyRef
core/v1.EphemeralContainer 1:=core/v1.EphemeralContainerCommon 2:targetContainerName
core/v1.EphemeralContainerCommon 1:name 2:image 3:command 4:args 5:workingDir 6:ports 19:envFrom 7:env 8:resources 23:resizePolicy 24:restartPolicy 25:restartPolicyRules 9:volumeMounts 21:volumeDevices 10:livenessProbe 11:readinessProbe 22:startupProbe 12:lifecycle 13:terminationMessagePath 20:terminationMessagePolicy 14:imagePullPolicy 15:securityContext 16:stdin 17:stdinOnce 18:tty
core/v1.EphemeralVolumeSource 1:volumeClaimTemplate
core/v1.Event 1:metadata 2:involvedObject 3:reason 4:message 5:source 6:firstTimestamp 7:lastTimestamp 8:count 9:type 10:eventTime 11:series 12:action 13:related 14:reportingComponent 15:reportingInstance
core/v1.EventList 1:metadata 2:items
core/v1.EventSeries 1:count 2:lastObservedTime
core/v1.EventSource 1:component 2:host
core/v1.ExecAction 1:command
core/v1.FCVolumeSource 1:targetWWNs 2:lun 3:fsType 4:readOnly 5:wwids
core/v1.FileKeySelector 1:volumeName 2:path 3:key 4:optional
core/v1.FlexPersistentVolumeSource 1:driver 2:fsType 3:secretRef 4:readOnly 5:options
core/v1.FlexVolumeSource 1:driver 2:fsType 3:secretRef 4:readOnly 5:options
core/v1.FlockerVolumeSource 1:datasetName 2:datasetUUID
core/v1.GCEPersistentDiskVolumeSource 1:pdName 2:fsType 3:partition 4:readOnly
core/v1.GRPCAction 1:port 2:service
core/v1.GitRepoVolumeSource 1:repository 2:revision 3:directory
core/v1.GlusterfsPersistentVolumeSource 1:endpoints 2:path 3:readOnly 4:endpointsNamespace
core/v1.GlusterfsVolumeSource 1:endpoints 2:path 3:readOnly
core/v1.HTTPGetAction 1:path 2:port 3:host 4:scheme 5:httpHeaders
core/v1.HTTPHeader 1:name 2:value
core/v1.HostAlias 1:ip 2:hostnames
core/v1.HostIP 1:ip
core/v1.HostPathVolumeSource 1:path 2:type
core/v1.ISCSIPersistentVolumeSource 1:targetPortal 2:iqn 3:lun 4:iscsiInterface 5:fsType 6:readOnly 7:portals 8:chapAuthDiscovery 11:chapAuthSession 10:secretRef 12:initiatorName
core/v1.ISCSIVolumeSource 1:targetPortal 2:iqn 3:lun 4:iscsiInterface 5:fsType 6:readOnly 7:portals 8:chapAuthDiscovery 11:chapAuthSession 10:secretRef 12:initiatorName
core/v1.ImageVolumeSource 1:reference 2:pullPolicy
core/v1.ImageVolumeStatus 1:imageRef
core/v1.KeyToPath 1:key 2:path 3:mode
core/v1.Lifecycle 1:postStart 2:preStop 3:stopSignal
core/v1.LifecycleHandler 1:exec 2:httpGet 3:tcpSocket 4:sleep
core/v1.LimitRange 1:metadata 2:spec
core/v1.LimitRangeItem 1:type 2:max 3:min 4:default 5:defaultRequest 6:maxLimitRequestRatio
core/v1.LimitRangeList 1:metadata 2:items
core/v1.LimitRangeSpec 1:limits
core/v1.LinuxContainerUser 1:uid 2:gid 3:supplementalGroups
core/v1.List 1:metadata 2:items
core/v1.LoadBalancerIngress 1:ip 2:hostname 3:ipMode 4:ports
core/v1.LoadBalancerStatus 1:ingress
core/v1.LocalObjectReference 1:name
core/v1.LocalVolumeSource 1:path 2:fsType
core/v1.ModifyVolumeStatus 1:targetVolumeAttributesClassName 2:status
core/v1.NFSVolumeSource 1:server 2:path 3:readOnly
core/v1.Namespace 1:metadata 2:spec 3:status
core/v1.NamespaceCondition 1:type 2:status 4:lastTransitionTime 5:reason 6:message
core/v1.NamespaceList 1:metadata 2:items
core/v1.NamespaceSpec 1:finalizers
core/v1.NamespaceStatus 1:phase 2:conditions
core/v1.Node 1:metadata 2:spec 3:status
core/v1.NodeAddress 1:type 2:address
core/v1.NodeAffinity 1:requiredDuringSchedulingIgnoredDuringExecution 2:preferredDuringSchedulingIgnoredDuringExecution
core/v1.NodeAllocatableResourceClaimStatus 1:resourceClaimName 2:containers 3:resources
core/v1.NodeCondition 1:type 2:status 3:lastHeartbeatTime 4:lastTransitionTime 5:reason 6:message
core/v1.NodeConfigSource 2:configMap
core/v1.NodeConfigStatus 1:assigned 2:active 3:lastKnownGood 4:error
core/v1.NodeDaemonEndpoints 1:kubeletEndpoint
core/v1.NodeFeatures 1:supplementalGroupsPolicy
core/v1.NodeList 1:metadata 2:items
core/v1.NodeProxyOptions 1:path
core/v1.NodeRuntimeHandler 1:name 2:features
core/v1.NodeRuntimeHandlerFeatures 1:recursiveReadOnlyMounts 2:userNamespaces
core/v1.NodeSelector 1:nodeSelectorTerms
core/v1.NodeSelectorRequirement 1:key 2:operator 3:values
core/v1.NodeSelectorTerm 1:matchExpressions 2:matchFields
core/v1.NodeSpec 1:podCIDR 7:podCIDRs 3:providerID 4:unschedulable 5:taints 6:configSource 2:externalID
core/v1.NodeStatus 1:capacity 2:allocatable 3:phase 4:conditions 5:addresses 6:daemonEndpoints 7:nodeInfo 8:images 9:volumesInUse 10:volumesAttached 11:config 12:runtimeHandlers 13:features 14:declaredFeatures
core/v1.NodeSwapStatus 1:capacity
core/v1.NodeSystemInfo 1:machineID 2:systemUUID 3:bootID 4:kernelVersion 5:osImage 6:containerRuntimeVersion 7:kubeletVersion 8:kubeProxyVersion 9:operatingSystem 10:architecture 11:swap
core/v1.ObjectFieldSelector 1:apiVersion 2:fieldPath
core/v1.ObjectReference 1:kind 2:namespace 3:name 4:uid 5:apiVersion 6:resourceVersion 7:fieldPath
core/v1.PersistentVolume 1:metadata 2:spec 3:status
core/v1.PersistentVolumeClaim 1:metadata 2:spec 3:status
core/v1.PersistentVolumeClaimCondition 1:type 2:status 3:lastProbeTime 4:lastTransitionTime 5:reason 6:message
core/v1.PersistentVolumeClaimList 1:metadata 2:items
core/v1.PersistentVolumeClaimSpec 1:accessModes 4:selector 2:resources 3:volumeName 5:storageClassName 6:volumeMode 7:dataSource 8:dataSourceRef 9:volumeAttributesClassName
core/v1.PersistentVolumeClaimStatus 1:phase 2:accessModes 3:capacity 4:conditions 5:allocatedResources 7:allocatedResourceStatuses 8:currentVolumeAttributesClassName 9:modifyVolumeStatus
core/v1.PersistentVolumeClaimTemplate 1:metadata 2:spec
core/v1.PersistentVolumeClaimVolumeSource 1:claimName 2:readOnly
core/v1.PersistentVolumeList 1:metadata 2:items
core/v1.PersistentVolumeSource 1:gcePersistentDisk 2:awsElasticBlockStore 3:hostPath 4:glusterfs 5:nfs 6:rbd 7:iscsi 8:cinder 9:cephfs 10:fc 11:flocker 12:flexVolume 13:azureFile 14:vsphereVolume 15:quobyte 16:azureDisk 17:photonPersistentDisk 18:portworxVolume 19:scaleIO 20:local 21:storageos 22:csi
core/v1.PersistentVolumeSpec 1:capacity 2:=core/v1.PersistentVolumeSource 3:accessModes 4:claimRef 5:persistentVolumeReclaimPolicy 6:storageClassName 7:mountOptions 8:volumeMode 9:nodeAffinity 10:volumeAttributesClassName
core/v1.PersistentVolumeStatus 1:phase 2:message 3:reason 4:lastPhaseTransitionTime
core/v1.PhotonPersistentDiskVolumeSource 1:pdID 2:fsType
core/v1.Pod 1:metadata 2:spec 3:status
core/v1.PodAffinity 1:requiredDuringSchedulingIgnoredDuringExecution 2:preferredDuringSchedulingIgnoredDuringExecution
core/v1.PodAffinityTerm 1:labelSelector 2:namespaces 3:topologyKey 4:namespaceSelector 5:matchLabelKeys 6:mismatchLabelKeys
core/v1.PodAntiAffinity 1:requiredDuringSchedulingIgnoredDuringExecution 2:preferredDuringSchedulingIgnoredDuringExecution
core/v1.PodAttachOptions 1:stdin 2:stdout 3:stderr 4:tty 5:container
core/v1.PodCertificateProjection 1:signerName 2:keyType 3:maxExpirationSeconds 4:credentialBundlePath 5:keyPath 6:certificateChainPath 7:userAnnotations
core/v1.PodCondition 1:type 7:observedGeneration 2:status 3:lastProbeTime 4:lastTransitionTime 5:reason 6:message
core/v1.PodDNSConfig 1:nameservers 2:searches 3:options
core/v1.PodDNSConfigOption 1:name 2:value
core/v1.PodExecOptions 1:stdin 2:stdout 3:stderr 4:tty 5:container 6:command
core/v1.PodExtendedResourceClaimStatus 1:requestMappings 2:resourceClaimName
core/v1.PodIP 1:ip
core/v1.PodList 1:metadata 2:items
core/v1.PodLogOptions 1:container 2:follow 3:previous 4:sinceSeconds 5:sinceTime 6:timestamps 7:tailLines 8:limitBytes 9:insecureSkipTLSVerifyBackend 10:stream
core/v1.PodOS 1:name
core/v1.PodPortForwardOptions 1:ports
core/v1.PodProxyOptions 1:path
core/v1.PodReadinessGate 1:conditionType
core/v1.PodResourceClaim 1:name 3:resourceClaimName 4:resourceClaimTemplateName
core/v1.PodResourceClaimStatus 1:name 2:resourceClaimName
core/v1.PodSchedulingGate 1:name
core/v1.PodSchedulingGroup 1:podGroupName
core/v1.PodSecurityContext 1:seLinuxOptions 8:windowsOptions 2:runAsUser 6:runAsGroup 3:runAsNonRoot 4:supplementalGroups 12:supplementalGroupsPolicy 5:fsGroup 7:sysctls 9:fsGroupChangePolicy 10:seccompProfile 11:appArmorProfile 13:seLinuxChangePolicy
core/v1.PodSignature 1:podController
core/v1.PodSpec 1:volumes 20:initContainers 2:containers 34:ephemeralContainers 3:restartPolicy 4:terminationGracePeriodSeconds 5:activeDeadlineSeconds 6:dnsPolicy 7:nodeSelector 8:serviceAccountName 9:serviceAccount 21:automountServiceAccountToken 10:nodeName 11:hostNetwork 12:hostPID 13:hostIPC 27:shareProcessNamespace 14:securityContext 15:imagePullSecrets 16:hostname 17:subdomain 18:affinity 19:schedulerName 22:tolerations 23:hostAliases 24:priorityClassName 25:priority 26:dnsConfig 28:readinessGates 29:runtimeClassName 30:enableServiceLinks 31:preemptionPolicy 32:overhead 33:topologySpreadConstraints 35:setHostnameAsFQDN 36:os 37:hostUsers 38:schedulingGates 39:resourceClaims 40:resources 41:hostnameOverride 43:schedulingGroup
core/v1.PodStatus 17:observedGeneration 1:phase 2:conditions 3:message 4:reason 11:nominatedNodeName 5:hostIP 16:hostIPs 6:podIP 12:podIPs 7:startTime 10:initContainerStatuses 8:containerStatuses 9:qosClass 13:ephemeralContainerStatuses 14:resize 15:resourceClaimStatuses 18:extendedResourceClaimStatus 19:allocatedResources 20:resources 21:nodeAllocatableResourceClaimStatuses
core/v1.PodStatusResult 1:metadata 2:status
core/v1.PodTemplate 1:metadata 2:template
core/v1.PodTemplateList 1:metadata 2:items
core/v1.PodTemplateSpec 1:metadata 2:spec
core/v1.PortStatus 1:port 2:protocol 3:error
core/v1.PortworxVolumeSource 1:volumeID 2:fsType 3:readOnly
core/v1.Preconditions 1:uid
core/v1.PreferAvoidPodsEntry 1:podSignature 2:evictionTime 3:reason 4:message
core/v1.PreferredSchedulingTerm 1:weight 2:preference
core/v1.Probe 1:=core/v1.ProbeHandler 2:initialDelaySeconds 3:timeoutSeconds 4:periodSeconds 5:successThreshold 6:failureThreshold 7:terminationGracePeriodSeconds
core/v1.ProbeHandler 1:exec 2:httpGet 3:tcpSocket 4:grpc
core/v1.ProjectedVolumeSource 1:sources 2:defaultMode
core/v1.QuobyteVolumeSource 1:registry 2:volume 3:readOnly 4:user 5:group 6:tenant
core/v1.RBDPersistentVolumeSource 1:monitors 2:image 3:fsType 4:pool 5:user 6:keyring 7:secretRef 8:readOnly
core/v1.RBDVolumeSource 1:monitors 2:image 3:fsType 4:pool 5:user 6:keyring 7:secretRef 8:readOnly
core/v1.RangeAllocation 1:metadata 2:range 3:data
core/v1.ReplicationController 1:metadata 2:spec 3:status
core/v1.ReplicationControllerCondition 1:type 2:status 3:lastTransitionTime 4:reason 5:message
core/v1.ReplicationControllerList 1:metadata 2:items
core/v1.ReplicationControllerSpec 1:replicas 4:minReadySeconds 2:selector 3:template
core/v1.ReplicationControllerStatus 1:replicas 2:fullyLabeledReplicas 4:readyReplicas 5:availableReplicas 3:observedGeneration 6:conditions
core/v1.ResourceClaim 1:name 2:request
core/v1.ResourceFieldSelector 1:containerName 2:resource 3:divisor
core/v1.ResourceHealth 1:resourceID 2:health 6:message
core/v1.ResourceQuota 1:metadata 2:spec 3:status
core/v1.ResourceQuotaList 1:metadata 2:items
core/v1.ResourceQuotaSpec 1:hard 2:scopes 3:scopeSelector
core/v1.ResourceQuotaStatus 1:hard 2:used
core/v1.ResourceRequirements 1:limits 2:requests 3:claims
core/v1.ResourceStatus 1:name 2:resources
core/v1.SELinuxOptions 1:user 2:role 3:type 4:level
core/v1.ScaleIOPersistentVolumeSource 1:gateway 2:system 3:secretRef 4:sslEnabled 5:protectionDomain 6:storagePool 7:storageMode 8:volumeName 9:fsType 10:readOnly
core/v1.ScaleIOVolumeSource 1:gateway 2:system 3:secretRef 4:sslEnabled 5:protectionDomain 6:storagePool 7:storageMode 8:volumeName 9:fsType 10:readOnly
core/v1.ScopeSelector 1:matchExpressions
core/v1.ScopedResourceSelectorRequirement 1:scopeName 2:operator 3:values
core/v1.SeccompProfile 1:type 2:localhostProfile
core/v1.Secret 1:metadata 5:immutable 2:data 4:stringData 3:type
core/v1.SecretEnvSource 1:=core/v1.LocalObjectReference 2:optional
core/v1.SecretKeySelector 1:=core/v1.LocalObjectReference 2:key 3:optional
core/v1.SecretList 1:metadata 2:items
core/v1.SecretProjection 1:=core/v1.LocalObjectReference 2:items 4:optional
core/v1.SecretReference 1:name 2:namespace
core/v1.SecretVolumeSource 1:secretName 2:items 3:defaultMode 4:optional
core/v1.SecurityContext 1:capabilities 2:privileged 3:seLinuxOptions 10:windowsOptions 4:runAsUser 8:runAsGroup 5:runAsNonRoot 6:readOnlyRootFilesystem 7:allowPrivilegeEscalation 9:procMount 11:seccompProfile 12:appArmorProfile
core/v1.SerializedReference 1:reference
core/v1.Service 1:metadata 2:spec 3:status
core/v1.ServiceAccount 1:metadata 2:secrets 3:imagePullSecrets 4:automountServiceAccountToken
core/v1.ServiceAccountList 1:metadata 2:items
core/v1.ServiceAccountTokenProjection 1:audience 2:expirationSeconds 3:path
core/v1.ServiceList 1:metadata 2:items
core/v1.ServicePort 1:name 2:protocol 6:appProtocol 3:port 4:targetPort 5:nodePort
core/v1.ServiceProxyOptions 1:path
core/v1.ServiceSpec 1:ports 2:selector 3:clusterIP 18:clusterIPs 4:type 5:externalIPs 7:sessionAffinity 8:loadBalancerIP 9:loadBalancerSourceRanges 10:externalName 11:externalTrafficPolicy 12:healthCheckNodePort 13:publishNotReadyAddresses 14:sessionAffinityConfig 19:ipFamilies 17:ipFamilyPolicy 20:allocateLoadBalancerNodePorts 21:loadBalancerClass 22:internalTrafficPolicy 23:trafficDistribution
core/v1.ServiceStatus 1:loadBalancer 2:conditions
core/v1.SessionAffinityConfig 1:clientIP
core/v1.SleepAction 1:seconds
core/v1.StorageOSPersistentVolumeSource 1:volumeName 2:volumeNamespace 3:fsType 4:readOnly 5:secretRef
core/v1.StorageOSVolumeSource 1:volumeName 2:volumeNamespace 3:fsType 4:readOnly 5:secretRef
core/v1.Sysctl 1:name 2:value
core/v1.TCPSocketAction 1:port 2:host
core/v1.Taint 1:key 2:value 3:effect 4:timeAdded
core/v1.Toleration 1:key 2:operator 3:value 4:effect 5:tolerationSeconds
core/v1.TopologySelectorLabelRequirement 1:key 2:values
core/v1.TopologySelectorTerm 1:matchLabelExpressions
core/v1.TopologySpreadConstraint 1:maxSkew 2:topologyKey 3:whenUnsatisfiable 4:labelSelector 5:minDomains 6:nodeAffinityPolicy 7:nodeTaintsPolicy 8:matchLabelKeys
core/v1.TypedLocalObjectReference 1:apiGroup 2:kind 3:name
core/v1.TypedObjectReference 1:apiGroup 2:kind 3:name 4:namespace
core/v1.Volume 1:name 2:=core/v1.VolumeSource
core/v1.VolumeDevice 1:name 2:devicePath
core/v1.VolumeMount 1:name 2:readOnly 7:recursiveReadOnly 3:mountPath 4:subPath 5:mountPropagation 6:subPathExpr
core/v1.VolumeMountStatus 1:name 2:mountPath 3:readOnly 4:recursiveReadOnly 5:volumeStatus
core/v1.VolumeNodeAffinity 1:required
core/v1.VolumeProjection 1:secret 2:downwardAPI 3:configMap 4:serviceAccountToken 5:clusterTrustBundle 6:podCertificate
core/v1.VolumeResourceRequirements 1:limits 2:requests
core/v1.VolumeSource 1:hostPath 2:emptyDir 3:gcePersistentDisk 4:awsElasticBlockStore 5:gitRepo 6:secret 7:nfs 8:iscsi 9:glusterfs 10:persistentVolumeClaim 11:rbd 12:flexVolume 13:cinder 14:cephfs 15:flocker 16:downwardAPI 17:fc 18:azureFile 19:configMap 20:vsphereVolume 21:quobyte 22:azureDisk 23:photonPersistentDisk 26:projected 24:portworxVolume 25:scaleIO 27:storageos 28:csi 29:ephemeral 30:image
core/v1.VolumeStatus 1:image
core/v1.VsphereVirtualDiskVolumeSource 1:volumePath 2:fsType 3:storagePolicyName 4:storagePolicyID
core/v1.WeightedPodAffinityTerm 1:weight 2:podAffinityTerm
core/v1.WindowsSecurityContextOptions 1:gmsaCredentialSpecName 2:gmsaCredentialSpec 3:runAsUserName 4:hostProcess
discovery/v1.Endpoint 1:addresses 2:conditions 3:hostname 4:targetRef 5:deprecatedTopology 6:nodeName 7:zone 8:hints
discovery/v1.EndpointConditions 1:ready 2:serving 3:terminating
discovery/v1.EndpointHints 1:forZones 2:forNodes
discovery/v1.EndpointPort 1:name 2:protocol 3:port 4:appProtocol
discovery/v1.EndpointSlice 1:metadata 4:addressType 2:endpoints 3:ports
discovery/v1.EndpointSliceList 1:metadata 2:items
discovery/v1.ForNode 1:name
discovery/v1.ForZone 1:name
events/v1.Event 1:metadata 2:eventTime 3:series 4:reportingController 5:reportingInstance 6:action 7:reason 8:regarding 9:related 10:note 11:type 12:deprecatedSource 13:deprecatedFirstTimestamp 14:deprecatedLastTimestamp 15:deprecatedCount
events/v1.EventList 1:metadata 2:items
events/v1.EventSeries 1:count 2:lastObservedTime
flowcontrol/v1.ExemptPriorityLevelConfiguration 1:nominalConcurrencyShares 2:lendablePercent
flowcontrol/v1.FlowDistinguisherMethod 1:type
flowcontrol/v1.FlowSchema 1:metadata 2:spec 3:status
flowcontrol/v1.FlowSchemaCondition 1:type 2:status 3:lastTransitionTime 4:reason 5:message
flowcontrol/v1.FlowSchemaList 1:metadata 2:items
flowcontrol/v1.FlowSchemaSpec 1:priorityLevelConfiguration 2:matchingPrecedence 3:distinguisherMethod 4:rules
flowcontrol/v1.FlowSchemaStatus 1:conditions
flowcontrol/v1.GroupSubject 1:name
flowcontrol/v1.LimitResponse 1:type 2:queuing
flowcontrol/v1.LimitedPriorityLevelConfiguration 1:nominalConcurrencyShares 2:limitResponse 3:lendablePercent 4:borrowingLimitPercent
flowcontrol/v1.NonResourcePolicyRule 1:verbs 6:nonResourceURLs
flowcontrol/v1.PolicyRulesWithSubjects 1:subjects 2:resourceRules 3:nonResourceRules
flowcontrol/v1.PriorityLevelConfiguration 1:metadata 2:spec 3:status
flowcontrol/v1.PriorityLevelConfigurationCondition 1:type 2:status 3:lastTransitionTime 4:reason 5:message
flowcontrol/v1.PriorityLevelConfigurationList 1:metadata 2:items
flowcontrol/v1.PriorityLevelConfigurationReference 1:name
flowcontrol/v1.PriorityLevelConfigurationSpec 1:type 2:limited 3:exempt
flowcontrol/v1.PriorityLevelConfigurationStatus 1:conditions
flowcontrol/v1.QueuingConfiguration 1:queues 2:handSize 3:queueLengthLimit
flowcontrol/v1.ResourcePolicyRule 1:verbs 2:apiGroups 3:resources 4:clusterScope 5:namespaces
flowcontrol/v1.ServiceAccountSubject 1:namespace 2:name
flowcontrol/v1.Subject 1:kind 2:user 3:group 4:serviceAccount
flowcontrol/v1.UserSubject 1:name
meta/v1.APIGroup 1:name 2:versions 3:preferredVersion 4:serverAddressByClientCIDRs
meta/v1.APIGroupList 1:groups
meta/v1.APIResource 1:name 6:singularName 2:namespaced 8:group 9:version 3:kind 4:verbs~ 5:shortNames 7:categories 10:storageVersionHash
meta/v1.APIResourceList 1:groupVersion 2:resources
meta/v1.APIVersions 1:versions 2:serverAddressByClientCIDRs
meta/v1.ApplyOptions 1:dryRun 2:force 3:fieldManager
meta/v1.Condition 1:type 2:status 3:observedGeneration 4:lastTransitionTime 5:reason 6:message
meta/v1.CreateOptions 1:dryRun 3:fieldManager 4:fieldValidation
meta/v1.DeleteOptions 1:gracePeriodSeconds 2:preconditions 3:orphanDependents 4:propagationPolicy 5:dryRun 6:ignoreStoreReadErrorWithClusterBreakingPotential
meta/v1.Duration 1:duration
meta/v1.FieldSelectorRequirement 1:key 2:operator 3:values
meta/v1.FieldsV1 1:Raw
meta/v1.GetOptions 1:resourceVersion
meta/v1.GroupKind 1:group 2:kind
meta/v1.GroupResource 1:group 2:resource
meta/v1.GroupVersion 1:group 2:version
meta/v1.GroupVersionForDiscovery 1:groupVersion 2:version
meta/v1.GroupVersionKind 1:group 2:version 3:kind
meta/v1.GroupVersionResource 1:group 2:version 3:resource
meta/v1.LabelSelector 1:matchLabels 2:matchExpressions
meta/v1.LabelSelectorRequirement 1:key 2:operator 3:values
meta/v1.List 1:metadata 2:items
meta/v1.ListMeta 1:selfLink 2:resourceVersion 3:continue 4:remainingItemCount 5:shardInfo
meta/v1.ListOptions 1:labelSelector 2:fieldSelector 3:watch 9:allowWatchBookmarks 4:resourceVersion 10:resourceVersionMatch 5:timeoutSeconds 7:limit 8:continue 11:sendInitialEvents 15:shardSelector
meta/v1.ManagedFieldsEntry 1:manager 2:operation 3:apiVersion 4:time 6:fieldsType 7:fieldsV1 8:subresource
meta/v1.MicroTime 1:seconds 2:nanos
meta/v1.ObjectMeta 1:name 2:generateName 3:namespace 4:selfLink 5:uid 6:resourceVersion 7:generation 8:creationTimestamp 9:deletionTimestamp 10:deletionGracePeriodSeconds 11:labels 12:annotations 13:ownerReferences 14:finalizers 17:managedFields
meta/v1.OwnerReference 5:apiVersion 1:kind 3:name 4:uid 6:controller 7:blockOwnerDeletion
meta/v1.PartialObjectMetadata 1:metadata
meta/v1.PartialObjectMetadataList 1:metadata 2:items
meta/v1.Patch
meta/v1.PatchOptions 1:dryRun 2:force 3:fieldManager 4:fieldValidation
meta/v1.Preconditions 1:uid 2:resourceVersion
meta/v1.RootPaths 1:paths
meta/v1.ServerAddressByClientCIDR 1:clientCIDR 2:serverAddress
meta/v1.ShardInfo 1:selector
meta/v1.Status 1:metadata 2:status 3:message 4:reason 5:details 6:code
meta/v1.StatusCause 1:reason 2:message 3:field
meta/v1.StatusDetails 1:name 2:group 3:kind 6:uid 4:causes 5:retryAfterSeconds
meta/v1.TableOptions 1:includeObject
meta/v1.Time 1:seconds 2:nanos
meta/v1.Timestamp 1:seconds 2:nanos
meta/v1.TypeMeta 1:kind 2:apiVersion
meta/v1.UpdateOptions 1:dryRun 2:fieldManager 3:fieldValidation
meta/v1.Verbs 1:items
meta/v1.WatchEvent 1:type 2:object
meta/v1beta1.PartialObjectMetadataList 2:metadata 1:items
networking/v1.HTTPIngressPath 1:path 3:pathType 2:backend
networking/v1.HTTPIngressRuleValue 1:paths
networking/v1.IPAddress 1:metadata 2:spec
networking/v1.IPAddressList 1:metadata 2:items
networking/v1.IPAddressSpec 1:parentRef
networking/v1.IPBlock 1:cidr 2:except
networking/v1.Ingress 1:metadata 2:spec 3:status
networking/v1.IngressBackend 4:service 3:resource
networking/v1.IngressClass 1:metadata 2:spec
networking/v1.IngressClassList 1:metadata 2:items
networking/v1.IngressClassParametersReference 1:apiGroup 2:kind 3:name 4:scope 5:namespace
networking/v1.IngressClassSpec 1:controller 2:parameters
networking/v1.IngressList 1:metadata 2:items
networking/v1.IngressLoadBalancerIngress 1:ip 2:hostname 4:ports
networking/v1.IngressLoadBalancerStatus 1:ingress
networking/v1.IngressPortStatus 1:port 2:protocol 3:error
networking/v1.IngressRule 1:host 2:=networking/v1.IngressRuleValue
networking/v1.IngressRuleValue 1:http
networking/v1.IngressServiceBackend 1:name 2:port
networking/v1.IngressSpec 4:ingressClassName 1:defaultBackend 2:tls 3:rules
networking/v1.IngressStatus 1:loadBalancer
networking/v1.IngressTLS 1:hosts 2:secretName
networking/v1.NetworkPolicy 1:metadata 2:spec
networking/v1.NetworkPolicyEgressRule 1:ports 2:to
networking/v1.NetworkPolicyIngressRule 1:ports 2:from
networking/v1.NetworkPolicyList 1:metadata 2:items
networking/v1.NetworkPolicyPeer 1:podSelector 2:namespaceSelector 3:ipBlock
networking/v1.NetworkPolicyPort 1:protocol 2:port 3:endPort
networking/v1.NetworkPolicySpec 1:podSelector 2:ingress 3:egress 4:policyTypes
networking/v1.ParentReference 1:group 2:resource 3:namespace 4:name
networking/v1.ServiceBackendPort 1:name 2:number
networking/v1.ServiceCIDR 1:metadata 2:spec 3:status
networking/v1.ServiceCIDRList 1:metadata 2:items
networking/v1.ServiceCIDRSpec 1:cidrs
networking/v1.ServiceCIDRStatus 1:conditions
node/v1.Overhead 1:podFixed
node/v1.RuntimeClass 1:metadata 2:handler 3:overhead 4:scheduling
node/v1.RuntimeClassList 1:metadata 2:items
node/v1.Scheduling 1:nodeSelector 2:tolerations
policy/v1.Eviction 1:metadata 2:deleteOptions
policy/v1.PodDisruptionBudget 1:metadata 2:spec 3:status
policy/v1.PodDisruptionBudgetList 1:metadata 2:items
policy/v1.PodDisruptionBudgetSpec 1:minAvailable 2:selector 3:maxUnavailable 4:unhealthyPodEvictionPolicy
policy/v1.PodDisruptionBudgetStatus 1:observedGeneration 2:disruptedPods 3:disruptionsAllowed 4:currentHealthy 5:desiredHealthy 6:expectedPods 7:conditions
rbac/v1.AggregationRule 1:clusterRoleSelectors
rbac/v1.ClusterRole 1:metadata 2:rules 3:aggregationRule
rbac/v1.ClusterRoleBinding 1:metadata 2:subjects 3:roleRef
rbac/v1.ClusterRoleBindingList 1:metadata 2:items
rbac/v1.ClusterRoleList 1:metadata 2:items
rbac/v1.PolicyRule 1:verbs 2:apiGroups 3:resources 4:resourceNames 5:nonResourceURLs
rbac/v1.Role 1:metadata 2:rules
rbac/v1.RoleBinding 1:metadata 2:subjects 3:roleRef
rbac/v1.RoleBindingList 1:metadata 2:items
rbac/v1.RoleList 1:metadata 2:items
rbac/v1.RoleRef 1:apiGroup 2:kind 3:name
rbac/v1.Subject 1:kind 2:apiGroup 3:name 4:namespace
resource/v1.AllocatedDeviceStatus 1:driver 2:pool 3:device 7:shareID 4:conditions 5:data 6:networkData
resource/v1.AllocationResult 1:devices 3:nodeSelector 5:allocationTimestamp
resource/v1.CELDeviceSelector 1:expression
resource/v1.CapacityRequestPolicy 1:default 3:validValues 4:validRange
resource/v1.CapacityRequestPolicyRange 1:min 2:max 3:step
resource/v1.CapacityRequirements 1:requests
resource/v1.Counter 1:value
resource/v1.CounterSet 1:name 2:counters
resource/v1.Device 1:name 2:attributes 3:capacity 4:consumesCounters 5:nodeName 6:nodeSelector 7:allNodes 8:taints 9:bindsToNode 10:bindingConditions 11:bindingFailureConditions 12:allowMultipleAllocations 13:nodeAllocatableResourceMappings
resource/v1.DeviceAllocationConfiguration 1:source 2:requests 3:=resource/v1.DeviceConfiguration
resource/v1.DeviceAllocationResult 1:results 2:config
resource/v1.DeviceAttribute 2:int 3:bool 4:string 5:version 6:ints 7:bools 8:strings 9:versions
resource/v1.DeviceCapacity 1:value 2:requestPolicy
resource/v1.DeviceClaim 1:requests 2:constraints 3:config
resource/v1.DeviceClaimConfiguration 1:requests 2:=resource/v1.DeviceConfiguration
resource/v1.DeviceClass 1:metadata 2:spec
resource/v1.DeviceClassConfiguration 1:=resource/v1.DeviceConfiguration
resource/v1.DeviceClassList 1:metadata 2:items
resource/v1.DeviceClassSpec 1:selectors 2:config 4:extendedResourceName
resource/v1.DeviceConfiguration 1:opaque
resource/v1.DeviceConstraint 1:requests 2:matchAttribute 3:distinctAttribute
resource/v1.DeviceCounterConsumption 1:counterSet 2:counters
resource/v1.DeviceRequest 1:name 2:exactly 3:firstAvailable
resource/v1.DeviceRequestAllocationResult 1:request 2:driver 3:pool 4:device 5:adminAccess 6:tolerations 7:bindingConditions 8:bindingFailureConditions 9:shareID 10:consumedCapacity
resource/v1.DeviceSelector 1:cel
resource/v1.DeviceSubRequest 1:name 2:deviceClassName 3:selectors 4:allocationMode 5:count 6:tolerations 7:capacity
resource/v1.DeviceTaint 1:key 2:value 3:effect 4:timeAdded
resource/v1.DeviceToleration 1:key 2:operator 3:value 4:effect 5:tolerationSeconds
resource/v1.ExactDeviceRequest 1:deviceClassName 2:selectors 3:allocationMode 4:count 5:adminAccess 6:tolerations 7:capacity
resource/v1.NetworkDeviceData 1:interfaceName 2:ips 3:hardwareAddress
resource/v1.NodeAllocatableResourceMapping 1:capacityKey 2:allocationMultiplier
resource/v1.OpaqueDeviceConfiguration 1:driver 2:parameters
resource/v1.ResourceClaim 1:metadata 2:spec 3:status
resource/v1.ResourceClaimConsumerReference 1:apiGroup 3:resource 4:name 5:uid
resource/v1.ResourceClaimList 1:metadata 2:items
resource/v1.ResourceClaimSpec 1:devices
resource/v1.ResourceClaimStatus 1:allocation 2:reservedFor 4:devices
resource/v1.ResourceClaimTemplate 1:metadata 2:spec
resource/v1.ResourceClaimTemplateList 1:metadata 2:items
resource/v1.ResourceClaimTemplateSpec 1:metadata 2:spec
resource/v1.ResourcePool 1:name 2:generation 3:resourceSliceCount
resource/v1.ResourceSlice 1:metadata 2:spec
resource/v1.ResourceSliceList 1:metadata 2:items
resource/v1.ResourceSliceSpec 1:driver 2:pool 3:nodeName 4:nodeSelector 5:allNodes 6:devices 7:perDeviceNodeSelection 8:sharedCounters
scheduling/v1.PriorityClass 1:metadata 2:value 3:globalDefault 4:description 5:preemptionPolicy
scheduling/v1.PriorityClassList 1:metadata 2:items
storage/v1.CSIDriver 1:metadata 2:spec
storage/v1.CSIDriverList 1:metadata 2:items
storage/v1.CSIDriverSpec 1:attachRequired 2:podInfoOnMount 3:volumeLifecycleModes 4:storageCapacity 5:fsGroupPolicy 6:tokenRequests 7:requiresRepublish 8:seLinuxMount 9:nodeAllocatableUpdatePeriodSeconds 10:serviceAccountTokenInSecrets 11:preventPodSchedulingIfMissing
storage/v1.CSINode 1:metadata 2:spec
storage/v1.CSINodeDriver 1:name 2:nodeID 3:topologyKeys 4:allocatable
storage/v1.CSINodeList 1:metadata 2:items
storage/v1.CSINodeSpec 1:drivers
storage/v1.CSIStorageCapacity 1:metadata 2:nodeTopology 3:storageClassName 4:capacity 5:maximumVolumeSize
storage/v1.CSIStorageCapacityList 1:metadata 2:items
storage/v1.StorageClass 1:metadata 2:provisioner 3:parameters 4:reclaimPolicy 5:mountOptions 6:allowVolumeExpansion 7:volumeBindingMode 8:allowedTopologies
storage/v1.StorageClassList 1:metadata 2:items
storage/v1.TokenRequest 1:audience 2:expirationSeconds
storage/v1.VolumeAttachment 1:metadata 2:spec 3:status
storage/v1.VolumeAttachmentList 1:metadata 2:items
storage/v1.VolumeAttachmentSource 1:persistentVolumeName 2:inlineVolumeSpec
storage/v1.VolumeAttachmentSpec 1:attacher 2:source 3:nodeName
storage/v1.VolumeAttachmentStatus 1:attached 2:attachmentMetadata 3:attachError 4:detachError
storage/v1.VolumeAttributesClass 1:metadata 2:driverName 3:parameters
storage/v1.VolumeAttributesClassList 1:metadata 2:items
storage/v1.VolumeError 1:time 2:message 3:errorCode
storage/v1.VolumeNodeResources 1:count
`;

/** Wire types of messages that OpenAPI does not publish, as in kinds/generated. */
export const protoTypes = `
apidiscovery/v2.APIGroupDiscovery		metadata:@meta/v1.ObjectMeta;d versions:[@apidiscovery/v2.APIVersionDiscovery
apidiscovery/v2.APIGroupDiscoveryList		metadata:@meta/v1.ListMeta;d items:![@apidiscovery/v2.APIGroupDiscovery
apidiscovery/v2.APIResourceDiscovery		resource:!s;d responseKind:*@meta/v1.GroupVersionKind scope:!<v2.ResourceScope>s;d singularResource:!s;d verbs:![s shortNames:[s categories:[s subresources:[@apidiscovery/v2.APISubresourceDiscovery
apidiscovery/v2.APISubresourceDiscovery		subresource:!s;d responseKind:*@meta/v1.GroupVersionKind acceptedTypes:[@meta/v1.GroupVersionKind verbs:![s
apidiscovery/v2.APIVersionDiscovery		version:!s;d resources:[@apidiscovery/v2.APIResourceDiscovery freshness:<v2.DiscoveryFreshness>s
meta/v1.APIGroup		name:!s;d versions:![@meta/v1.GroupVersionForDiscovery preferredVersion:@meta/v1.GroupVersionForDiscovery;d serverAddressByClientCIDRs:[@meta/v1.ServerAddressByClientCIDR
meta/v1.APIGroupList		groups:![@meta/v1.APIGroup
meta/v1.APIVersions		versions:![s serverAddressByClientCIDRs:![@meta/v1.ServerAddressByClientCIDR
meta/v1.GroupVersionForDiscovery		groupVersion:!s;d version:!s;d
meta/v1.GroupVersionKind		group:!s;d version:!s;d kind:!s;d
meta/v1.PartialObjectMetadata		metadata:@meta/v1.ObjectMeta;d
meta/v1.PartialObjectMetadataList		metadata:@meta/v1.ListMeta;d items:![@meta/v1.PartialObjectMetadata
meta/v1.ServerAddressByClientCIDR		clientCIDR:!s;d serverAddress:!s;d
`;
