// elector: two candidates for one Lease. The second becomes the leader when the first releases the Lease.
package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func elect(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	first, err := startCandidate(ctx, client, "first")
	if err != nil {
		return err
	}
	defer first.stop()
	if err := first.waitForLease(ctx); err != nil {
		return err
	}
	second, err := startCandidate(ctx, client, "second")
	if err != nil {
		return err
	}
	defer second.stop()
	first.stop()
	return second.waitForLease(ctx)
}

type candidate struct {
	name    string
	elector *leaderelection.LeaderElector
	stop    context.CancelFunc
}

func (candidate *candidate) waitForLease(ctx context.Context) error {
	return until(ctx, fmt.Sprintf("%s leads", candidate.name), func() (bool, error) {
		return candidate.elector.IsLeader(), nil
	})
}

func startCandidate(ctx context.Context, client kubernetes.Interface, name string) (*candidate, error) {
	ctx, stop := context.WithCancel(ctx)
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "elector"},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   3 * time.Second,
		RenewDeadline:   2 * time.Second,
		RetryPeriod:     100 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		stop()
		return nil, err
	}
	go elector.Run(ctx)
	return &candidate{name: name, elector: elector, stop: stop}, nil
}
