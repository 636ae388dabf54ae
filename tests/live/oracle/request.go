package main

import (
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// kind is one key of a request that holds a list of objects.
type kind struct {
	key   string
	blank func() runtime.Object
}

// kinds stand in the order in which objects are put into the cluster: what pods refer to comes before pods.
var kinds = []kind{
	{"namespaces", func() runtime.Object { return &v1.Namespace{} }},
	{"services", func() runtime.Object { return &v1.Service{} }},
	{"replicationcontrollers", func() runtime.Object { return &v1.ReplicationController{} }},
	{"replicasets", func() runtime.Object { return &appsv1.ReplicaSet{} }},
	{"statefulsets", func() runtime.Object { return &appsv1.StatefulSet{} }},
	{"poddisruptionbudgets", func() runtime.Object { return &policyv1.PodDisruptionBudget{} }},
	{"storageclasses", func() runtime.Object { return &storagev1.StorageClass{} }},
	{"persistentvolumes", func() runtime.Object { return &v1.PersistentVolume{} }},
	{"persistentvolumeclaims", func() runtime.Object { return &v1.PersistentVolumeClaim{} }},
	{"csidrivers", func() runtime.Object { return &storagev1.CSIDriver{} }},
	{"csistoragecapacities", func() runtime.Object { return &storagev1.CSIStorageCapacity{} }},
	{"volumeattachments", func() runtime.Object { return &storagev1.VolumeAttachment{} }},
	{"deviceclasses", func() runtime.Object { return &resourcev1.DeviceClass{} }},
	{"resourceslices", func() runtime.Object { return &resourcev1.ResourceSlice{} }},
	{"resourceclaims", func() runtime.Object { return &resourcev1.ResourceClaim{} }},
	{"nodes", func() runtime.Object { return &v1.Node{} }},
	{"csinodes", func() runtime.Object { return &storagev1.CSINode{} }},
	{"pods", func() runtime.Object { return &v1.Pod{} }},
}

// request is one line. Keys that are neither here nor in kinds are refused: a misspelt key would be an absent object.
// Pod is the pod to place: an object, or the "namespace/name" of one in the cluster, taken as just evicted.
type request struct {
	ID            json.RawMessage `json:"id"`
	Request       string          `json:"request"`
	Cluster       string          `json:"cluster"`
	Pod           json.RawMessage `json:"pod"`
	Ops           []op            `json:"ops"`
	Seed          *int64          `json:"seed"`
	SamplePercent int32           `json:"sample_percent"`
	Explain       bool            `json:"explain"`
	Assignments   bool            `json:"assignments"`

	objects []runtime.Object
}

// own are the keys that encoding/json fills in by the tags above.
var own = map[string]bool{
	"id": true, "request": true, "cluster": true, "pod": true, "ops": true, "seed": true,
	"sample_percent": true, "explain": true, "assignments": true,
}

func (r *request) decode(line []byte) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil {
		return fmt.Errorf("a request is one JSON object a line: %w", err)
	}
	r.ID = keys["id"]
	if err := json.Unmarshal(line, r); err != nil {
		return err
	}
	for _, k := range kinds {
		if err := r.read(k, keys[k.key]); err != nil {
			return err
		}
		delete(keys, k.key)
	}
	for key := range keys {
		if !own[key] {
			return fmt.Errorf("unknown key %q", key)
		}
	}
	return nil
}

func (r *request) read(k kind, raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return fmt.Errorf("%s: %w", k.key, err)
	}
	for i, item := range items {
		obj := k.blank()
		if err := kjson.UnmarshalCaseSensitivePreserveInts(item, obj); err != nil {
			return fmt.Errorf("%s[%d]: %w", k.key, i, err)
		}
		r.objects = append(r.objects, obj)
	}
	return nil
}

func decodePod(raw json.RawMessage) (*v1.Pod, error) {
	if len(raw) == 0 {
		return nil, errors.New(`no "pod" is given`)
	}
	pod := &v1.Pod{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, pod); err != nil {
		return nil, fmt.Errorf("pod: %w", err)
	}
	complete(pod)
	return pod, nil
}
