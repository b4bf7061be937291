// Command provisioner asks Karpenter's own provisioner which NodeClaims it would create for pending pods.
//
// Nothing runs: its client is a fake one that holds the objects of the question. One JSON object per line on
// standard input, one per line on standard output, in the same order.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"sigs.k8s.io/karpenter/kwok/apis"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

type question struct {
	WellKnown     []string       `json:"wellKnown"` // labels of the provider
	ReservationID string         `json:"reservationID"`
	NodePools     []*v1.NodePool `json:"nodePools"`
	InstanceTypes []instanceType `json:"instanceTypes"`
	Pods          []podSet       `json:"pods"`
	Nodes         []*corev1.Node `json:"nodes"`
}

type instanceType struct {
	Name         string                           `json:"name"`
	Capacity     corev1.ResourceList              `json:"capacity"`
	Overhead     corev1.ResourceList              `json:"overhead"`
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
	Offerings    []offering                       `json:"offerings"`
}

type offering struct {
	Price        float64                          `json:"price"`
	Available    bool                             `json:"available"`
	Count        int                              `json:"count"` // of a reservation
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
}

type podSet struct {
	Name  string     `json:"name"`
	Count int        `json:"count"`
	Pod   corev1.Pod `json:"pod"`
}

type counts map[string]int // by the name of a podSet

type claim struct {
	Pool         string   `json:"pool"`
	Types        []string `json:"types"`
	Reservations []string `json:"reservations"`
	Pods         counts   `json:"pods"`
}

type answer struct {
	Claims []claim           `json:"claims"`
	Nodes  map[string]counts `json:"nodes"` // what existing ones take
	Left   counts            `json:"left"`
}

// provider offers the same instance types to each NodePool. Nothing else of a provider is called.
type provider struct {
	cloudprovider.CloudProvider
	types []*cloudprovider.InstanceType
}

func (p *provider) Name() string { return "asked" }

func (p *provider) GetInstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return p.types, nil
}

func (p *provider) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&v1alpha1.KWOKNodeClass{}}
}

const podSetLabel = "karpenter.berth.dev/pod-set" // as an annotation, so that no selector sees it

func main() {
	log.SetLogger(logging.NopLogger)
	ctx := context.Background()
	chosen := &options.Options{}
	flags := &options.FlagSet{FlagSet: flag.NewFlagSet("karpenter", flag.ContinueOnError)}
	chosen.AddFlags(flags)
	if err := chosen.Parse(flags, os.Args[1:]...); err != nil {
		fail(0, err)
	}
	ctx = options.ToContext(ctx, chosen)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	encoder := json.NewEncoder(os.Stdout)
	for number := 1; lines.Scan(); number++ {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fail(number, err)
		}
		found, err := solve(ctx, asked)
		if err != nil {
			fail(number, err)
		}
		if err := encoder.Encode(found); err != nil {
			fail(number, err)
		}
	}
	if err := lines.Err(); err != nil {
		fail(0, err)
	}
}

func fail(line int, err error) {
	fmt.Fprintf(os.Stderr, "line %d: %v\n", line, err)
	os.Exit(1)
}

func solve(ctx context.Context, asked question) (answer, error) {
	v1.WellKnownLabels = v1.WellKnownLabels.Insert(asked.WellKnown...)
	cloudprovider.ReservationIDLabel = asked.ReservationID
	offered := &provider{types: instanceTypes(asked.InstanceTypes)}
	api := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects(asked)...).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
			return []string{o.(*corev1.Pod).Spec.NodeName}
		}).Build()
	now := clock.RealClock{}
	cluster := state.NewCluster(now, api, offered)
	for _, node := range asked.Nodes {
		if err := cluster.UpdateNode(ctx, node); err != nil {
			return answer{}, err
		}
	}
	recorder := events.NewRecorder(&record.FakeRecorder{})
	results, err := provisioning.NewProvisioner(api, recorder, offered, cluster, now, nil, nil).Schedule(ctx)
	if err != nil {
		return answer{}, err
	}
	found := answer{Nodes: map[string]counts{}, Left: counts{}}
	for _, set := range asked.Pods {
		found.Left[set.Name] = set.Count
	}
	for _, one := range results.NewNodeClaims {
		held := []string{}
		if one.Requirements.Has(asked.ReservationID) {
			held = one.Requirements.Get(asked.ReservationID).Values()
		}
		names := []string{}
		for _, kind := range one.InstanceTypeOptions {
			names = append(names, kind.Name)
		}
		slices.Sort(held)
		slices.Sort(names)
		found.Claims = append(found.Claims, claim{one.NodePoolName, names, held, placed(one.Pods, found.Left)})
	}
	for _, one := range results.ExistingNodes {
		if len(one.Pods) > 0 {
			found.Nodes[one.Name()] = placed(one.Pods, found.Left)
		}
	}
	return found, nil
}

// placed counts pods by their sets, and takes them from what is left.
func placed(pods []*corev1.Pod, left counts) counts {
	found := counts{}
	for _, one := range pods {
		set := one.Annotations[podSetLabel]
		found[set]++
		left[set]--
	}
	return found
}

// objects are those that the provisioner lists: NodePools, pending pods and nodes.
func objects(asked question) []client.Object {
	var found []client.Object
	for _, pool := range asked.NodePools {
		pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{
			Group: apis.Group, Kind: "KWOKNodeClass", Name: "default",
		}
		pool.StatusConditions().SetTrue(v1.ConditionTypeValidationSucceeded)
		pool.StatusConditions().SetTrue(v1.ConditionTypeNodeClassReady)
		found = append(found, pool)
	}
	for _, node := range asked.Nodes {
		node.Spec.ProviderID = node.Name
		found = append(found, node)
	}
	number := 0
	for _, set := range asked.Pods {
		for range set.Count {
			number++
			pod := set.Pod.DeepCopy()
			pod.Name = fmt.Sprintf("%s-%d", set.Name, number)
			pod.UID = types.UID(fmt.Sprintf("%08d", number)) // which orders equal pods
			pod.Annotations = map[string]string{podSetLabel: set.Name}
			pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			}}}
			found = append(found, pod)
		}
	}
	return found
}

func instanceTypes(told []instanceType) []*cloudprovider.InstanceType {
	var found []*cloudprovider.InstanceType
	for _, one := range told {
		made := &cloudprovider.InstanceType{
			Name:         one.Name,
			Requirements: scheduling.NewNodeSelectorRequirements(one.Requirements...),
			Capacity:     one.Capacity,
			Overhead:     &cloudprovider.InstanceTypeOverhead{KubeReserved: one.Overhead},
		}
		for _, each := range one.Offerings {
			made.Offerings = append(made.Offerings, &cloudprovider.Offering{
				Requirements:        scheduling.NewNodeSelectorRequirements(each.Requirements...),
				Price:               each.Price,
				Available:           each.Available,
				ReservationCapacity: each.Count,
			})
		}
		found = append(found, made)
	}
	return found
}
