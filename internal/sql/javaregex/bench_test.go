package javaregex

import "testing"

// The expression of a channel's number in an address, as analyses of clicks have it.
func BenchmarkFirst(b *testing.B) {
	p, err := Compile(`(&|^)channel_id=([^&]*)`)
	if err != nil {
		b.Fatal(err)
	}
	text := []byte("https://www.nexmark.com/abc/def/ghi/item.htm?query=1&channel_id=1234567")
	b.Run("machine", func(b *testing.B) {
		var groups []int
		b.ReportAllocs()
		for b.Loop() {
			groups = p.First(groups[:0], text)
		}
	})
	b.Run("regexp", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.re.FindSubmatchIndex(text)
		}
	})
}
