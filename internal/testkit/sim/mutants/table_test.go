package main

import "testing"

// TestTableIsCurrent checks that every defect can be put where the table says,
// and that the table has enough of them.
func TestTableIsCurrent(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	names, played := map[string]bool{}, 0
	for i := range mutants {
		m := &mutants[i]
		if names[m.name] {
			t.Errorf("two defects have the name %s", m.name)
		}
		names[m.name] = true
		if m.name == "" || m.breaks == "" || m.old == m.new {
			t.Errorf("defect %q says too little: %+v", m.name, m)
		}
		if m.survives == "" {
			played++
		}
		if _, _, err := m.changed(root); err != nil {
			t.Error(err)
		}
	}
	if played < 40 {
		t.Errorf("%d defects are played, want 40", played)
	}
}
