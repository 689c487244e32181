/* SPDX-License-Identifier: MIT */
/*
 * The ring protocol of lib/ring/ring.h.  W writers reserve, claim, write, commit, void and skip.  One reader looks,
 * copies, consumes, steps over, reclaims and clears.  One writer may be killed at any step.  Each access to shared
 * memory is a separate step: a d_step or atomic contains one access, or is a compare-exchange.  Everything else in it
 * is local, or a ghost: a variable that only the properties read.
 *
 * With CPU it is the ring of a CPU (lib/ring/cpuring.h): reserve and claim are a sequence, which restarts if it is
 * disturbed at any step.  A writer that migrates takes its event to the ring of another CPU, and does not return to
 * this ring.  A writer that comes from another CPU is one that starts late.  Outside of the sequence all writers run at
 * the same time, on any CPU.
 *
 * Configurations set these macros (run.sh, README), and those with a default below:
 *
 *	CPU		the ring of a CPU
 *	KILL		writer 0 is killed at some step, or not at all
 *	PATIENCE	the reader may step over any writer at any time, not only over a dead one
 *	CLEAR		the reader clears once, at any time
 *	ASIDE		the reader sets a claimed reservation aside, and revokes those that are not claimed; LET_GO: the
 *			tail of a bounded ring stays at the slot only for a time
 *	MAKE_WAY	with KILL: a writer that finds a slot held frees the slots of the dead
 *	LEAVE		a handler leaves one call of writer 0 at some step, or none; the writer frees its claim, and goes on
 *	COUNTER		stamps (R2)
 *	LOST		first_lost; LOST_AT_CLAIM: saved as README proposes; R5: also checked
 *	LOSS		overwritten records are counted, with `further` and `extra` (R7)
 *	GIVE_UP		with LOSS: writer 0 may give up slots that it has claimed, as after a change of the state
 *	MARKS		an event whose attempts have all failed is marked and counted; the reader takes the marks
 *	FEW		with CPU: a writer tries the sequence for a few slots first
 *	AGAIN		with CPU and COUNTER: a writer tries first to take slots with a counter that it has read before
 *	NO_READER	writers only
 *	BUG_...		mistakes that have to be found
 */
#ifndef N
#define N 2 /* slots */
#endif
#ifndef W
#define W 2 /* writers */
#endif
#ifndef EVENTS_0
#define EVENTS_0 2 /* events of writer 0 */
#endif
#ifndef EVENTS
#define EVENTS 2 /* events of each other writer */
#endif
#ifndef SIZE_0
#define SIZE_0 1 /* slots of a record of writer 0 */
#endif
#ifndef SIZE
#define SIZE 1 /* slots of a record of the others */
#endif
/* A size of 3 means two slots and one slot in turn. */
#ifndef LIMIT
#define LIMIT 0 /* bounded ring: most slots reserved and not consumed; 0: loop */
#endif
#ifndef TRIES
#define TRIES 2 /* claims of one event */
#endif
#ifndef SKIPS
#define SKIPS POSITIONS /* room for skip notes; with less, notes hide each other */
#endif

#define FIRST_POSITION N /* so that head - N is never negative */
#define POSITIONS 40

#define FREE 0
#define CLAIMED 1
#define HEAD 2
#define MORE 3
#define VOID 4
#define WORD(position, tid, state) ((position) << 6 | (tid) << 3 | (state))
#define STATE(word) ((word) & 7)
#define TID(word) ((word) >> 3 & 7)
#define POSITION(word) ((word) >> 6)
#define SLOT(position) ((position) % N)
#define TOKEN(writer, event) (1 + (writer) * 8 + (event)) /* names an event; 0: none */
#define EVENTS_OF(writer) ((writer) == 0 -> EVENTS_0 : EVENTS)
#define TURNS(size, token) (size == 3 -> 1 + (token) % 2 : size)
#define SIZE_OF(token) ((token) <= 8 -> TURNS(SIZE_0, token) : TURNS(SIZE, token))

byte head = FIRST_POSITION;
byte tail = FIRST_POSITION;
short word[N]; /* zeroed: FREE */
byte first[N]; /* two cells of data: a copy can be torn between them */
byte second[N];
short skipped[SKIPS];
byte finished; /* writers that have ended, or are dead */
byte killed;   /* tid */
#ifdef LEAVE
bool leaves;
#endif

/*
 * Ghosts by position.  pos is the position of the reader.  Ghosts below pos are reset if nothing depends on them any
 * more, which gives fewer states.
 */
#define REPORTED 0
#define NOTHING 1 /* no record begins here, and none will */
#define LAPPED 2
#define STEPPED 3
byte pos = FIRST_POSITION;
bit is_nothing[POSITIONS];
bit committed[POSITIONS];
byte token_at[POSITIONS];
#ifdef KILL
byte reserver[POSITIONS]; /* tid */
#endif

