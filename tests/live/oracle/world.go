package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"
)

// world is one cluster with a scheduler of its own.
type world struct {
	ctx      context.Context
	close    context.CancelFunc
	sched    *scheduler.Scheduler
	objects  *memoryFactory
	versions int
	placed   map[types.UID]*framework.CycleState
}

// newWorld makes a cluster of the request's objects.
func newWorld(req *request) (*world, error) {
	plugins, err := filterPlugins()
	if err != nil {
		return nil, err
	}
	w, err := emptyWorld(plugins, req.SamplePercent)
	if err != nil {
		return nil, err
	}
	for _, obj := range req.objects {
		if err := w.put(obj); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// emptyWorld starts a scheduler with the default profile and a profile for each plugin named, called as the plugin.
func emptyWorld(plugins []string, samplePercent int32) (*world, error) {
	profiles, err := profiles(plugins)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	client := fake.NewSimpleClientset()
	objects := newMemoryFactory(client)
	// One worker: the order in which nodes are found feasible decides ties and, in large clusters, who is scored.
	sched, err := scheduler.New(ctx, client, objects, nil, silent,
		scheduler.WithProfiles(profiles...), scheduler.WithParallelism(1),
		scheduler.WithPercentageOfNodesToScore(&samplePercent))
	if err != nil {
		cancel()
		return nil, err
	}
	return &world{ctx: ctx, close: cancel, sched: sched, objects: objects, placed: map[types.UID]*framework.CycleState{}}, nil
}

func profiles(plugins []string) ([]schedulerapi.KubeSchedulerProfile, error) {
	outer := configv1.KubeSchedulerConfiguration{Profiles: []configv1.KubeSchedulerProfile{
		{SchedulerName: ptr.To(v1.DefaultSchedulerName)},
	}}
	for _, name := range plugins {
		set := configv1.PluginSet{Disabled: []configv1.Plugin{{Name: "*"}}}
		// A profile is invalid without a queue order and a binder.
		for _, needed := range []string{name, "PrioritySort", "DefaultBinder"} {
			set.Enabled = append(set.Enabled, configv1.Plugin{Name: needed})
		}
		outer.Profiles = append(outer.Profiles, configv1.KubeSchedulerProfile{
			SchedulerName: ptr.To(name), Plugins: &configv1.Plugins{MultiPoint: set},
		})
	}
	scheme.Scheme.Default(&outer)
	var inner schedulerapi.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&outer, &inner, nil); err != nil {
		return nil, err
	}
	return inner.Profiles, nil
}

// filterPlugins lists the default profile's plugins of the Filter phase, in the order in which they run.
var filterPlugins = sync.OnceValues(func() ([]string, error) {
	w, err := emptyWorld(nil, 0)
	if err != nil {
		return nil, err
	}
	defer w.close()
	names := []string{}
	for _, p := range w.profile(v1.DefaultSchedulerName).ListPlugins().Filter.Enabled {
		names = append(names, p.Name)
	}
	return names, nil
})

func (w *world) profile(name string) framework.Framework {
	return w.sched.Profiles[name]
}

// put hands an object to the scheduler as its informers would; finished pods are not in what they watch.
func (w *world) put(obj runtime.Object) error {
	complete(obj)
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	// Assume caches take only what is newer than what they hold, and nothing without a number.
	w.versions++
	accessor.SetResourceVersion(strconv.Itoa(w.versions))
	if pod, ok := obj.(*v1.Pod); ok && (pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed) {
		return nil
	}
	if informer := w.objects.of(obj); informer != nil {
		return informer.put(obj)
	}
	return nil
}

// snapshot makes the scheduler see the cluster as it is now, as each of its cycles does first.
func (w *world) snapshot() error {
	lister := w.profile(v1.DefaultSchedulerName).SnapshotSharedLister()
	snapshot, ok := lister.(*internalcache.Snapshot)
	if !ok {
		return fmt.Errorf("the scheduler's snapshot is a %T", lister)
	}
	return w.sched.Cache.UpdateSnapshot(klog.FromContext(w.ctx), snapshot)
}

// complete fills in what the API server always sets and a hand-written object may lack.
func complete(obj runtime.Object) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	if accessor.GetNamespace() == "" && namespaced(obj) {
		accessor.SetNamespace(v1.NamespaceDefault)
	}
	if accessor.GetUID() == "" {
		accessor.SetUID(types.UID(fmt.Sprintf("%T/%s/%s", obj, accessor.GetNamespace(), accessor.GetName())))
	}
}

// namespaced tells the kinds that live in a namespace.
func namespaced(obj runtime.Object) bool {
	switch obj.(type) {
	case *v1.Namespace, *v1.Node, *v1.PersistentVolume, *storagev1.StorageClass, *storagev1.CSIDriver,
		*storagev1.CSINode, *storagev1.VolumeAttachment, *resourcev1.DeviceClass, *resourcev1.ResourceSlice:
		return false
	}
	return true
}
