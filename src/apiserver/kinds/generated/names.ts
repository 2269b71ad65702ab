/**
 * The names of all built-in kinds, one a line (see ../kind_names.ts): group, version, kind, plural, singular, N where it
 * is namespaced, short names, categories, verbs, storage version hash, subresources. Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit.
 */
// deno-fmt-ignore-file
export const names = `
|v1|Binding|bindings|binding|N|||create||
|v1|ComponentStatus|componentstatuses|componentstatus||cs||get,list||
|v1|ConfigMap|configmaps|configmap|N|cm||create,delete,deletecollection,get,list,patch,update,watch|qFsyl6wFWjQ=|
|v1|Endpoints|endpoints|endpoints|N|ep||create,delete,deletecollection,get,list,patch,update,watch|fWeeMqaN/OA=|
|v1|Event|events|event|N|ev||create,delete,deletecollection,get,list,patch,update,watch|r2yiGXH7wu8=|
|v1|LimitRange|limitranges|limitrange|N|limits||create,delete,deletecollection,get,list,patch,update,watch|EBKMFVe6cwo=|
|v1|Namespace|namespaces|namespace||ns||create,delete,get,list,patch,update,watch|Q3oi5N2YM8M=|finalize:update status:get,patch,update
|v1|Node|nodes|node||no||create,delete,deletecollection,get,list,patch,update,watch|XwShjMxG9Fs=|proxy:create,delete,get,patch,update:/v1/NodeProxyOptions status:get,patch,update
|v1|PersistentVolumeClaim|persistentvolumeclaims|persistentvolumeclaim|N|pvc||create,delete,deletecollection,get,list,patch,update,watch|QWTyNDq0dC4=|status:get,patch,update
|v1|PersistentVolume|persistentvolumes|persistentvolume||pv||create,delete,deletecollection,get,list,patch,update,watch|HN/zwEC+JgM=|status:get,patch,update
|v1|Pod|pods|pod|N|po|all|create,delete,deletecollection,get,list,patch,update,watch|xPOwRZ+Yhw8=|attach:create,get:/v1/PodAttachOptions binding:create:/v1/Binding ephemeralcontainers:get,patch,update eviction:create:policy/v1/Eviction exec:create,get:/v1/PodExecOptions log:get portforward:create,get:/v1/PodPortForwardOptions proxy:create,delete,get,patch,update:/v1/PodProxyOptions resize:get,patch,update status:get,patch,update
|v1|PodTemplate|podtemplates|podtemplate|N|||create,delete,deletecollection,get,list,patch,update,watch|LIXB2x4IFpk=|
|v1|ReplicationController|replicationcontrollers|replicationcontroller|N|rc|all|create,delete,deletecollection,get,list,patch,update,watch|Jond2If31h0=|scale:get,patch,update:autoscaling/v1/Scale status:get,patch,update
|v1|ResourceQuota|resourcequotas|resourcequota|N|quota||create,delete,deletecollection,get,list,patch,update,watch|8uhSgffRX6w=|status:get,patch,update
|v1|Secret|secrets|secret|N|||create,delete,deletecollection,get,list,patch,update,watch|S6u1pOWzb84=|
|v1|ServiceAccount|serviceaccounts|serviceaccount|N|sa||create,delete,deletecollection,get,list,patch,update,watch|pbx9ZvyFpBE=|token:create:authentication.k8s.io/v1/TokenRequest
|v1|Service|services|service|N|svc|all|create,delete,deletecollection,get,list,patch,update,watch|0/CO1lhkEBI=|proxy:create,delete,get,patch,update:/v1/ServiceProxyOptions status:get,patch,update
apiregistration.k8s.io|v1|APIService|apiservices|apiservice|||api-extensions|create,delete,deletecollection,get,list,patch,update,watch|InPBPD7+PqM=|status:get,patch,update
apps|v1|ControllerRevision|controllerrevisions|controllerrevision|N|||create,delete,deletecollection,get,list,patch,update,watch|85nkx63pcBU=|
apps|v1|DaemonSet|daemonsets|daemonset|N|ds|all|create,delete,deletecollection,get,list,patch,update,watch|dd7pWHUlMKQ=|status:get,patch,update
apps|v1|Deployment|deployments|deployment|N|deploy|all|create,delete,deletecollection,get,list,patch,update,watch|8aSe+NMegvE=|scale:get,patch,update:autoscaling/v1/Scale status:get,patch,update
apps|v1|ReplicaSet|replicasets|replicaset|N|rs|all|create,delete,deletecollection,get,list,patch,update,watch|P1RzHs8/mWQ=|scale:get,patch,update:autoscaling/v1/Scale status:get,patch,update
apps|v1|StatefulSet|statefulsets|statefulset|N|sts|all|create,delete,deletecollection,get,list,patch,update,watch|H+vl74LkKdo=|scale:get,patch,update:autoscaling/v1/Scale status:get,patch,update
events.k8s.io|v1|Event|events|event|N|ev||create,delete,deletecollection,get,list,patch,update,watch|r2yiGXH7wu8=|
authentication.k8s.io|v1|SelfSubjectReview|selfsubjectreviews|selfsubjectreview||||create||
authentication.k8s.io|v1|TokenReview|tokenreviews|tokenreview||||create||
authorization.k8s.io|v1|LocalSubjectAccessReview|localsubjectaccessreviews|localsubjectaccessreview|N|||create||
authorization.k8s.io|v1|SelfSubjectAccessReview|selfsubjectaccessreviews|selfsubjectaccessreview||||create||
authorization.k8s.io|v1|SelfSubjectRulesReview|selfsubjectrulesreviews|selfsubjectrulesreview||||create||
authorization.k8s.io|v1|SubjectAccessReview|subjectaccessreviews|subjectaccessreview||||create||
autoscaling|v2|HorizontalPodAutoscaler|horizontalpodautoscalers|horizontalpodautoscaler|N|hpa|all|create,delete,deletecollection,get,list,patch,update,watch|qwQve8ut294=|status:get,patch,update
autoscaling|v1|HorizontalPodAutoscaler|horizontalpodautoscalers|horizontalpodautoscaler|N|hpa|all|create,delete,deletecollection,get,list,patch,update,watch|qwQve8ut294=|status:get,patch,update
batch|v1|CronJob|cronjobs|cronjob|N|cj|all|create,delete,deletecollection,get,list,patch,update,watch|sd5LIXh4Fjs=|status:get,patch,update
batch|v1|Job|jobs|job|N||all|create,delete,deletecollection,get,list,patch,update,watch|mudhfqk/qZY=|status:get,patch,update
certificates.k8s.io|v1|CertificateSigningRequest|certificatesigningrequests|certificatesigningrequest||csr||create,delete,deletecollection,get,list,patch,update,watch|95fRKMXA+00=|approval:get,patch,update status:get,patch,update
networking.k8s.io|v1|IngressClass|ingressclasses|ingressclass||||create,delete,deletecollection,get,list,patch,update,watch|l/iqIbDgFyQ=|
networking.k8s.io|v1|Ingress|ingresses|ingress|N|ing||create,delete,deletecollection,get,list,patch,update,watch|39NQlfNR+bo=|status:get,patch,update
networking.k8s.io|v1|IPAddress|ipaddresses|ipaddress||ip||create,delete,deletecollection,get,list,patch,update,watch|3f/plJFChNE=|
networking.k8s.io|v1|NetworkPolicy|networkpolicies|networkpolicy|N|netpol||create,delete,deletecollection,get,list,patch,update,watch|YpfwF18m1G8=|
networking.k8s.io|v1|ServiceCIDR|servicecidrs|servicecidr||||create,delete,deletecollection,get,list,patch,update,watch|gNLvruQhW2g=|status:get,patch,update
policy|v1|PodDisruptionBudget|poddisruptionbudgets|poddisruptionbudget|N|pdb||create,delete,deletecollection,get,list,patch,update,watch|EVWiDmWqyJw=|status:get,patch,update
rbac.authorization.k8s.io|v1|ClusterRoleBinding|clusterrolebindings|clusterrolebinding||||create,delete,deletecollection,get,list,patch,update,watch|48tpQ8gZHFc=|
rbac.authorization.k8s.io|v1|ClusterRole|clusterroles|clusterrole||||create,delete,deletecollection,get,list,patch,update,watch|bYE5ZWDrJ44=|
rbac.authorization.k8s.io|v1|RoleBinding|rolebindings|rolebinding|N|||create,delete,deletecollection,get,list,patch,update,watch|eGsCzGH6b1g=|
rbac.authorization.k8s.io|v1|Role|roles|role|N|||create,delete,deletecollection,get,list,patch,update,watch|7FuwZcIIItM=|
storage.k8s.io|v1|CSIDriver|csidrivers|csidriver||||create,delete,deletecollection,get,list,patch,update,watch|hL6j/rwBV5w=|
storage.k8s.io|v1|CSINode|csinodes|csinode||||create,delete,deletecollection,get,list,patch,update,watch|Pe62DkZtjuo=|
storage.k8s.io|v1|CSIStorageCapacity|csistoragecapacities|csistoragecapacity|N|||create,delete,deletecollection,get,list,patch,update,watch|xeVl+2Ly1kE=|
storage.k8s.io|v1|StorageClass|storageclasses|storageclass||sc||create,delete,deletecollection,get,list,patch,update,watch|K+m6uJwbjGY=|
storage.k8s.io|v1|VolumeAttachment|volumeattachments|volumeattachment||||create,delete,deletecollection,get,list,patch,update,watch|tJx/ezt6UDU=|status:get,patch,update
storage.k8s.io|v1|VolumeAttributesClass|volumeattributesclasses|volumeattributesclass||vac||create,delete,deletecollection,get,list,patch,update,watch|tIjydgKBC5w=|
admissionregistration.k8s.io|v1|MutatingAdmissionPolicy|mutatingadmissionpolicies|mutatingadmissionpolicy|||api-extensions|create,delete,deletecollection,get,list,patch,update,watch|LYmCf+UMVdg=|
admissionregistration.k8s.io|v1|MutatingAdmissionPolicyBinding|mutatingadmissionpolicybindings|mutatingadmissionpolicybinding|||api-extensions|create,delete,deletecollection,get,list,patch,update,watch|90V5FRZZ3Zg=|
admissionregistration.k8s.io|v1|MutatingWebhookConfiguration|mutatingwebhookconfigurations|mutatingwebhookconfiguration|||api-extensions|create,delete,deletecollection,get,list,patch,update,watch|Sqi0GUgDaX0=|
admissionregistration.k8s.io|v1|ValidatingAdmissionPolicy|validatingadmissionpolicies|validatingadmissionpolicy|||api-extensions|create,delete,deletecollection,get,list,patch,update,watch|6OxvlMmQ6is=|status:get,patch,update
admissionregistration.k8s.io|v1|ValidatingAdmissionPolicyBinding|validatingadmissionpolicybindings|validatingadmissionpolicybinding|||api-extensions|create,delete,deletecollection,get,list,patch,update,watch|v9715VZqakg=|
admissionregistration.k8s.io|v1|ValidatingWebhookConfiguration|validatingwebhookconfigurations|validatingwebhookconfiguration|||api-extensions|create,delete,deletecollection,get,list,patch,update,watch|B0wHjQmsGNk=|
apiextensions.k8s.io|v1|CustomResourceDefinition|customresourcedefinitions|customresourcedefinition||crd,crds|api-extensions|create,delete,deletecollection,get,list,patch,update,watch|jfWCUB31mvA=|status:get,patch,update
scheduling.k8s.io|v1|PriorityClass|priorityclasses|priorityclass||pc||create,delete,deletecollection,get,list,patch,update,watch|1QwjyaZjj3Y=|
coordination.k8s.io|v1|Lease|leases|lease|N|||create,delete,deletecollection,get,list,patch,update,watch|gqkMMb/YqFM=|
node.k8s.io|v1|RuntimeClass|runtimeclasses|runtimeclass||||create,delete,deletecollection,get,list,patch,update,watch|WQTu1GL3T2Q=|
discovery.k8s.io|v1|EndpointSlice|endpointslices|endpointslice|N|||create,delete,deletecollection,get,list,patch,update,watch|qgS0xkrxYAI=|
resource.k8s.io|v1|DeviceClass|deviceclasses|deviceclass||||create,delete,deletecollection,get,list,patch,update,watch|Yk2PTc1Ybxk=|
resource.k8s.io|v1|ResourceClaim|resourceclaims|resourceclaim|N|||create,delete,deletecollection,get,list,patch,update,watch|wgAZaHcZxUg=|status:get,patch,update
resource.k8s.io|v1|ResourceClaimTemplate|resourceclaimtemplates|resourceclaimtemplate|N|||create,delete,deletecollection,get,list,patch,update,watch|TuzjC49aUfM=|
resource.k8s.io|v1|ResourceSlice|resourceslices|resourceslice||||create,delete,deletecollection,get,list,patch,update,watch|KsC072WgaEY=|
flowcontrol.apiserver.k8s.io|v1|FlowSchema|flowschemas|flowschema||||create,delete,deletecollection,get,list,patch,update,watch|GJVAJZSZBIw=|status:get,patch,update
flowcontrol.apiserver.k8s.io|v1|PriorityLevelConfiguration|prioritylevelconfigurations|prioritylevelconfiguration||||create,delete,deletecollection,get,list,patch,update,watch|Kir5PVfvNeI=|status:get,patch,update
`;