#ifdef COUNTER
byte clock;
byte last_counter;
/* The bound keeps the model finite: a disturbed writer reads the clock again and again. */
#define READ_CLOCK d_step { clock = (clock <= last_counter + W -> clock + 1 : clock); c = clock }
#endif
#ifdef LOST
/* Counters rise with positions, so a position is its own counter here. */
byte counter[N]; /* in a further slot of a record: data */
#define GARBAGE 255
#ifdef LOST_AT_CLAIM
#define NO_COUNTER 254
byte first_lost = NO_COUNTER; /* the least counter of all overwritten records */
#else
byte first_lost; /* only ever raised */
#endif
#endif

#ifdef LOSS
byte further;	  /* further slots of records */
byte extra;	  /* other slots that begin no record */
byte extra_of[N]; /* extra as the writer of the record read it */
short unreported; /* ghost: records committed and not reported */
short overwritten;
short reader_extra; /* extra of all positions below pos */
#endif
#ifdef MARKS
#define MARKS_MAX 4
byte nr_marks, mark[MARKS_MAX], given_up;
byte nr_taken; /* marks that the reader has taken */
#endif
#ifdef CPU
byte cpu; /* tid of the writer that is in a sequence; 0: none */
#endif

#ifdef ASIDE
byte aside;  /* position that was set aside; 0: none */
bool let_go; /* the tail has passed it */
#define IS_ASIDE(position) (aside == (position))
#else
#define IS_ASIDE(position) false
#endif

#define DEAD(tid) (killed != 0 && (tid) == killed)
#define IS_BEHIND(w, position) (STATE(w) == FREE || POSITION(w) < (position))
#define IS_AHEAD(w, position) (STATE(w) != FREE && POSITION(w) > (position))
#define MINE(position) (word[SLOT(position)] == WORD(position, me + 1, CLAIMED))

/* Writers. */

inline save_first_lost()
{
	k = t;
	do
	:: k != t + N ->
		seen = word[SLOT(k)];
		if
		:: POSITION(seen) != k || STATE(seen) == FREE || STATE(seen) == CLAIMED -> break
		:: POSITION(seen) == k && STATE(seen) == HEAD ->
			lost = counter[SLOT(k)];
#ifndef BUG_LOST_UNCHECKED
			if
			:: word[SLOT(k)] != seen -> break
			:: else
			fi;
#endif
			d_step {
				/* This is the counter of the seen record, never data. */
				assert(lost == k);
				if
				:: lost > first_lost -> first_lost = lost
				:: else
				fi
			}
			break
		:: POSITION(seen) == k && (STATE(seen) == MORE || STATE(seen) == VOID) -> k++
		fi
	:: else -> break
	od
}

inline move_head(count)
{
	head = h + count;
	token_at[h] = token;
#ifdef KILL
	k = 0;
	do
	:: k < count -> reserver[h + k] = me + 1; k++
	:: else -> k = 0; break
	od;
#endif
#ifdef COUNTER
	/* R2 */
	assert(c >= last_counter);
	last_counter = c;
#endif
#if defined LOSS && !defined BUG_FURTHER_LATER
	further = further + count - 1;
#endif
	skip
}

inline reserve()
{
	do
	::
#if LIMIT
		t = tail;
		h = head;
		if
		:: h + n - t > LIMIT ->
			/* Full: the event waits for the reader, so that the search finds a reader that stops. */
			head + n - tail <= LIMIT -> goto again
		:: else
		fi;
#else
		h = head;
#endif
#ifdef LOSS
		x = extra;
		x = x + further;
#endif
#if defined COUNTER && !defined BUG_COUNTER_FIRST
		READ_CLOCK
#endif
		atomic {
			if
#ifdef BUG_RESERVE_STORE
			:: true ->
#else
			:: head == h ->
#endif
				move_head(n);
				break
			:: else
			fi
		}
	od;
#if defined LOST && !defined LOST_AT_CLAIM
	t = tail;
	if
	:: t + N >= h && t + N - h < n -> save_first_lost()
	:: else
	fi;
#endif
	skip
}

/* Claim one slot.  got: it is claimed. */
inline claim_one(position)
{
	do
	:: atomic {
		seen = word[SLOT(position)];
		if
#ifndef BUG_CLAIM_OVER_CLAIMED
		:: STATE(seen) == CLAIMED -> got = false; break
#endif
#ifndef BUG_CLAIM_OVER_NEWER
#if defined ASIDE && !defined BUG_CLAIM_REVOKED
		:: STATE(seen) != CLAIMED && STATE(seen) != FREE && POSITION(seen) >= position ->
#else
		:: STATE(seen) != CLAIMED && STATE(seen) != FREE && POSITION(seen) > position ->
#endif
			got = false; break
#endif
		:: else
		fi
	   }
#ifdef LOST_AT_CLAIM
	   if
	   :: STATE(seen) == HEAD && POSITION(seen) >= tail ->
		lost = counter[SLOT(position)];
		if
		:: word[SLOT(position)] == seen ->
			d_step {
				assert(lost == POSITION(seen));
				if
				:: lost < first_lost -> first_lost = lost
				:: else
				fi
			}
		:: else
		fi
	   :: else
	   fi;
#endif
	   atomic {
		if
#ifdef BUG_CLAIM_STORE
		:: true ->
#else
		:: word[SLOT(position)] == seen ->
#endif
			word[SLOT(position)] = WORD(position, me + 1, CLAIMED);
			/* R4 */
			assert(LIMIT == 0 || position - N < tail);
#ifdef R5
#ifdef LOST_AT_CLAIM
			assert(STATE(seen) != HEAD || POSITION(seen) < tail ||
			       first_lost <= POSITION(seen));
#else
			assert(STATE(seen) != HEAD || POSITION(seen) != tail ||
			       first_lost >= tail);
#endif
#endif
			got = true;
			break
		:: else
		fi
	   }
	od
}

