// connection: many watches at the same time, which HTTP/2 carries on one connection.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const watches = 80

// watchOnOneConnection opens the watches, and fails if the client has dialed twice or a watch misses an event.
func watchOnOneConnection(ctx context.Context, config *rest.Config) error {
	var connections, otherVersions atomic.Int32
	counted := rest.CopyConfig(config)
	counted.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		connections.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && response.ProtoMajor != 2 {
				otherVersions.Add(1)
			}
			return response, err
		})
	})
	client, err := kubernetes.NewForConfig(counted)
	if err != nil {
		return err
	}
	if err := watchMaps(ctx, client); err != nil {
		return err
	}
	if connections.Load() != 1 || otherVersions.Load() != 0 {
		return fmt.Errorf("%d connections, %d responses in another version than HTTP/2", connections.Load(), otherVersions.Load())
	}
	return nil
}

// watchMaps watches one ConfigMap each, then creates all of them and waits for their events.
func watchMaps(ctx context.Context, client kubernetes.Interface) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	maps := client.CoreV1().ConfigMaps(namespace)
	nameOf := func(index int) string { return fmt.Sprintf("watched-%d", index) }
	opened := make([]watch.Interface, watches)
	for index := range opened {
		stream, err := maps.Watch(ctx, metav1.SingleObject(metav1.ObjectMeta{Name: nameOf(index)}))
		if err != nil {
			return err
		}
		defer stream.Stop()
		opened[index] = stream
	}
	for index := range opened {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: nameOf(index)}}
		if _, err := maps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for index, stream := range opened {
		select {
		case event := <-stream.ResultChan():
			object, isMap := event.Object.(*corev1.ConfigMap)
			if !isMap || event.Type != watch.Added || object.Name != nameOf(index) {
				return fmt.Errorf("watch %d delivers %v", index, event)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for index := range opened {
		if err := maps.Delete(ctx, nameOf(index), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}
