//go:build k8s134

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// silent drops events: nobody reads them here.
func silent(string) events.EventRecorder { return &events.FakeRecorder{} }

func schedule(ctx context.Context, sched *scheduler.Scheduler, profile framework.Framework, state *framework.CycleState, pod *v1.Pod) (string, error) {
	result, err := sched.SchedulePod(ctx, profile, state, pod)
	return result.SuggestedHost, err
}

// randomTies has nothing to do: this scheduler draws among the best nodes.
func randomTies(*scheduler.Scheduler) {}

var _ cache.ResourceEventHandlerRegistration = synced{}