inline void(position)
{
	d_step {
		assert(MINE(position)); /* R1 R6 */
		word[SLOT(position)] = WORD(position, 0, VOID)
	}
}

inline skip_slot(position)
{
#ifdef BUG_NO_SKIP
	skip
#elif SKIPS < POSITIONS
	skipped[(position) % SKIPS] = (position) + 1
#else
	skipped[position] = ((position) >= pos -> (position) + 1 : 0)
#endif
}

inline claim()
{
	i = 0;
	do
	:: i < n ->
		claim_one(h + i);
		if
		:: got -> i++
		:: else -> break
		fi
	:: else -> break
	od;
	if
	:: i == n
	:: i != n && n == 1 -> skip_slot(h)
	:: i != n && n != 1 ->
#ifndef BUG_PARTIAL_CLAIM
		k = 0;
		do
		:: k < i -> void(h + k); k++
		:: else -> k = 0; break
		od;
#endif
		do
		:: i < n ->
			claim_one(h + i);
			if
			:: got -> void(h + i)
			:: else -> skip_slot(h + i)
			fi;
			i++
		:: else -> break
		od;
		got = false
	fi;
	i = 0
}

#ifdef CPU
#ifdef BUG_LEFTOVER_REFUSED
#define IS_HELD_AT(position) true
#else
#define IS_HELD_AT(position) (POSITION(seen) != position)
#endif
#ifdef BUG_PASS_LATER /* one sequence finds the held slot, and another one passes it without checking it */
#define EXPECTED (held != 0 -> held - 1 : n)
#else
#define EXPECTED n
#endif
#ifdef BUG_NO_RESTART
#define IS_DISTURBED false
#else
#define IS_DISTURBED (cpu != me + 1)
#endif

inline read_extra()
{
#ifdef LOSS
	x = further;
	x = x + extra;
#endif
	skip
}

/*
 * The sequence for a few slots: one loop checks and claims them.  If it finds a claim, or no room, it has done nothing:
 * the claims that it leaves behind are not reserved.  With AGAIN, so is the sequence for an event with a counter.
 */
inline sequence_of_few()
{
#if defined COUNTER && !defined AGAIN
	READ_CLOCK
#endif
	h = head;
#if defined AGAIN && !defined BUG_AGAIN_UNCHECKED
	if
	:: h != expected -> cpu = 0
	:: else
	fi;
#endif
#if LIMIT
	t = tail;
	if
	:: h + n - t > LIMIT -> cpu = 0
	:: else
	fi;
#endif
#ifdef BUG_FEW_HEAD_FIRST
	atomic { move_head(n); k = 0 }
#endif
	do
	:: i < n ->
		seen = word[SLOT(h + i)];
		if
#ifdef BUG_FEW_PASSES
		:: STATE(seen) == CLAIMED -> i++
#else
#ifndef BUG_FEW_NO_CHECK
		:: STATE(seen) == CLAIMED -> cpu = 0
#endif
#endif
		:: else ->
			d_step {
				assert(STATE(seen) == FREE || POSITION(seen) <= h + i); /* C2 */
				assert(LIMIT == 0 || h + i - N < tail); /* R4 */
				word[SLOT(h + i)] = WORD(h + i, me + 1, CLAIMED);
				i++
			}
		fi
	:: else -> break
	od;
	read_extra();
#if defined LEAVE && !defined BUG_LEFT_NOTE_LATE
	note = h;
#endif
	atomic {
#ifndef BUG_FEW_HEAD_FIRST
		move_head(n);
#endif
		k = 0;
		taken = true;
		cpu = 0
	}
}

/*
 * Only the last step takes effect, but the stores of earlier steps remain visible to others.  got: the slots are
 * claimed; else slot i is held, and the slots before it are void.
 */
