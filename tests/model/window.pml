/* SPDX-License-Identifier: MIT */
/*
 * The state word of a stream (lib/ring/segment.h) and its writers.  A controller starts, stops, ends and detaches the
 * stream.  At the same time W writers load the state, reserve, claim, load the state again, write and commit.
 *
 * The rings do not lap here (ring.pml covers laps), and no reader reads them.  So of claim, void and commit it only
 * matters between which loads of the state word they happen.
 *
 * The model has no clock, only the order of the clock's reads.  time counts the bounds of windows that stamps have
 * passed.  It becomes odd with the exchange that reserves START; the counter of START was read just before this.  It
 * becomes even with the read that px_clock_read_later() waits for; the counter of STOP is later.  place counts the
 * bounds in the ring of START and STOP.  A writer copies time when it reads the counter, and place when it moves head.
 *
 * With CPU each of the R rings belongs to a CPU (lib/ring/cpuring.h, C5).  START and STOP go to another ring, and
 * writers migrate.  The store of head waits in the CPU's store buffer, which has room for one store, until it drains:
 * at any time, before the next store, when another thread gets the CPU, or by the membarrier of the controller that
 * stops the stream.
 *
 * Nothing orders the second load of the state after the read of the counter in such a ring.  So with EARLY the CPU may
 * make this load early.  The membarrier is an interrupt, which discards what the CPU has loaded so.
 *
 * With AGAIN a writer reads the counter before its sequence, as for the second of two streams: it loads the state, then
 * reads the counter, then takes a slot.
 */
#ifndef W
#define W 2 /* writers */
#endif
#ifndef EVENTS
#define EVENTS 2 /* of each writer */
#endif
#ifndef R
#define R 1 /* rings; writer i writes to ring i % R, start and stop to ring 0 */
#endif
#ifndef WINDOWS
#define WINDOWS 2 /* how often the stream is started and stopped */
#endif
/* DETACH: after the windows the stream ends, and zeros replace the mapping that the writers use. */

/* The state word: high bits version, low bits state.  Memory of zeros is a stream that has ended. */
#define ENDED 0
#define STOPPED 1
#define RUNNING 2
#define STATE(word) ((word) & 3)
#ifdef BUG_NO_VERSION
#define NEXT(word, state) (state)
#else
#define NEXT(word, state) (((word) / 4 + 1) * 4 + (state))
#endif

/*
 * There are two memories: the segment, and the memory that replaces it at a detach.  A thread that has seen new memory
 * at one address does not see old memory at another address afterwards, because a page fault waits for the whole mmap.
 * So one variable selects the memory of all accesses.  BUG_DETACH_PIECEWISE has one variable for the entries and one
 * for the rest.
 */
#ifdef DETACH
#define COPIES 2
bit map, map_entries;
#else
#define COPIES 1
#define map 0
#define map_entries 0
#endif
byte state[COPIES];
byte head[COPIES * R];

byte time;
byte place;
byte finished; /* writers */

#ifdef CPU
byte buffered[R];   /* head as only its CPU sees it; 0: the buffer is empty */
byte cpu[R];	    /* 1 + the writer that has the CPU */
byte recorded[R];   /* ghost: head after the last record that will be committed */
byte closed[R];	    /* ghost: head as read by the reader that reported STOP, */
byte closed_time;   /* and the time of that read */
byte early[W];	    /* 1 + the state that the writer's CPU has loaded early; 0: none */

#define HEAD(r) (buffered[r] != 0 -> buffered[r] : head[r])

inline drain(r)
{
	head[r] = HEAD(r);
	buffered[r] = 0
}

active [R] proctype store_buffer()
{
end:	do
	:: d_step { buffered[_pid] != 0 -> drain(_pid) }
	od
}

/* A handler or a migration: the sequence restarts, perhaps on another CPU. */
active [R] proctype disturber()
{
end:	do
	:: d_step { cpu[_pid - R] != 0 -> cpu[_pid - R] = 0 }
	od
}

/* The writer leaves its CPU, and gets any CPU. */
inline get_cpu()
{
	d_step {
		if
		:: cpu[r] == me + 1 -> drain(r); cpu[r] = 0
		:: else
		fi
	}
	if
	:: r = 0
#if R > 1
	:: r = 1
#endif
	fi;
	d_step { drain(r); cpu[r] = me + 1 }
}

inline fence()
{
	r = 0;
	do
	:: r < R ->
		d_step {
			drain(r);
#ifndef BUG_EARLY_STAYS
			if
			:: cpu[r] != 0 -> early[cpu[r] - 1] = 0
			:: else
			fi;
#endif
			r++
		}
	:: else -> r = 0; break
	od
}

