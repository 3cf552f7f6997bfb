package gateway

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// fill gives every field of a struct a value of its own, slices one element.
func fill(v reflect.Value, next *int64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), next)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.String:
		*next++
		v.SetString(string(rune('a' + *next%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		*next++
		v.SetFloat(float64(*next))
	default:
		*next++
		v.SetInt(*next)
	}
}

// Every field of the figures goes through a message unharmed.
func TestFiguresTravelWhole(t *testing.T) {
	var next int64
	var task status.TaskFigures
	fill(reflect.ValueOf(&task).Elem(), &next)
	var taskMessage pb.TaskFigures
	travel(t, TaskFiguresToProto(&task), &taskMessage)
	if got := TaskFiguresFromProto(&taskMessage); !reflect.DeepEqual(got, &task) {
		t.Errorf("a task's figures arrive as %+v, sent were %+v", got, &task)
	}
	var process status.ProcessFigures
	fill(reflect.ValueOf(&process).Elem(), &next)
	var processMessage pb.ProcessFigures
	travel(t, ProcessFiguresToProto(&process), &processMessage)
	if got := ProcessFiguresFromProto(&processMessage); !reflect.DeepEqual(got, &process) {
		t.Errorf("a process's figures arrive as %+v, sent were %+v", got, &process)
	}
	if TaskFiguresFromProto(nil) != nil || TaskFiguresToProto(nil) != nil || ProcessFiguresFromProto(nil) != nil || ProcessFiguresToProto(nil) != nil {
		t.Error("what is not there must stay so")
	}
}

// Zero counts are left out of a message, and come back as zero.
func TestAnIdleTaskCostsLittle(t *testing.T) {
	var m pb.TaskFigures
	travel(t, TaskFiguresToProto(&status.TaskFigures{}), &m)
	if got := TaskFiguresFromProto(&m); !reflect.DeepEqual(got, &status.TaskFigures{}) {
		t.Errorf("got %+v", got)
	}
}

func travel(t *testing.T, from, to proto.Message) {
	t.Helper()
	wire, err := proto.Marshal(from)
	if err == nil {
		err = proto.Unmarshal(wire, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}
