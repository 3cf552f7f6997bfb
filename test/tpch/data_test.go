package tpch_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The tables are much smaller than those of scale factor 0.001, and their values
// are drawn from short lists, so that every query still finds something.
const (
	suppliers = 36
	customers = 150
	parts     = 200
	orders    = 900
)

// nations are TPC-H's, each with its region.
var nations = []struct {
	name   string
	region int
}{
	{"ALGERIA", 0}, {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1}, {"EGYPT", 4}, {"ETHIOPIA", 0}, {"FRANCE", 3}, {"GERMANY", 3}, {"INDIA", 2},
	{"INDONESIA", 2}, {"IRAN", 4}, {"IRAQ", 4}, {"JAPAN", 2}, {"JORDAN", 4}, {"KENYA", 0}, {"MOROCCO", 0}, {"MOZAMBIQUE", 0}, {"PERU", 1},
	{"CHINA", 2}, {"ROMANIA", 3}, {"SAUDI ARABIA", 4}, {"VIETNAM", 2}, {"RUSSIA", 3}, {"UNITED KINGDOM", 3}, {"UNITED STATES", 1},
}

var (
	regions = []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}
	// homes are the nations that queries ask for, and some others.
	homes        = []int{2, 3, 6, 7, 8, 12, 18, 20, 24}
	colors       = []string{"forest", "green", "red", "blue"}
	types        = [3][]string{{"ECONOMY", "PROMO", "MEDIUM"}, {"ANODIZED", "POLISHED"}, {"STEEL", "BRASS"}}
	brands       = []string{"Brand#12", "Brand#23", "Brand#34", "Brand#45"}
	containers   = []string{"SM CASE", "SM BOX", "MED BOX", "MED BAG", "LG CASE", "LG PKG"}
	sizes        = []int{49, 14, 23, 45, 19, 3, 36, 9, 15, 1, 5}
	segments     = []string{"BUILDING", "AUTOMOBILE"}
	priorities   = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}
	modes        = []string{"AIR", "MAIL", "SHIP"}
	instructions = []string{"DELIVER IN PERSON", "NONE"}
	remarks      = []string{"quick, bold deposits", "special packages and requests", "ideas sleep", `the "final" accounts`, "Customer recommends, no Complaints"}
)

// A generator draws values from a seed, so that the tables are always the same.
type generator struct {
	*rand.Rand
	tables map[string]*strings.Builder
}

// generate writes all tables below a directory.
func generate(t *testing.T, dir string) {
	t.Helper()
	g := generator{rand.New(rand.NewPCG(7, 22)), map[string]*strings.Builder{}}
	for i, name := range regions {
		g.row("region", i, name, g.remark())
	}
	for i, n := range nations {
		g.row("nation", i, n.name, n.region, g.remark())
	}
	for i := range suppliers {
		home := homes[i%len(homes)]
		g.row("supplier", i+1, fmt.Sprintf("Supplier#%09d", i+1), g.address(), home, g.phone(home), g.balance(), g.remark())
	}
	for i := range customers {
		home := homes[g.IntN(len(homes))]
		g.row("customer", i+1, fmt.Sprintf("Customer#%09d", i+1), g.address(), home, g.phone(home), g.balance(), one(g, segments), g.remark())
	}
	for i := range parts {
		g.row("part", i+1, one(g, colors)+" "+one(g, colors), fmt.Sprintf("Manufacturer#%d", 1+i%5), one(g, brands),
			one(g, types[0])+" "+one(g, types[1])+" "+one(g, types[2]), one(g, sizes), one(g, containers), money(price(i+1)), g.remark())
		for s := range 4 {
			g.row("partsupp", i+1, supplier(i+1, s), 1+g.IntN(9999), money(100+g.IntN(99_900)), g.remark())
		}
	}
	for i := range orders {
		g.order(i)
	}
	for name, text := range g.tables {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, name+".csv"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func one[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

// supplier is one of the four of a part.
func supplier(part, i int) int { return (part*7+i*9)%suppliers + 1 }

// price of a part in cents.
func price(part int) int { return 90_000 + part*137%60_000 }

func money(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

func (g generator) address() string {
	return fmt.Sprintf("%d, %s street", 1+g.IntN(99), one(g, colors))
}

func (g generator) remark() string { return one(g, remarks) }

func (g generator) phone(nation int) string {
	return fmt.Sprintf("%d-%03d-%04d", nation+10, g.IntN(1000), g.IntN(10_000))
}

func (g generator) balance() string {
	cents := g.IntN(1_100_000) - 100_000
	if cents < 0 {
		return "-" + money(-cents)
	}
	return money(cents)
}

var firstDay = time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)

func date(day int) string { return firstDay.AddDate(0, 0, day).Format(time.DateOnly) }

// order writes an order with its lines. Every third customer has none, and every
// fiftieth order is large.
func (g generator) order(i int) {
	key, day := int64(i/8*32+i%8+1), g.IntN(2400)
	customer := 1 + g.IntN(customers/3)*3 + g.IntN(2)
	lines, least := 1+g.IntN(7), 1
	if i%50 == 0 {
		lines, least = 7, 42
	}
	total, shipped := 0, 0
	for l := range lines {
		part := 1 + g.IntN(parts)
		quantity := least + g.IntN(51-least)
		discount, tax := g.IntN(11), g.IntN(9)
		ship := day + 1 + g.IntN(121)
		commit, receipt := day+30+g.IntN(61), ship+1+g.IntN(30)
		cost := quantity * price(part)
		total += cost * (100 - discount) / 100 * (100 + tax) / 100
		flag, status := "N", "O"
		if receipt <= 1263 {
			flag = one(g, []string{"R", "A"})
		}
		if ship <= 1263 {
			status = "F"
			shipped++
		}
		g.row("lineitem", key, part, supplier(part, g.IntN(4)), l+1, strconv.Itoa(quantity)+".00", money(cost), money(discount), money(tax), flag, status,
			date(ship), date(commit), date(receipt), one(g, instructions), one(g, modes), g.remark())
	}
	status := "P"
	if shipped == 0 {
		status = "O"
	} else if shipped == lines {
		status = "F"
	}
	g.row("orders", key, customer, status, money(total), date(day), one(g, priorities), fmt.Sprintf("Clerk#%09d", 1+g.IntN(9)), 0, g.remark())
}

// row writes a line, with texts in quotes that have a comma or a quote.
func (g generator) row(table string, values ...any) {
	b := g.tables[table]
	if b == nil {
		b = &strings.Builder{}
		g.tables[table] = b
	}
	for i, v := range values {
		text := fmt.Sprint(v)
		if strings.ContainsAny(text, `,"`) {
			text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
		if i > 0 {
			text = "," + text
		}
		b.WriteString(text)
	}
	b.WriteString("\n")
}