inline sequence()
{
#ifdef EARLY
	if
	:: early[me] = state[map] + 1
	:: true
	fi;
#endif
#ifndef AGAIN
	stamp = time;
#endif
	h = HEAD(r);
	d_step { buffered[r] == 0 -> buffered[r] = h + 1; taken = true }
}

/* After STOP the reader finds every record: all were recorded before, and none follows. */
inline close()
{
	d_step {
		r = 0;
		do
		:: r < R -> assert(recorded[r] <= head[r]); closed[r] = head[r]; r++
		:: else -> r = 0; break
		od;
		closed_time = time
	}
}
#endif

#define IS_INSIDE(bounds) ((bounds) % 2 == 1)

proctype writer(byte me)
{
	byte e, h, seen, stamp, position;
	bit written_to;
#ifdef CPU
	byte r = me % R;
	bool taken;
#endif

	do
	:: e < EVENTS ->
again:
#ifdef BUG_AGAIN_STATE_LATE
		stamp = time;
#endif
		seen = state[map];
		if
		:: STATE(seen) != RUNNING -> skip /* no effect */
		:: STATE(seen) == RUNNING ->
#ifdef CPU
			if
			:: cpu[r] == me + 1 /* still on its CPU */
			:: get_cpu()
			fi;
#if defined AGAIN && !defined BUG_AGAIN_STATE_LATE
			stamp = time;
#endif
			{ sequence() } unless { cpu[r] != me + 1 };
			if
			:: !taken -> early[me] = 0; goto again
			:: taken -> taken = false
			fi;
			atomic {
				position = (early[me] != 0 -> early[me] - 1 : state[map]);
				early[me] = 0;
				if
				:: position != seen -> goto again
				:: else ->
					assert(IS_INSIDE(stamp));
					assert(closed_time <= stamp || h < closed[r]);
					recorded[r] = (recorded[r] > h -> recorded[r] : h + 1)
				fi
			}
#else
			do
			::
				h = head[map * R + me % R];
				stamp = time;
				atomic {
					if
					:: head[map * R + me % R] == h ->
						head[map * R + me % R] = h + 1;
						position = place;
						break
					:: else
					fi
				}
			od;
#ifndef BUG_NO_RECHECK
			if
			:: state[map] != seen -> goto again
			:: else
			fi;
#endif
			written_to = map_entries;
			atomic {
				/* The stamp is in the window; in the ring of START and STOP the position is too. */
				assert(map == 1 || IS_INSIDE(stamp));
				assert(map == 1 || me % R != 0 || position == stamp);
				/* A record committed in the segment was written in the segment. */
				assert(map == 1 || written_to == 0)
			}
#endif
		fi;
		h = 0;
		seen = 0;
		stamp = 0;
		position = 0;
		written_to = 0;
		e++
	:: else -> break
	od;
	finished++
}

/* START and STOP: reserve, claim, write, commit in ring 0. */
inline control_record(is_start)
{
#ifdef CPU
	time = time + is_start
#else
	do
	::
		h = head[map * R];
		atomic {
			if
			:: head[map * R] == h ->
				head[map * R] = h + 1;
				place++;
				if
				:: is_start -> time++
				:: else
				fi;
				break
			:: else
			fi
		}
	od
#endif
}

inline set_state(new)
{
	state[map] = NEXT(state[map], new)
}

inline start()
{
#ifdef BUG_START_RUNS_FIRST
	set_state(RUNNING);
	control_record(true)
#else
	control_record(true);
	set_state(RUNNING)
#endif
}

inline stop()
{
#ifdef BUG_STOP_RECORDS_FIRST
	time++;
	control_record(false);
	set_state(STOPPED);
#else
#ifdef BUG_FENCE_FIRST
	fence();
#endif
#ifdef BUG_STOP_COUNTER_FIRST
	time++;
	set_state(STOPPED);
#else
	set_state(STOPPED);
#if defined CPU && !defined BUG_NO_FENCE && !defined BUG_FENCE_FIRST
	fence();
#endif
	time++;
#endif
	control_record(false);
#endif
#ifdef CPU
	close()
#endif
	skip
}

active proctype controller()
{
	byte k, h, r;

	set_state(STOPPED);
	do
	:: k < WINDOWS -> start(); stop(); k++
	:: else -> break
	od;
#ifdef DETACH
	start();
	state[map] = ENDED;
#ifdef BUG_DETACH_PIECEWISE
	map_entries = 1;
	map = 1
#else
	atomic { map_entries = 1; map = 1 }
#endif
#endif
}

init {
	atomic {
		run writer(0);
		run writer(1);
#if W > 2
		run writer(2);
#endif
	}
	finished == W /* no writer is blocked */
}
