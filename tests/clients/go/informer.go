// informer and apply: a shared informer delivers changes in order; two managers of one field conflict.
package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// recorder records the events of an informer.
type recorder struct {
	lock   sync.Mutex
	events []string
}

func (recorder *recorder) add(event string, object any) {
	secret, isSecret := object.(*corev1.Secret)
	if !isSecret || secret.Labels["step"] != "informer" {
		return
	}
	recorder.lock.Lock()
	defer recorder.lock.Unlock()
	recorder.events = append(recorder.events, event+" "+string(secret.Data["key"]))
}

func (recorder *recorder) isExactly(expected ...string) bool {
	recorder.lock.Lock()
	defer recorder.lock.Unlock()
	return slices.Equal(recorder.events, expected)
}

func inform(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	events := &recorder{}
	secrets := factory.Core().V1().Secrets()
	_, err = secrets.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { events.add("added", object) },
		UpdateFunc: func(_, object any) { events.add("updated", object) },
		DeleteFunc: func(object any) { events.add("deleted", object) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for _, isSynced := range factory.WaitForCacheSync(ctx.Done()) {
		if !isSynced {
			return fmt.Errorf("the informer did not sync")
		}
	}
	if err := changeSecret(ctx, client); err != nil {
		return err
	}
	return until(ctx, "the informer delivers all events in order", func() (bool, error) {
		return events.isExactly("added 1", "updated 2", "deleted 2"), nil
	})
}

func changeSecret(ctx context.Context, client kubernetes.Interface) error {
	secrets := client.CoreV1().Secrets(namespace)
	desired := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "watched", Labels: map[string]string{"step": "informer"}},
		StringData: map[string]string{"key": "1"},
	}
	created, err := secrets.Create(ctx, desired, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Data["key"] = []byte("2")
	if _, err := secrets.Update(ctx, created, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return secrets.Delete(ctx, "watched", metav1.DeleteOptions{})
}

func apply(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps(namespace)
	write := func(manager, value string, isForced bool) (*corev1.ConfigMap, error) {
		desired := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"key": value})
		return maps.Apply(ctx, desired, metav1.ApplyOptions{FieldManager: manager, Force: isForced})
	}
	if _, err := write("left", "1", false); err != nil {
		return err
	}
	if _, err := write("right", "2", false); !apierrors.IsConflict(err) {
		return fmt.Errorf("apply of a field of another manager: %v", err)
	}
	forced, err := write("right", "2", true)
	if err != nil {
		return err
	}
	extracted, err := corev1apply.ExtractConfigMap(forced, "right")
	if err != nil {
		return err
	}
	if extracted.Data["key"] != "2" {
		return fmt.Errorf("right owns %v", extracted.Data)
	}
	return maps.Delete(ctx, "applied", metav1.DeleteOptions{})
}
