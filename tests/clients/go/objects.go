// objects: typed clients write, read, watch and delete built-in kinds, in the content type of their config.
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
	wanted := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	_, err := client.CoreV1().Namespaces().Create(ctx, wanted, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// writeConfigMap keeps bytes and awkward keys as they were.
func writeConfigMap(ctx context.Context, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	wanted := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "some-", Labels: map[string]string{"step": "objects"}},
		Data:       map[string]string{"__proto__": "kept", "empty": "", "text": "grüß dich"},
		BinaryData: map[string][]byte{"bytes": {0, 255, 128}},
	}
	made, err := maps.Create(ctx, wanted, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if made.Data["__proto__"] != "kept" || made.Data["text"] != "grüß dich" || made.BinaryData["bytes"][1] != 255 {
		return fmt.Errorf("the ConfigMap came back as %v %v", made.Data, made.BinaryData)
	}
	stale := made.DeepCopy()
	made.Data["more"] = "1"
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, err := maps.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("an update of an old version: %v", err)
	}
	foreign := metav1.NewUIDPreconditions("another")
	err = maps.Delete(ctx, made.Name, metav1.DeleteOptions{Preconditions: foreign})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("a deletion of another UID: %v", err)
	}
	selected := metav1.ListOptions{LabelSelector: "step=objects"}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, selected); err != nil {
		return err
	}
	if _, err := maps.Get(ctx, made.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("a deleted ConfigMap: %v", err)
	}
	return nil
}

// writeService has ports that are numbers or names, and loses its patch of nothing.
func writeService(ctx context.Context, client kubernetes.Interface) error {
	services := client.CoreV1().Services(namespace)
	wanted := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromString("http")},
			{Name: "metrics", Port: 9090, TargetPort: intstr.FromInt32(9091)},
		}},
	}
	made, err := services.Create(ctx, wanted, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	ports := made.Spec.Ports
	if ports[0].TargetPort.StrVal != "http" || ports[1].TargetPort.IntVal != 9091 || made.Spec.ClusterIP == "" {
		return fmt.Errorf("the Service came back as %v", made.Spec)
	}
	patch := []byte(`{"spec":{"ports":[{"port":80,"targetPort":8080}]}}`)
	patched, err := services.Patch(ctx, made.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if len(patched.Spec.Ports) != 2 || patched.Spec.Ports[0].TargetPort.IntVal != 8080 {
		return fmt.Errorf("the patched Service is %v", patched.Spec.Ports)
	}
	return services.Delete(ctx, made.Name, metav1.DeleteOptions{})
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

// writeDeployment is rolled out, scaled and deleted with all that it owns.
func writeDeployment(ctx context.Context, client kubernetes.Interface) error {
	deployments := client.AppsV1().Deployments(namespace)
	made, err := deployments.Create(ctx, newDeployment("web", 1), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	cpu := made.Spec.Template.Spec.Containers[0].Resources.Limits.Cpu()
	if cpu.MilliValue() != 250 || made.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return fmt.Errorf("the Deployment came back as %v", made.Spec)
	}
	ready := func(wanted int32) error {
		return until(ctx, "the replicas are ready", func() (bool, error) {
			found, err := deployments.Get(ctx, "web", metav1.GetOptions{})
			return err == nil && found.Status.ReadyReplicas == wanted, err
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
	return until(ctx, "nothing is left of the Deployment", func() (bool, error) {
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil || len(pods.Items) > 0 {
			return false, err
		}
		_, err = deployments.Get(ctx, "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}
