// elector: two candidates for one Lease; the second leads when the first has let go.
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
	first, err := candidate(ctx, client, "first")
	if err != nil {
		return err
	}
	defer first.stop()
	if err := first.leads(ctx); err != nil {
		return err
	}
	second, err := candidate(ctx, client, "second")
	if err != nil {
		return err
	}
	defer second.stop()
	first.stop()
	return second.leads(ctx)
}

type elected struct {
	name    string
	elector *leaderelection.LeaderElector
	stop    context.CancelFunc
}

func (elected *elected) leads(ctx context.Context) error {
	return until(ctx, fmt.Sprintf("%s leads", elected.name), func() (bool, error) {
		return elected.elector.IsLeader(), nil
	})
}

func candidate(ctx context.Context, client kubernetes.Interface, name string) (*elected, error) {
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
	return &elected{name: name, elector: elector, stop: stop}, nil
}
