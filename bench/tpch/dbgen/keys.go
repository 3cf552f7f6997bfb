package main

// suppliersPerPart is how many suppliers sell each part.
const suppliersPerPart = 4

// keys are the ranges of the tables' keys, which begin at 1.
type keys struct {
	suppliers, customers, parts, orders int64
	whole                               bool // the ranges are TPC-H's, and no key has to be changed
}

// keysOf says how many rows the tables of a scale factor have. The number of
// customers divides by 3, because every third customer has no orders.
func keysOf(scale float64) keys {
	n := func(base float64) int64 { return int64(base*scale + 0.5) }
	k := keys{suppliers: n(10_000), customers: n(150_000), parts: n(200_000), orders: n(1_500_000), whole: scale >= 1}
	k.customers -= k.customers % 3
	return k
}

func (k keys) customer(key int64) int64 { return (key-1)%k.customers + 1 }

func (k keys) part(key int64) int64 { return (key-1)%k.parts + 1 }

// supplier is the i-th of the suppliers of a part: four that differ, whatever the
// scale factor. TPC-H's own rule would name one twice where there are few.
func (k keys) supplier(part, i int64) int64 {
	return (part+i*(k.suppliers/suppliersPerPart))%k.suppliers + 1
}

// price is the retail price of a part in cents, as TPC-H defines it.
func price(part int64) int64 {
	return 90_000 + part/10%20_001 + 100*(part%1_000)
}
