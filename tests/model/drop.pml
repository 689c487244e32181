/* SPDX-License-Identifier: MIT */
/*
 * Edge drop of lib/ring/ring.h: writers drop events while a full stream starts again (px_on_no_room() in
 * lib/trace/check_state.c, px_stream_start() in lib/stream/stream.c).
 *
 * A writer that has found no room loads the state, adds to `dropped`, and loads the state again.  If the run has changed,
 * it marks the loss itself.  The controller takes `dropped` for the marks of START, records START, stores RUNNING, and
 * loads `dropped` again.  If there are more drops, it marks the loss.  Each drop must have a mark in the end.
 *
 * A store may wait in the store buffer of its CPU.  It drains at any time; the exchange of the state and the addition
 * to `dropped` drain it at once.
 */
#ifndef W
#define W 2 /* writers */
#endif

byte running;	  /* changes with RUNNING */
bool waits;	  /* the store of RUNNING is in the store buffer */
byte dropped;
byte in_start;	  /* drops that the marks of START have */
byte late;	  /* drops that the controller has marked after START */
bool by_writer[W];
byte place[W];	  /* the number of the drop of this writer, from 1 */
byte done;

inline load_dropped(to)
{
	to = dropped
}

active [W] proctype writer()
{
	byte seen, now;

	/* Writers that drop before the run has changed; any later one finds room. */
	seen = running;
	if
	:: seen != 0 -> goto end
	:: else
	fi;
#ifdef BUG_STATE_FIRST
	now = running;
	atomic { dropped++; place[_pid] = dropped };
#else
	atomic { dropped++; place[_pid] = dropped };
	now = running;
#endif
	if
	:: now != seen -> by_writer[_pid] = true
	:: else
	fi;
end:
	done++
}

active proctype controller()
{
	load_dropped(in_start);
#ifdef BUG_COUNT_FIRST
	load_dropped(late);
	running = 1;
#else
#ifdef BUG_BUFFERED
	waits = true;
#else
	running = 1;
#endif
	load_dropped(late);
#endif
	if
	:: waits -> atomic { running = 1; waits = false }
	:: else
	fi;
	done++
}

active proctype check()
{
	byte i;

	done == W + 1;
	for (i : 0 .. W - 1) {
		assert(place[i] == 0 || place[i] <= in_start || place[i] <= late || by_writer[i])
	}
}
