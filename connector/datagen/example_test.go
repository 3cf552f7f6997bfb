package datagen_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/weirstream/weir/connector/datagen"
	"github.com/weirstream/weir/stream"
)

func ExampleSource() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	dice := datagen.Source[string]{
		Records: 3, Seed: 1,
		Make: func(n int64, random *rand.Rand) string { return fmt.Sprint("throw ", n, " is ", random.IntN(6)+1) },
	}
	stream.FromSource(env, dice).Print()
	if err := env.Execute(context.Background(), "dice"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// throw 0 is 4
	// throw 1 is 6
	// throw 2 is 5
}
