package main

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// memoryFactory makes informers without a watch: an object put into one has reached every handler when put returns.
// With watching informers each request would wait for goroutines, and could read a cache that is not filled yet.
type memoryFactory struct {
	informers.SharedInformerFactory
	client kubernetes.Interface
	known  map[reflect.Type]*memoryInformer
}

func newMemoryFactory(client kubernetes.Interface) *memoryFactory {
	base := informers.NewSharedInformerFactory(client, 0)
	return &memoryFactory{base, client, map[reflect.Type]*memoryInformer{}}
}

func (f *memoryFactory) InformerFor(obj runtime.Object, create internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	key := reflect.TypeOf(obj)
	if _, ok := f.known[key]; !ok {
		f.known[key] = &memoryInformer{SharedIndexInformer: create(f.client, 0)}
	}
	return f.known[key]
}

func (f *memoryFactory) Apps() apps.Interface             { return apps.New(f, "", nil) }
func (f *memoryFactory) Core() core.Interface             { return core.New(f, "", nil) }
func (f *memoryFactory) Policy() policy.Interface         { return policy.New(f, "", nil) }
func (f *memoryFactory) Resource() resource.Interface     { return resource.New(f, "", nil) }
func (f *memoryFactory) Scheduling() scheduling.Interface { return scheduling.New(f, "", nil) }
func (f *memoryFactory) Storage() storage.Interface       { return storage.New(f, "", nil) }

// of gives the informer that the scheduler asked for, or nil where no plugin reads this kind.
func (f *memoryFactory) of(obj runtime.Object) *memoryInformer {
	return f.known[reflect.TypeOf(obj)]
}

type memoryInformer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

// synced stands for a handler that has seen everything, which is so as soon as it is added.
type synced struct{}

func (synced) HasSynced() bool { return true }

func (i *memoryInformer) HasSynced() bool { return true }

func (i *memoryInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	for _, obj := range i.GetStore().List() {
		h.OnAdd(obj, true)
	}
	i.handlers = append(i.handlers, h)
	return synced{}, nil
}

func (i *memoryInformer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *memoryInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// put adds the object, or takes it for the new state of the one with its name.
func (i *memoryInformer) put(obj runtime.Object) error {
	old, exists, err := i.GetStore().Get(obj)
	if err != nil {
		return err
	}
	if err := i.GetStore().Update(obj); err != nil {
		return err
	}
	for _, h := range i.handlers {
		if exists {
			h.OnUpdate(old, obj)
		} else {
			h.OnAdd(obj, false)
		}
	}
	return nil
}

func (i *memoryInformer) remove(obj runtime.Object) error {
	if err := i.GetStore().Delete(obj); err != nil {
		return err
	}
	for _, h := range i.handlers {
		h.OnDelete(obj)
	}
	return nil
}
