package parquet

import (
	"encoding/binary"

	"slices"

	"github.com/weirstream/weir/batch"
)

// texts appends n values to a column of texts, whose length is the caller's matter.
func (v *values) texts(c *batch.Column, n int, d *dictionary) error {
	if v.size > 0 && v.form != indexed {
		return v.fixedTexts(c, n, d)
	}
	data, offsets := c.Data, c.Offsets
	var err error
	switch v.form {
	case plain:
		data, offsets, err = v.plainTexts(data, offsets, n)
	case indexed:
		data, offsets, err = v.indexedTexts(data, offsets, n, d)
	default:
		for range n {
			var text []byte
			if text, err = v.nextText(); err == nil && len(data)+len(text) > maxData {
				err = errTooLong
			}
			if err != nil {
				break
			}
			data = append(data, text...)
			offsets = append(offsets, int32(len(data)))
		}
	}
	c.Data, c.Offsets = data, offsets
	return err
}

// fixedTexts appends values that have all the same size.
func (v *values) fixedTexts(c *batch.Column, n int, d *dictionary) error {
	from := len(c.Data)
	if n > (maxData-from)/v.size {
		return errTooLong
	}
	c.Data = slices.Grow(c.Data, n*v.size)[:from+n*v.size]
	for i := range n {
		c.Offsets = append(c.Offsets, int32(from+(i+1)*v.size))
	}
	return v.fixed(c.Data[from:], d)
}

// plainTexts appends texts, each behind its length.
func (v *values) plainTexts(data []byte, offsets []int32, n int) ([]byte, []int32, error) {
	text := v.text
	for range n {
		if len(text) < 4 {
			return data, offsets, errEarly
		}
		k := uint64(binary.LittleEndian.Uint32(text))
		if k > uint64(len(text)-4) {
			return data, offsets, errEarly
		}
		data = append(data, text[4:4+k]...)
		text = text[4+k:]
		if len(data) > maxData {
			return data, offsets, errTooLong
		}
		offsets = append(offsets, int32(len(data)))
	}
	v.text = text
	return data, offsets, nil
}

// indexedTexts appends texts of the dictionary.
func (v *values) indexedTexts(data []byte, offsets []int32, n int, d *dictionary) ([]byte, []int32, error) {
	for n > 0 {
		m := min(n, some)
		if err := v.hybrid.numbers(v.places[:m]); err != nil {
			return data, offsets, err
		}
		for _, k := range v.places[:m] {
			if int(k) >= d.count {
				return data, offsets, errPlace(k, d.count)
			}
			data = append(data, d.data[d.offsets[k]:d.offsets[k+1]]...)
			if len(data) > maxData {
				return data, offsets, errTooLong
			}
			offsets = append(offsets, int32(len(data)))
		}
		n -= m
	}
	return data, offsets, nil
}

// nextText gives the next text of those whose lengths are apart.
func (v *values) nextText() ([]byte, error) {
	if v.form == prefixedBy {
		return v.suffixed()
	}
	if v.at >= len(v.lengths) || int(v.lengths[v.at]) > len(v.text) {
		return nil, errEarly
	}
	k := v.lengths[v.at]
	text := v.text[:k]
	v.text = v.text[k:]
	v.at++
	return text, nil
}
