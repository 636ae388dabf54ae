//go:build !k8s134

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// silent drops events: nobody reads them here.
func silent(string) events.EventRecorderLogger { return &events.FakeRecorder{} }

func schedule(ctx context.Context, sched *scheduler.Scheduler, profile framework.Framework, state *framework.CycleState, pod *v1.Pod) (string, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return "", err
	}
	result, err := sched.SchedulePod(ctx, profile, state, &framework.QueuedPodInfo{PodInfo: info})
	return result.SuggestedHost, err
}

// randomTies makes equally good nodes equally likely. This scheduler gives nodes a random number for that only where
// an extender scored them; without one the first node found feasible wins.
func randomTies(sched *scheduler.Scheduler) {
	sched.Extenders = []fwk.Extender{indifferent{}}
}

// indifferent is an extender that scores every node alike.
type indifferent struct{ fwk.Extender }

func (indifferent) Name() string              { return "indifferent" }
func (indifferent) IsBinder() bool            { return false }
func (indifferent) IsFilter() bool            { return false }
func (indifferent) IsInterested(*v1.Pod) bool { return true }
func (indifferent) IsPrioritizer() bool       { return true }

func (indifferent) Filter(_ *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	return nodes, nil, nil, nil
}

func (indifferent) Prioritize(_ *v1.Pod, nodes []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	list := make(extenderv1.HostPriorityList, 0, len(nodes))
	for _, node := range nodes {
		list = append(list, extenderv1.HostPriority{Host: node.Node().Name})
	}
	return &list, 1, nil
}

// done is closed: nothing here is ever still being filled.
var done = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (synced) Name() string                                   { return "memory" }
func (synced) Done() <-chan struct{}                          { return done }
func (synced) HasSyncedChecker() cache.DoneChecker            { return synced{} }
func (i *memoryInformer) HasSyncedChecker() cache.DoneChecker { return synced{} }
