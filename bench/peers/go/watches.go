// watches: many clients of one process, as a manager is: each of its watches gets every change, in HTTP/2 on one
// connection or in HTTP/1.1 on one connection each. The server is the parent process.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func watchesCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("watches", flag.ExitOnError)
	count := flags.Int("count", 80, "watches")
	writes := flags.Int("writes", 500, "objects to create, one after the other")
	protocol := flags.String("protocol", "h2", "h2 or http/1.1")
	_ = flags.Parse(args)
	config, err := restConfig()
	if err != nil {
		return err
	}
	var connections atomic.Int32
	config.NextProtos = []string{*protocol}
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		connections.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	startedAt := time.Now()
	cpuBefore, err := cpuOf(os.Getppid())
	if err != nil {
		return err
	}
	openedMs, err := playWatches(ctx, config, *count, *writes)
	if err != nil {
		return err
	}
	cpu, err := cpuOf(os.Getppid())
	if err != nil {
		return err
	}
	peak, err := peakOf(os.Getppid())
	if err != nil {
		return err
	}
	return report(map[string]any{
		"kind": "watches", "openedMs": openedMs, "ms": milliseconds(time.Since(startedAt)),
		"cpuMs": (cpu - cpuBefore).Milliseconds(), "maxRssKb": peak, "connections": connections.Load(),
	})
}

func milliseconds(took time.Duration) float64 {
	return float64(took.Microseconds()) / 1000
}

// playWatches opens the watches, creates the objects, and waits until each watch has seen each of them. It returns how
// many milliseconds the opening took.
func playWatches(ctx context.Context, config *rest.Config, count, writes int) (float64, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	maps := client.CoreV1().ConfigMaps("default")
	startedAt := time.Now()
	done := make(chan error, count)
	for range count {
		opened, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "bench=watches"})
		if err != nil {
			return 0, err
		}
		defer opened.Stop()
		go func() { done <- countAdded(opened, writes) }()
	}
	openedMs := milliseconds(time.Since(startedAt))
	for index := range writes {
		meta := metav1.ObjectMeta{Name: fmt.Sprintf("map-%d", index), Labels: map[string]string{"bench": "watches"}}
		object := &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"note": strings.Repeat("x", 500)}}
		if _, err := maps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return 0, err
		}
	}
	for range count {
		if err := <-done; err != nil {
			return 0, err
		}
	}
	return openedMs, nil
}

func countAdded(opened watch.Interface, expected int) error {
	for seen := 0; seen < expected; seen++ {
		if event := <-opened.ResultChan(); event.Type != watch.Added {
			return fmt.Errorf("a watch delivers %v after %d objects", event, seen)
		}
	}
	return nil
}

// peakOf is the peak of a process's resident memory in KiB.
func peakOf(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var peak int
	_, err = fmt.Sscan(rest, &peak)
	return peak, err
}
