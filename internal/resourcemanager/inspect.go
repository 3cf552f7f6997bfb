package resourcemanager

import "github.com/weirstream/weir/internal/resourcemanager/slotmanager"

// Slots is what the Manager believes of all slots, to be looked at and not
// changed.
func (m *Manager) Slots() *slotmanager.Manager { return m.slots }
