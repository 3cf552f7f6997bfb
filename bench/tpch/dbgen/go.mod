module github.com/weirstream/weir/bench/tpch/dbgen

go 1.27

require github.com/pingcap/go-tpc v1.0.7
