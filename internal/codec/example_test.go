package codec_test

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/weirstream/weir/internal/codec"
)

type Bid struct {
	Auction string
	Price   int64
}

func Example() {
	plan, err := codec.For[Bid]()
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := []Bid{{"lamp", 12}, {"chair", 40}}
	frame, err := plan.Append(nil, batch)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d bytes\n%q\n", len(frame), frame)

	bids, rest, err := plan.Decode(nil, 2, frame)
	fmt.Println(bids, len(rest), err)

	_, _, err = plan.Decode(nil, 2, frame[:20])
	fmt.Println(errors.Is(err, codec.ErrCorrupt), err)
	// Output:
	// 33 bytes
	// "\x04\x00\x00\x00\t\x00\x00\x00lampchair\f\x00\x00\x00\x00\x00\x00\x00(\x00\x00\x00\x00\x00\x00\x00"
	// [{lamp 12} {chair 40}] 0 <nil>
	// true decode 2 values of codec_test.Bid from 20 bytes: corrupt encoding
}

func ExampleTypeError() {
	type Line struct{ Done chan bool }
	type Order struct{ Items []Line }
	fmt.Println(codec.Check(reflect.TypeFor[Order]()))
	// Output:
	// codec: Order.Items[].Done (chan bool) in type codec_test.Order: a channel cannot be encoded: remove it or tag the field weir:"-" to leave it out
}

func ExamplePlan_AppendKey() {
	type Place struct {
		Country string
		Zip     int32
	}
	plan, err := codec.For[Place]()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", plan.AppendKey(nil, &Place{"DE", 10115}))
	// Output:
	// "\x02DE\x83'\x00\x00"
}