inline sequence()
{
#if defined COUNTER && !defined BUG_COUNTER_FIRST
	READ_CLOCK
#endif
	h = head;
#if LIMIT
	t = tail;
	if
	:: h + n - t > LIMIT -> d_step { no_room = true; cpu = 0 }
	:: else
	fi;
#endif
	do
	:: i < EXPECTED && got ->
		seen = word[SLOT(h + i)];
		if
#ifndef BUG_NO_CLAIM_CHECK
		:: STATE(seen) == CLAIMED && IS_HELD_AT(h + i) ->
#ifdef BUG_PASS_LATER
			d_step { held = i + 1; passes = true; cpu = 0 }
#else
			got = false
#endif
#endif
		:: else -> i++
		fi
	:: else -> break
	od;
#ifdef BUG_PASS_LATER
	got = (held == 0);
#endif
	read_extra();
#ifdef BUG_HEAD_FIRST
	atomic { advance = (got -> n : i + 1); move_head(advance); k = 0 }
#endif
	do
	:: k < i ->
		d_step {
			/* C2: the old word is older, or left over. */
			assert(STATE(word[SLOT(h + k)]) == FREE || POSITION(word[SLOT(h + k)]) <= h + k);
			assert(LIMIT == 0 || h + k - N < tail); /* R4 */
			word[SLOT(h + k)] = (got -> WORD(h + k, me + 1, CLAIMED) : WORD(h + k, 0, VOID));
			k++
		}
	:: else -> break
	od;
#if defined LEAVE && !defined BUG_LEFT_NOTE_LATE
	note = h;
#endif
	atomic {
#ifndef BUG_HEAD_FIRST
		advance = (got -> n : i + 1);
		move_head(advance);
		/* The passed slot has no left-over claim at this position: such a claim would have no owner. */
		assert(got || STATE(word[SLOT(h + i)]) != CLAIMED || POSITION(word[SLOT(h + i)]) != h + i);
#endif
		advance = 0;
		taken = true;
		cpu = 0
	}
}

inline take_by_sequence()
{
#if defined FEW || defined AGAIN
	if
	:: tries == 0 ->
#ifdef AGAIN
#ifdef BUG_AGAIN_HEAD_LATE
		READ_CLOCK
		expected = head;
#else
		expected = head;
		READ_CLOCK
#endif
#endif
		d_step { h = 0; t = 0; i = 0; k = 0; x = 0; seen = 0; got = true; cpu = me + 1 }
		{ sequence_of_few() } unless { IS_DISTURBED }
	:: else
	fi;
#ifdef AGAIN
	expected = 0;
#endif
#endif
	do
#if defined FEW || defined AGAIN
	:: taken -> taken = false; break
	:: !taken ->
#else
	::
#endif
		d_step { h = 0; t = 0; i = 0; k = 0; x = 0; seen = 0; no_room = false; got = true; cpu = me + 1 }
		{ sequence() } unless { IS_DISTURBED };
#ifdef BUG_PASS_LATER
		d_step {
			held = (passes -> held : 0);
			passes = false
		}
#endif
		if
		:: taken -> taken = false; break
#if LIMIT
		:: no_room -> head + n - tail <= LIMIT
#endif
		:: !taken && !no_room
		:: !taken -> goto elsewhere
		fi
	od;
#if defined LOSS && defined BUG_FURTHER_LATER
	if
	:: got && n > 1 -> further = further + n - 1
	:: !got && i > 0 -> further = further + i
	:: else
	fi;
#endif
	if
	:: got
	:: !got -> skip_slot(h + i)
	fi;
	d_step { i = 0; k = 0 }
}

/* A context switch, a handler, or another CPU, at any time. */
active proctype disturber()
{
end:	do
	:: d_step { cpu != 0 -> cpu = 0 }
	od
}
#endif

#ifdef MAKE_WAY
#ifdef BUG_WAY_LIVING
#define MAY_FREE(tid) true
#else
#define MAY_FREE(tid) DEAD(tid)
#endif
/*
 * The code frees the slots that it needs.  Here, these are any.  is_free: the next attempt does not count, because a
 * slot was freed, or because it meets only further slots of the record that was in the way of this one.
 */
inline find_held(at)
{
	k = 0;
	do
	:: k < n ->
		seen = word[SLOT((at) + k)];
		if
		:: STATE(seen) == CLAIMED && POSITION(seen) < head -> break
		:: else -> seen = 0; k++
		fi
	:: else -> seen = 0; break
	od
}

inline make_way()
{
	is_free = false;
	find_held(h);
	first_held = seen;
	find_held(head);
#ifdef BUG_FURTHER_ALWAYS
	is_free = (first_held != 0 && seen != 0 && TID(first_held) == TID(seen));
#else
	is_free = (first_held != 0 && seen != 0 && TID(first_held) == TID(seen) &&
		   POSITION(first_held) < POSITION(seen));
#endif
	d_step { first_held = 0; seen = 0; k = 0 }
	t = head;
	do
	:: k < N ->
		seen = word[k];
		if
		:: STATE(seen) == CLAIMED && POSITION(seen) < t && MAY_FREE(TID(seen)) ->
			atomic {
				if
#ifdef BUG_WAY_STORE
				:: true ->
#else
				:: word[k] == seen ->
#endif
					word[k] = WORD(POSITION(seen), 0, VOID);
					is_free = true
				:: else
				fi
			}
		:: else
		fi;
		k++
	:: else -> break
	od;
	skip; /* a loop must not break into a d_step */
	d_step { k = 0; t = 0; seen = 0 }
}
#endif

