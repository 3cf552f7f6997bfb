// Package sim is a simulated world: processes with loops, a clock and a network
// that all run on one event queue and repeat from a seed.
//
//	World ── queue of (time, tie, number) ──▶ Step: one event
//	  Process (a life of a named process)
//	    Loop    actor.Loop: mailbox, timers, work beside the loop
//	    System  rpc.System: calls through the network
//	    clock   monotonic; it may go fast or slow and jump forward
//	    disk    slow or failing: what work beside the loop waits for
//	  network: delay, lost call, lost answer, cut one or both ways and heal, clog, jitter, reset, crash;
//	      trouble of one method
//
// A clock never goes back: endpoints tell time by the monotonic clock, which does
// not follow when somebody sets the time of day.
//
// It promises that the same seed and the same driver give the same events in the
// same order, which Trace hashes; that letters of a loop run in the order posted
// and calls of one loop to one endpoint arrive in the order made, as package rpc
// demands, and that every other order is drawn anew from the seed. Nothing in it
// is concurrent: a world belongs to one goroutine, which steps it.
//
// It takes it for a broken invariant when time does not pass, or when an event does
// not come back.
//
// It never knows what the processes do. Package sim/cluster runs Weir's
// endpoints in it.
package sim
