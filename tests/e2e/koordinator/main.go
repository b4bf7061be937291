// Command koordinator decodes Koordinator's Reservations (scheduling.koordinator.sh/v1alpha1) as a typed client
// does, and strictly besides: fields that the type does not have are told.
//
// One JSON object per line on standard input, one per line on standard output, in the same order.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strict "sigs.k8s.io/json"
)

// The shape of the API: every field of the CRD, with the Go type that clients have for it.

type reservation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   reservationSpec   `json:"spec,omitempty"`
	Status reservationStatus `json:"status,omitempty"`
}

type reservationSpec struct {
	Template            *corev1.PodTemplateSpec `json:"template,omitempty"`
	Owners              []reservationOwner      `json:"owners,omitempty"`
	TTL                 *metav1.Duration        `json:"ttl,omitempty"`
	Expires             *metav1.Time            `json:"expires,omitempty"`
	PreAllocation       bool                    `json:"preAllocation,omitempty"`
	PreAllocationPolicy *preAllocationPolicy    `json:"preAllocationPolicy,omitempty"`
	AllocateOnce        *bool                   `json:"allocateOnce,omitempty"`
	AllocatePolicy      string                  `json:"allocatePolicy,omitempty"`
	Unschedulable       bool                    `json:"unschedulable,omitempty"`
	Taints              []corev1.Taint          `json:"taints,omitempty"`
}

type preAllocationPolicy struct {
	Mode           string `json:"mode,omitempty"`
	EnableMultiple bool   `json:"enableMultiple,omitempty"`
}

type reservationOwner struct {
	Object        *corev1.ObjectReference `json:"object,omitempty"`
	Controller    *controllerReference    `json:"controller,omitempty"`
	LabelSelector *metav1.LabelSelector   `json:"labelSelector,omitempty"`
}

type controllerReference struct {
	metav1.OwnerReference `json:",inline"`
	Namespace             string `json:"namespace,omitempty"`
}

type reservationStatus struct {
	Phase         string                   `json:"phase,omitempty"`
	Conditions    []reservationCondition   `json:"conditions,omitempty"`
	CurrentOwners []corev1.ObjectReference `json:"currentOwners,omitempty"`
	NodeName      string                   `json:"nodeName,omitempty"`
	Allocatable   corev1.ResourceList      `json:"allocatable,omitempty"`
	Allocated     corev1.ResourceList      `json:"allocated,omitempty"`
}

type reservationCondition struct {
	Type               string      `json:"type,omitempty"`
	Status             string      `json:"status,omitempty"`
	Reason             string      `json:"reason,omitempty"`
	Message            string      `json:"message,omitempty"`
	LastProbeTime      metav1.Time `json:"lastProbeTime,omitempty"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
}

type answer struct {
	Error   string   `json:"error"`   // why it does not decode at all: it breaks every list that it is in
	Unknown []string `json:"unknown"` // what decodes and means nothing
}

func decode(line []byte) answer {
	var found reservation
	unknown, err := strict.UnmarshalStrict(line, &found)
	told := answer{Unknown: []string{}}
	for _, one := range unknown {
		told.Unknown = append(told.Unknown, one.Error())
	}
	if err != nil {
		told.Error = err.Error()
	}
	return told
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	encoder := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := encoder.Encode(decode(lines.Bytes())); err != nil {
			fail(err)
		}
	}
	if err := lines.Err(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "koordinator:", err)
	os.Exit(1)
}