#ifdef LEAVE
#define NOTED (SIZE_0 > 2 -> SIZE_0 : 2)

/* The note has the position of each claim below head.  It may also be out of date. */
inline free_left()
{
	t = head;
	k = 0;
	do
	:: k < NOTED && note + k < t ->
		seen = word[SLOT(note + k)];
		if
		:: POSITION(seen) != note + k && unclaimed ->
			claim_one(note + k);
			if
			:: got -> void(note + k)
			:: else -> skip_slot(note + k)
			fi
		:: POSITION(seen) != note + k && !unclaimed ->
#if defined CPU && !defined BUG_LEFT_NO_SKIP
			if
			:: IS_BEHIND(seen, note + k) -> skip_slot(note + k); break
			:: else
			fi
#else
			if
			:: IS_BEHIND(seen, note + k) -> break
			:: else
			fi
#endif
#ifdef BUG_LEFT_STOPS
			;
			break
#endif
		:: POSITION(seen) == note + k && (STATE(seen) == HEAD || STATE(seen) == FREE) -> break
		:: else
		fi;
		got = false;
		atomic {
			if
			:: word[SLOT(note + k)] == WORD(note + k, me + 1, CLAIMED) ->
				word[SLOT(note + k)] = WORD(note + k, 0, VOID);
				got = true
			:: else
			fi
		}
#ifdef LOSS
		if
		:: got && k == 0 -> extra++
		:: else
		fi;
#endif
		k++;
		if
		:: unclaimed && k == n_noted -> break
		:: else
		fi
	:: else -> break
	od;
	skip;
	d_step {
		h = 0; t = 0; i = 0; k = 0; n = 0; c = 0; x = 0; seen = 0; tries = 0; got = false;
		unclaimed = false; n_noted = 0; note = 0; token = 0
	}
}
#endif

/* Reserve and claim. */
inline take()
{
#ifdef CPU
#ifdef BUG_CLAIM_OUTSIDE
	if
	:: me == 0 -> reserve(); claim()
	:: else -> take_by_sequence()
	fi
#else
	take_by_sequence()
#endif
#else
	reserve();
#ifdef LEAVE
	d_step { n_noted = n; note = h; unclaimed = true }
#endif
	claim();
#ifdef LEAVE
	unclaimed = false
#else
	skip
#endif
#endif
}

inline write()
{
#ifdef LOSS
	extra_of[SLOT(h)] = x;
#endif
#ifdef BUG_LEFT_RUNNING
	if
	:: me == 0 -> word[SLOT(h)] = WORD(h, 0, VOID) /* an event in a handler takes this call for one that was left */
	:: true
	fi;
#endif
	do
	:: i < n ->
		d_step { assert(MINE(h + i)); first[SLOT(h + i)] = token }
		d_step { assert(MINE(h + i)); second[SLOT(h + i)] = token }
#ifdef LOST
		if
		:: i == 0 -> counter[SLOT(h)] = h
		:: else -> counter[SLOT(h + i)] = GARBAGE
		fi;
#endif
		i++
	:: else -> i = 0; break
	od
}

inline commit_head()
{
	d_step {
#ifndef BUG_COMMIT_BEFORE_DATA
		assert(MINE(h));
#endif
		word[SLOT(h)] = WORD(h, me + 1, HEAD);
		assert(!is_nothing[h]);
#ifdef LOSS
		unreported++;
#endif
		committed[h] = (h >= pos || IS_ASIDE(h))
	}
}

inline commit()
{
#ifdef BUG_HEAD_BEFORE_MORE
	commit_head();
#endif
	i = 1;
	do
	:: i < n -> d_step { assert(MINE(h + i)); word[SLOT(h + i)] = WORD(h + i, me + 1, MORE) } i++
	:: else -> i = 0; break
	od;
#ifndef BUG_HEAD_BEFORE_MORE
	commit_head()
#else
	skip
#endif
}

#ifdef GIVE_UP
inline give_up()
{
	i = 0;
#ifdef BUG_EXTRA_FIRST
	extra++;
#endif
	do
	:: i < n -> void(h + i); i++
	:: else -> break
	od;
#ifndef BUG_EXTRA_FIRST
	extra++;
#endif
	i = 0
}
#endif

#ifdef MARKS
inline count_given_up()
{
#ifdef BUG_COUNT_FIRST
	given_up++;
#endif
	d_step { assert(nr_marks < MARKS_MAX); k = nr_marks; nr_marks++ }
	mark[k] = token;
#ifndef BUG_COUNT_FIRST
	given_up++;
#endif
	k = 0
}
#endif

