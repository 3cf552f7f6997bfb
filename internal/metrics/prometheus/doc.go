// Package prometheus tells metrics to Prometheus, in its text format, under the
// names and labels of Flink's Prometheus reporter, so that dashboards made for
// Flink find them.
//
// It promises that a page is whole and well formed whatever operators and jobs
// are called, and that metrics are asked for only when somebody looks. Of two
// metrics that come to have one name and one set of labels it shows the first.
// It never pushes and keeps nothing between two looks.
package prometheus
