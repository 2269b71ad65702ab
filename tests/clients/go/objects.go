// objects: typed clients write, read and delete built-in kinds, in the content type of their configuration.
package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
)

func writeObjects(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := ensureNamespace(ctx, client); err != nil {
		return err
	}
	if err := writeConfigMap(ctx, client); err != nil {
		return err
	}
	if err := writeService(ctx, client); err != nil {
		return err
	}
	return writeDeployment(ctx, client)
}

func ensureNamespace(ctx context.Context, client kubernetes.Interface) error {
	desired := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	_, err := client.CoreV1().Namespaces().Create(ctx, desired, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// writeConfigMap writes bytes and unusual keys, and checks conflicts, preconditions and the deletion of a collection.
func writeConfigMap(ctx context.Context, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	desired := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "some-", Labels: map[string]string{"step": "objects"}},
		Data:       map[string]string{"__proto__": "kept", "empty": "", "text": "grüß dich"},
		BinaryData: map[string][]byte{"bytes": {0, 255, 128}},
	}
	created, err := maps.Create(ctx, desired, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if created.Data["__proto__"] != "kept" || created.Data["text"] != "grüß dich" || created.BinaryData["bytes"][1] != 255 {
		return fmt.Errorf("the ConfigMap was returned as %v %v", created.Data, created.BinaryData)
	}
	stale := created.DeepCopy()
	created.Data["more"] = "1"
	if _, err := maps.Update(ctx, created, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, err := maps.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("an update of an old version: %v", err)
	}
	foreign := metav1.NewUIDPreconditions("another")
	err = maps.Delete(ctx, created.Name, metav1.DeleteOptions{Preconditions: foreign})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("a delete with another UID: %v", err)
	}
	selected := metav1.ListOptions{LabelSelector: "step=objects"}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, selected); err != nil {
		return err
	}
	if _, err := maps.Get(ctx, created.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("get of a deleted ConfigMap: %v", err)
	}
	return nil
}

// writeService writes target ports as names and numbers, and changes one of two ports with a strategic merge patch.
func writeService(ctx context.Context, client kubernetes.Interface) error {
	services := client.CoreV1().Services(namespace)
	desired := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromString("http")},
			{Name: "metrics", Port: 9090, TargetPort: intstr.FromInt32(9091)},
		}},
	}
	created, err := services.Create(ctx, desired, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	ports := created.Spec.Ports
	if ports[0].TargetPort.StrVal != "http" || ports[1].TargetPort.IntVal != 9091 || created.Spec.ClusterIP == "" {
		return fmt.Errorf("the Service was returned as %v", created.Spec)
	}
	patch := []byte(`{"spec":{"ports":[{"port":80,"targetPort":8080}]}}`)
	patched, err := services.Patch(ctx, created.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if len(patched.Spec.Ports) != 2 || patched.Spec.Ports[0].TargetPort.IntVal != 8080 {
		return fmt.Errorf("the patched Service is %v", patched.Spec.Ports)
	}
	return services.Delete(ctx, created.Name, metav1.DeleteOptions{})
}

func newDeployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}
	container := corev1.Container{
		Name:      "main",
		Image:     "example.invalid/main:1",
		Resources: corev1.ResourceRequirements{Limits: limits},
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{container}},
			},
		},
	}
}

// writeDeployment rolls out a Deployment, scales it, and deletes it with its Pods.
func writeDeployment(ctx context.Context, client kubernetes.Interface) error {
	deployments := client.AppsV1().Deployments(namespace)
	created, err := deployments.Create(ctx, newDeployment("web", 1), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	cpu := created.Spec.Template.Spec.Containers[0].Resources.Limits.Cpu()
	if cpu.MilliValue() != 250 || created.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return fmt.Errorf("the Deployment was returned as %v", created.Spec)
	}
	ready := func(desired int32) error {
		return until(ctx, "the replicas are ready", func() (bool, error) {
			found, err := deployments.Get(ctx, "web", metav1.GetOptions{})
			return err == nil && found.Status.ReadyReplicas == desired, err
		})
	}
	if err := ready(1); err != nil {
		return err
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = 2
		_, err = deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	if err := ready(2); err != nil {
		return err
	}
	foreground := metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}
	if err := deployments.Delete(ctx, "web", foreground); err != nil {
		return err
	}
	return until(ctx, "the Deployment and its Pods are deleted", func() (bool, error) {
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil || len(pods.Items) > 0 {
			return false, err
		}
		_, err = deployments.Get(ctx, "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}