inline one_event()
{
	d_step { token = TOKEN(me, e); n = SIZE_OF(token); tries = 0; c = 0 }
#ifdef BUG_COUNTER_FIRST
	READ_CLOCK
#endif
	do
	:: tries < TRIES ->
again:		take();
		if
#ifdef GIVE_UP
		:: got && me == 0 -> give_up(); break
#endif
		:: got ->
#ifdef BUG_COMMIT_BEFORE_DATA
			commit_head();
#endif
			write();
#ifndef BUG_COMMIT_BEFORE_DATA
			commit();
#endif
			break
		:: !got ->
#ifdef LOSS
			extra++;
#endif
#ifdef MAKE_WAY
			make_way();
			tries = tries + !is_free
#else
			tries++
#endif
		fi
	:: else ->
#ifdef MARKS
		count_given_up();
#endif
#if LIMIT && !defined PATIENCE && !defined KILL && !defined ASIDE
		/* No claim fails in a bounded ring. */
		assert(false);
#endif
		break
	od;
elsewhere:
	skip; /* a loop must not break into a d_step */
	d_step { h = 0; t = 0; n = 0; seen = 0; got = false; c = 0; k = 0; tries = 0; token = 0; x = 0; e++ }
}

proctype writer(byte me)
{
	byte e, h, t, n, i, k, tries, token, c, lost, x;
	short seen;
	bool got;
#ifdef MAKE_WAY
	short first_held;
	bool is_free;
#endif
#ifdef AGAIN
	byte expected;
#endif
#ifdef CPU
	bool taken, no_room;
	byte advance;
#ifdef BUG_PASS_LATER
	byte held;
	bool passes;
#endif
#endif

#ifdef LEAVE
	byte note, n_noted;
	bool unclaimed, was_left;

	do
	:: e < EVENTS_OF(me) ->
		{ one_event() } unless {
			me == 0 && leaves ->
				d_step {
					leaves = false;
					was_left = true;
#ifdef CPU
					cpu = (cpu == me + 1 -> 0 : cpu);
					taken = false;
					no_room = false;
					advance = 0;
#endif
					e++
				}
		};
		if
		:: was_left -> was_left = false; free_left()
		:: else
		fi
	:: else -> break
	od;
#else
	{
		do
		:: e < EVENTS_OF(me) -> one_event()
		:: else -> break
		od
	} unless { killed == me + 1 };
#endif
	finished++
}

#ifdef LEAVE
active proctype leaver()
{
	if
	:: leaves = true
	:: true
	fi
}
#endif

#ifdef KILL
active proctype killer()
{
	if
	:: killed = 1
	:: true
	fi
}
#endif

/* The reader. */

#ifdef BUG_RECLAIM_LIVING
#define MAY_RECLAIM(tid) true
#else
#define MAY_RECLAIM(tid) DEAD(tid)
#endif
#ifdef PATIENCE
#define MAY_STEP_OVER(position) true
#else
#ifdef KILL
#define MAY_STEP_OVER(position) DEAD(reserver[position])
#else
#define MAY_STEP_OVER(position) false
#endif
#endif

#if defined PATIENCE || defined CLEAR
#define MAY_BE_LOST true
#else
#define MAY_BE_LOST false
#endif

inline pass(why)
{
	/* A committed record is lost only if it is overwritten, or if the reader steps over it. */
	assert(why == REPORTED || !committed[pos] || (why == LAPPED && LIMIT == 0) ||
	       (why == STEPPED && MAY_BE_LOST));
	is_nothing[pos] = (why == NOTHING);
	committed[pos] = 0;
	token_at[pos] = 0;
#if SKIPS >= POSITIONS
	skipped[pos] = 0;
#endif
#ifdef KILL
	reserver[pos] = 0;
#endif
#ifdef LOSS
	reader_extra = reader_extra + (why == NOTHING);
#endif
	pos++
}

inline consume()
{
#if defined ASIDE && !defined BUG_ASIDE_TAIL
	tail = (LIMIT != 0 && aside != 0 && !let_go -> aside : pos)
#else
	tail = pos
#endif
}

/*
 * After a lap: go to the first record at or after head - N.  In the ring of a CPU, head may not have moved so far yet
 * (C3).  h may also be older than this look: the reader does this when it finds another ring lapped.
 */
inline lapped()
{
#if defined CPU && !defined BUG_LAPPED_BY_HEAD && !defined BUG_LAPPED_BY_CLAIM
	if
	:: h = head
	:: true
	fi;
#ifdef BUG_JUMP_BACK
	assert(h >= pos + N || word[SLOT(h - N)] != WORD(h - N, TID(word[SLOT(h - N)]), HEAD));
#endif
#else
	h = head;
#ifdef BUG_LAPPED_BY_CLAIM
	assert(h > pos + N || STATE(w) == CLAIMED);
#else
	assert(h > pos + N);
#endif
#endif
#ifdef LOSS
	n = pos;
#endif
	d_step {
		do
		:: pos < h - N -> pass(LAPPED)
		:: else -> break
		od
	}
	do
	:: pos != h ->
		atomic {
			w = word[SLOT(pos)];
			if
			:: w == WORD(pos, TID(w), HEAD) -> break
			:: else -> pass(LAPPED) /* in flight at the edge of the gap: part of the gap */
			fi
		}
	:: else -> break
	od;
#ifdef LOSS
	x = extra;
	x = x + further;
	if
	:: pos != h ->
		a = extra_of[SLOT(pos)];
		if
		:: word[SLOT(pos)] == w -> x = a
		:: else
		fi
	:: else
	fi;
	d_step {
		x = x - reader_extra;
		if
		:: x > pos - n -> x = pos - n
		:: x < 1 - N -> x = 0
		:: else
		fi;
		reader_extra = reader_extra + x;
		overwritten = overwritten + pos - n - x;
		x = 0;
		a = 0
	}
#endif
	consume()
}

inline reclaim()
{
	w = word[SLOT(pos)];
	n = TID(w);
	do
	:: pos != h && w == WORD(pos, n, CLAIMED) ->
		atomic {
			if
			:: word[SLOT(pos)] == w -> word[SLOT(pos)] = WORD(pos, 0, VOID)
			:: else
			fi
		}
		d_step { pass(NOTHING) }
		w = word[SLOT(pos)]
	:: else -> break
	od;
	consume()
}

/* Take back all slots of dead writers, at any position. */
inline reclaim_all()
{
	n = 0;
	do
	:: n < N ->
		w = word[n];
		if
		:: STATE(w) == CLAIMED && DEAD(TID(w)) ->
			atomic {
				if
				:: word[n] == w -> word[n] = WORD(POSITION(w), 0, VOID)
				:: else
				fi
			}
		:: else
		fi;
		n++
	:: else -> n = 0; break
	od
}

/* intact: the slots still contain the record that the reader looked at. */
inline check_unchanged(at)
{
	intact = true;
#ifndef BUG_NO_RECHECK
	i = 0;
	do
	:: i < n && intact ->
		if
		:: i == 0 && word[SLOT(at)] != w -> intact = false
#ifndef BUG_RECHECK_HEAD_ONLY
		:: i > 0 && word[SLOT(at + i)] != WORD(at + i, TID(w), MORE) -> intact = false
#endif
		:: else
		fi;
		i++
	:: else -> break
	od;
#endif
	i = 0
}

inline report()
{
	d_step {
		assert(committed[pos]);
		assert(a == token_at[pos]); /* R3 */
#ifdef LOSS
		unreported--;
		reader_extra = reader_extra + n - 1;
#endif
		do
		:: n > 0 -> pass(REPORTED); n--
		:: else -> break
		od
	}
}

inline copy(at)
{
	/* The token also represents the length, which is untrusted until it is checked. */
	a = first[SLOT(at)];
	torn = false;
	n = SIZE_OF(a);
	i = 0;
	do
	:: i < n ->
		if
		:: i > 0 -> if :: first[SLOT(at + i)] != a -> torn = true :: else fi
		:: else
		fi;
		if :: second[SLOT(at + i)] != a -> torn = true :: else fi;
		i++
	:: else -> i = 0; break
	od
}

inline read_record()
{
#ifdef BUG_CONSUME_BEFORE_COPY
	tail = pos + SIZE_OF(token_at[pos]);
#endif
	copy(pos);
	check_unchanged(pos);
	if
	:: intact ->
		assert(!torn); /* R3 */
		report();
		consume()
	:: else ->
		/* Overwritten during the copy; the next look finds this. */
		assert(LIMIT == 0)
	fi;
	d_step { a = 0; n = 0; torn = false; intact = false }
}

#ifdef ASIDE
#define ASIDE_HAS_CHANGED                                                                          \
	(aside != 0 && word[SLOT(aside)] != WORD(aside, TID(word[SLOT(aside)]), CLAIMED))

/* The writer goes on, or goes on to wait: the reader passes its slot. */
inline set_aside()
{
#ifdef BUG_ASIDE_FREES
	d_step { word[SLOT(pos)] = WORD(pos, 0, VOID); pass(NOTHING) }
#else
	d_step { aside = pos; let_go = false; pos++ }
#endif
	consume()
}

inline forget_aside()
{
	d_step {
		committed[aside] = 0;
		token_at[aside] = 0;
#ifdef KILL
		reserver[aside] = 0;
#endif
		aside = 0
	}
	consume()
}

inline look_aside()
{
	w = word[SLOT(aside)];
	if
	:: w == WORD(aside, TID(w), HEAD) ->
		copy(aside);
		check_unchanged(aside);
		if
		:: intact ->
			assert(!torn); /* R3 */
			d_step {
				assert(committed[aside]);
				assert(a == token_at[aside]);
				committed[aside] = 0;
#ifdef LOSS
				unreported--;
#endif
			}
#ifndef BUG_ASIDE_TWICE
			forget_aside()
#endif
		:: else
		fi
	:: STATE(w) != FREE && POSITION(w) > aside ->
		/* Overwritten after the commit, or void before. */
		assert(LIMIT == 0 || let_go || !committed[aside]);
#ifdef LOSS
		overwritten++;
#endif
		forget_aside()
	:: w == WORD(aside, TID(w), VOID) || w == WORD(aside, TID(w), MORE) ->
		assert(!committed[aside]);
#ifdef LOSS
		reader_extra++;
#endif
		forget_aside()
	:: w == WORD(aside, TID(w), CLAIMED)
	fi;
	d_step { w = 0; a = 0; n = 0; torn = false; intact = false }
}
#endif

#ifdef MARKS
/* Each event that is counted has left its mark. */
inline look_at_given_up()
{
	n = given_up;
	i = 0;
	do
	:: i < MARKS_MAX -> d_step { nr_taken = nr_taken + (mark[i] != 0); mark[i] = 0; i++ }
	:: else -> break
	od;
	assert(nr_taken >= n);
	d_step { n = 0; i = 0 }
}
#endif

#ifndef NO_READER
active proctype reader()
{
	byte h, n, i, a;
	short w, x;
	bool torn, intact;
#ifdef CLEAR
	bool cleared;
	byte cleared_at;
#endif
#ifdef KILL
	bool has_reclaimed;
#endif

	do
#ifdef MARKS
	:: given_up != nr_taken -> look_at_given_up()
#endif
#ifdef ASIDE
	:: ASIDE_HAS_CHANGED -> look_aside()
#ifdef LET_GO
	:: aside != 0 && !let_go -> let_go = true; consume()
#endif
#ifdef KILL
	:: aside != 0 && DEAD(TID(word[SLOT(aside)])) && !ASIDE_HAS_CHANGED ->
		word[SLOT(aside)] = WORD(aside, 0, VOID)
#endif
#endif
#ifdef KILL
	:: killed != 0 && !has_reclaimed -> has_reclaimed = true; reclaim_all()
#endif
#ifdef CLEAR
	:: !cleared ->
		h = head;
		cleared = true;
		cleared_at = h;
#ifndef BUG_CLEAR_KEEPS_POSITION
		d_step {
			do
			:: pos != h -> pass(STEPPED)
			:: else -> break
			od
		}
#endif
		tail = h
#endif
	:: true ->
		h = head;
		if
		:: pos == h ->
			if
#ifdef ASIDE
			:: atomic { finished == W && head == pos && aside == 0 -> break }
			:: ASIDE_HAS_CHANGED
#ifdef KILL
			:: aside != 0 && DEAD(TID(word[SLOT(aside)]))
#endif
#else
			:: atomic { finished == W && head == pos -> break }
#endif
			:: head != pos
#ifdef MARKS
			:: given_up != nr_taken
#endif
#ifdef CLEAR
			:: !cleared
#endif
#ifdef KILL
			:: killed != 0 && !has_reclaimed
#endif
			fi
		:: else ->
			w = word[SLOT(pos)];
			if
			:: IS_AHEAD(w, pos) -> lapped()
			:: IS_BEHIND(w, pos) ->
				if
				:: skipped[pos % SKIPS] == pos + 1 -> d_step { pass(NOTHING) } consume()
				:: skipped[pos % SKIPS] != pos + 1 ->
					if
					:: word[SLOT(pos)] != w
					:: skipped[pos % SKIPS] == pos + 1
					:: atomic { MAY_STEP_OVER(pos) && (MAY_BE_LOST || word[SLOT(pos)] == w) ->
						pass(STEPPED) }
						consume()
#ifdef ASIDE
					:: atomic { word[SLOT(pos)] == w && STATE(w) != CLAIMED ->
#ifdef CPU
						skip /* only a sequence claims: the slot was held */
#else
						word[SLOT(pos)] = WORD(pos, 0, VOID)
#endif
						}
#ifdef CPU
						d_step { pass(NOTHING) }
						consume()
#endif
#endif
					fi
				fi
			:: !IS_AHEAD(w, pos) && !IS_BEHIND(w, pos) ->
				if
				:: STATE(w) == HEAD ->
#ifdef CLEAR
					assert(!cleared || pos >= cleared_at);
#endif
					read_record()
				:: STATE(w) == CLAIMED ->
					if
					:: word[SLOT(pos)] != w
					:: MAY_RECLAIM(TID(w)) -> reclaim()
#ifdef PATIENCE
					:: d_step { pass(STEPPED) } consume()
#endif
#ifdef ASIDE
					:: aside == 0 -> set_aside()
#endif
					fi
				:: STATE(w) == MORE || STATE(w) == VOID -> d_step { pass(NOTHING) } consume()
				fi
			fi
		fi;
		d_step { w = 0; h = 0; n = 0 }
	od;
	/* All writers have ended, and the reader has passed every position. */
	assert(tail == head);
#ifdef LOSS
	/* R7: nothing is in flight any more. */
#ifdef BUG_LOSS_LATE
	assert(extra + further >= reader_extra);
#endif
#ifdef LEAVE
	/* A call that was left after it had given its slots up, and before it counted that, is one lost event. */
	w = overwritten - (extra + further - reader_extra) - unreported;
	assert(w == 0 || w == 1);
#else
	assert(overwritten - (extra + further - reader_extra) == unreported);
#endif
#endif
#ifdef MARKS
	look_at_given_up();
	assert(nr_taken == given_up)
#endif
}
#endif

init {
	atomic {
		run writer(0);
#if W > 1
		run writer(1);
#endif
#if W > 2
		run writer(2);
#endif
	}
}
