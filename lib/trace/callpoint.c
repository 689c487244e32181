/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/callpoint.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/confined.h"
#include "trace/counted.h"
#include "trace/emit.h"
#include "trace/unwind.h"

const struct px_wrapper_row *(*px_callpoint_rows)(uint32_t *nr_rows);
const struct px_callpoint_also *px_callpoint_also;
uint32_t px_callpoint_nr_also;

static void register_type(const struct px_view *view, uint32_t id)
{
	if (!px_eventset_has(&view->segment->types.listed, id))
		px_view_add_type(view, id, px_call_name((enum px_call)(id - PX_EVENT_CALL_FIRST)));
}

/*
 * If the stream does not have them yet, write the names of the calls that this wrapper can record, and the rows of all
 * wrappers, to the stream.  count_call() calls this when the count of a wrapper in a ring was 0.
 */
static PX_COLD void register_call(const struct px_view *view, uint32_t wrapper, uint32_t id)
{
	struct px_wrapper_stats *stats = &view->segment->wrapper_stats;
	const struct px_wrapper_row *rows;
	int saved_errno = errno;
	uint32_t nr_rows;

	register_type(view, id);
	for (uint32_t i = 0; i < px_callpoint_nr_also; i++) {
		if (px_callpoint_also[i].wrapper != wrapper)
			continue;
		register_type(view, px_call_event((enum px_call)px_callpoint_also[i].call));
		register_type(view, px_call_event((enum px_call)px_callpoint_also[i].other));
	}
	if (px_callpoint_rows && !px_wrapper_stats_has(stats, wrapper)) {
		rows = px_callpoint_rows(&nr_rows);
		px_wrapper_stats_write(stats, rows, nr_rows);
	}
	errno = saved_errno;
}

/*
 * On x86-64 the increment has no lock prefix: only threads of one CPU use a counter, and a context
 * switch cannot split one instruction.  For this reason count_call() uses the CPU's own ring, even
 * if this process may not write events there.
 */
PX_INLINE uint64_t count(uint64_t *counter)
{
	uint64_t before = px_read_once(counter);

#if defined(__x86_64__)
	__asm__("incq %0" : "+m"(*counter));
#else
	px_fetch_add(counter, UINT64_C(1));
#endif
	return before;
}

PX_INLINE void count_call(const struct px_view *view, uint32_t wrapper,
			  const struct px_event *event, struct px_cpu cpu)
{
	const struct px_rings *rings = &view->rings;
	bool has_own = px_likely(cpu.number < rings->nr_rings - rings->nr_shared);
	struct px_ring ring = px_ring_own_or_shared(rings, has_own, cpu.number);

	if (px_unlikely(count(&ring.control->calls[wrapper]) == 0))
		register_call(view, wrapper, event->id);
}

/* Do not count the event at the end of a wait, because the event at the start of the wait was counted. */
PX_INLINE bool counts(uint32_t flags)
{
	return !(flags & PX_RECORD_ENDS);
}

/* Return true for the two events of a call that waits. */
PX_INLINE bool is_of_wait(uint32_t flags)
{
	return (flags & (PX_RECORD_BEGINS | PX_RECORD_ENDS)) != 0;
}

/* Stacks. */

/* The data of an event txtrace_stack. */
struct stack {
	union px_call_data head;
	uint64_t frame[PX_UNWIND_DEPTH];
};

_Static_assert(sizeof(struct stack) == PX_STACK_BYTES, "a stream with stacks has room for each");

static size_t take_stack(struct stack *stack, void *address)
{
	enum px_unwind_end end;
	unsigned int nr = px_unwind((uintptr_t)address, stack->frame, &end);
	uint64_t id = end;

	for (unsigned int i = 0; i < nr; i++) {
		id = (id ^ stack->frame[i]) * UINT64_C(0x9E3779B97F4A7C15);
		id ^= id >> 32;
	}
	memset(&stack->head, 0, sizeof(stack->head));
	stack->head.of_object.object = id;
	stack->head.of_object.count = (uint16_t)nr;
	stack->head.of_object.result = (int16_t)end;
	return sizeof(stack->head) + nr * sizeof(stack->frame[0]);
}

/* Return true if the stream wants the stack of a call that waited for this time (0: not known), or did not wait. */
static bool wants_stack(const struct px_view *view, bool has_waited, uint64_t ticks)
{
	if (view->stacks == PX_STACKS_NONE || view->stacks == PX_STACKS_ALL)
		return view->stacks == PX_STACKS_ALL;
	return has_waited && (ticks == 0 || ticks >= view->stack_ticks);
}

PX_INLINE bool has_thread_times(const struct px_view *view)
{
	return px_read_once(&view->segment->has_thread_times) != 0;
}

/*
 * Return true if a stack or a time may follow this event.  The caller of counted calls is not the caller of the call
 * that tells the count.
 */
PX_INLINE bool has_sequel(const struct px_view *view, uint32_t wrapper, uint32_t flags)
{
	if (is_of_wait(flags))
		return view->stacks != PX_STACKS_NONE || has_thread_times(view);
	return px_unlikely(view->stacks == PX_STACKS_ALL) && wrapper != PX_NO_WRAPPER_CALLS;
}

/* Record the stack of the caller in each stream that wants it. */
static PX_COLD void record_stack(bool has_waited, uint64_t ticks, void *address)
{
	struct px_self *self = &px_gate.self;
	uint64_t attached = px_load_acquire(&self->attached);
	struct px_event event = {.id = px_call_event(PX_CALL_txtrace_stack)};
	struct px_cpu cpu = px_emit_current_cpu();
	const struct px_view *view;
	struct px_claiming call;
	struct stack stack;
	size_t length = 0;

	px_emit_fill_identity(&event, address);
	event.data = &stack;
	call = px_calls_enter(px_frame_here());
	while ((view = px_emit_next_view(self, &attached, event.pid))) {
		if (!wants_stack(view, has_waited, ticks))
			continue;
		if (length == 0)
			length = take_stack(&stack, address);
		px_emit_fill_length(&event, view, length, PX_RECORD_CALL);
		count_call(view, PX_NO_WRAPPER_STACK, &event, cpu);
		px_emit_any(view, &event, cpu, px_calls_claim(call));
	}
	px_calls_leave(call);
}

/* Times of threads. */

/*
 * Return false if the kernel must not be asked.  A thread that did not just wait asks for its CPU time first: then the
 * kernel brings it up to date.
 */
static bool read_thread_time(bool has_waited, union px_call_data *data)
{
	struct timespec cpu;
	struct rusage used;

	if (!has_waited && (px_is_confined() || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) != 0))
		return false;
	if (px_is_confined() || syscall(SYS_getrusage, RUSAGE_THREAD, &used) != 0)
		return false;
	data->of_fd.fd = (int32_t)used.ru_nvcsw;
	data->of_fd.value = (uint32_t)used.ru_nivcsw;
	data->of_fd.result = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * INT64_C(1000000000) +
			     (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * INT64_C(1000);
	if (!has_waited)
		data->of_fd.result = cpu.tv_sec * INT64_C(1000000000) + cpu.tv_nsec;
	return true;
}

/* Record the CPU time of the thread, which has waited for this time (0: it has not), in each stream that wants it. */
static PX_COLD void record_thread_time(uint64_t ticks, void *address)
{
	struct px_self *self = &px_gate.self;
	uint64_t attached = px_load_acquire(&self->attached);
	struct px_event event = {.id = px_call_event(PX_CALL_txtrace_thread_time)};
	struct px_cpu cpu = px_emit_current_cpu();
	int saved_errno = errno;
	const struct px_view *view;
	union px_call_data data;
	struct px_claiming call;
	bool is_read = false;

	px_emit_fill_identity(&event, address);
	event.data = &data;
	call = px_calls_enter(px_frame_here());
	while ((view = px_emit_next_view(self, &attached, event.pid))) {
		if (!has_thread_times(view) || (ticks > 0 && ticks < px_read_once(&view->segment->wait_ticks)))
			continue;
		if (!is_read && !read_thread_time(ticks > 0, &data))
			break;
		is_read = true;
		px_emit_fill_length(&event, view, sizeof(data), PX_RECORD_CALL);
		count_call(view, PX_NO_WRAPPER_THREAD_TIME, &event, cpu);
		px_emit_any(view, &event, cpu, px_calls_claim(call));
	}
	px_calls_leave(call);
	errno = saved_errno;
}

/* Call this after an event of a call, if a stream of the process has stacks or times of threads. */
static PX_COLD void after_event(uint32_t flags, void *address)
{
	struct px_inside *entry = px_inside_own();
	uint64_t since = entry ? entry->wait_since : 0, now = px_callpoint_clock();

	if (entry && is_of_wait(flags))
		entry->wait_since = flags & PX_RECORD_BEGINS ? now : 0;
	if (flags & PX_RECORD_BEGINS)
		return;
	record_stack(flags & PX_RECORD_ENDS, since ? now - since : 0, address);
	if (flags & PX_RECORD_ENDS && since)
		record_thread_time(now - since, address);
}

/* Return false if the thread has no tid, and so must not claim slots. */
static PX_COLD PX_NOINLINE bool refresh(uintptr_t frame)
{
	px_process_refresh(frame);
	return px_thread.tid != 0;
}

PX_INLINE bool ensure_process(void)
{
	return px_likely(px_process_is_current()) || refresh(px_frame_here());
}

static PX_NOINLINE void record(uint32_t wrapper, uint32_t call_at, const void *data, size_t length,
			       void *address)
{
	struct px_self *self = &px_gate.self;
	uint64_t attached = px_load_acquire(&self->attached);
	uint32_t flags = call_at >> 16 | PX_RECORD_CALL;
	struct px_event event = {.id = px_call_event((enum px_call)(call_at & 0xFFFF)),
				 .data = data};
	struct px_cpu cpu = px_emit_current_cpu();
	const struct px_view *view;
	struct px_claiming call;
	bool has_more = false;

	px_emit_fill_identity(&event, address);
	call = px_calls_enter(px_frame_here());
	while ((view = px_emit_next_view(self, &attached, event.pid))) {
		if (wrapper == PX_NO_WRAPPER_CALLS && !view->aggregates)
			continue; /* this stream has events of these calls */
		px_emit_fill_length(&event, view, length, flags);
		if (px_likely(counts(flags)))
			count_call(view, wrapper, &event, cpu);
		px_emit_any(view, &event, cpu, px_calls_claim(call));
		has_more |= has_sequel(view, wrapper, flags);
	}
	px_calls_leave(call);
	if (px_unlikely(has_more))
		after_event(flags, address);
}

/* The arguments are values, not pointers, so that the arguments of px_callpoint() can stay in registers. */
static PX_COLD void record_two(uint32_t wrapper, uint32_t call_at, uint64_t first, uint64_t second, void *address)
{
	const uint64_t data[2] = {first, second};

	record(wrapper, call_at, data, sizeof(data), address);
}

/* Record a call of 16 bytes that the stream does not truncate, and count it.  The caller has noted its call. */
PX_INLINE void record_usual(const struct px_view *view, uint32_t wrapper, uint32_t call_at, uint64_t first,
			    uint64_t second, void *address, bool is_counted)
{
	uint64_t data[2] = {first, second};
	struct px_event event;
	struct px_cpu cpu;

	event.id = px_call_event((enum px_call)(call_at & 0xFFFF));
	event.flags = call_at >> 16 | PX_RECORD_CALL;
	event.data = data;
	event.length = sizeof(data);
	px_emit_fill_identity(&event, address);
	cpu = px_emit_current_cpu();
	if (is_counted)
		count_call(view, wrapper, &event, cpu);
	px_emit(view, &event, 1, cpu);
}

/*
 * The stream may count the call instead (counted.h), truncate its data, or want its stack or a time.  End the call that
 * px_callpoint() began.
 */
static PX_NOINLINE void count_or_record(const struct px_view *view, uintptr_t *calls, uint32_t wrapper,
					uint32_t call_at, uint64_t first, uint64_t second, void *address)
{
	const struct px_event event = {.id = px_call_event((enum px_call)(call_at & 0xFFFF)), .flags = call_at >> 16};
	bool is_usual = view->max_data >= 2 * sizeof(first) && !has_sequel(view, wrapper, event.flags);
	unsigned int verdict = 0;

	if (view->aggregates)
		verdict = px_counted_call(view, call_at, first, second, address);
	if (verdict & PX_COUNTED_IS_DONE)
		count_call(view, wrapper, &event, px_emit_current_cpu());
	else if (verdict == 0 && is_usual)
		record_usual(view, wrapper, call_at, first, second, address, counts(event.flags));
	px_calls_end(calls);
	if (verdict & PX_COUNTED_IS_DUE)
		px_counted_record();
	if (verdict & PX_COUNTED_IS_CHANGING)
		px_counted_record_object(first);
	if (!(verdict & PX_COUNTED_IS_DONE) && (verdict != 0 || !is_usual))
		record_two(wrapper, call_at, first, second, address);
}

/*
 * In the usual case, do the work of record() inline: for one stream, and for 16 bytes that the stream does not
 * truncate.  In this case the compiler knows that the record has one slot, so it keeps the event in registers.
 * record() and count_or_record() do all other cases.  They also record waits: compared with a wait, they cost little.
 */
void px_callpoint(uint32_t wrapper, uint32_t call_at, uint64_t first, uint64_t second,
		  void *address)
{
	struct px_self *self = &px_gate.self;
	const struct px_view *view;
	uint64_t attached;
	uintptr_t *calls;

	if (!ensure_process())
		return;
	attached = px_load_acquire(&self->attached);
	if (px_unlikely(!attached))
		return;
	calls = px_calls_begin(px_frame_here());
	if (px_unlikely(!calls)) {
		record_two(wrapper, call_at, first, second, address);
		return;
	}
	/*
	 * Usually only view[0] is in use.  Its address is constant, so the CPU can load it before
	 * it has loaded `attached`.
	 */
	if (px_likely(attached == 1))
		view = px_load_acquire(&self->view[0]);
	else
		view = (attached & (attached - 1)) == 0 ?
			       px_load_acquire(&self->view[__builtin_ctzll(attached)]) :
			       NULL;
	if (px_unlikely(!view)) {
		px_calls_end(calls);
		record_two(wrapper, call_at, first, second, address);
		return;
	}
	if (px_unlikely(view->max_call_data < sizeof(first) + sizeof(second) ||
			is_of_wait(call_at >> 16))) {
		count_or_record(view, calls, wrapper, call_at, first, second, address);
		return;
	}
	record_usual(view, wrapper, call_at, first, second, address, true);
	px_calls_end(calls);
}

void px_callpoint_thread_time(void *address)
{
	if (ensure_process() && px_load_acquire(&px_gate.self.attached))
		record_thread_time(0, address);
}

void px_callpoint_long(uint32_t wrapper, uint32_t call_at, const void *data, size_t length,
		       void *address)
{
	if (ensure_process())
		record(wrapper, call_at, data, length, address);
}

/*
 * While the kernel trusts the hardware counter, all streams of a machine use it.  So read the
 * counter of any stream.
 */
uint64_t px_callpoint_clock(void)
{
	struct px_self *self = &px_gate.self;
	uint64_t attached = px_load_acquire(&self->attached);
	const struct px_view *view;
	struct px_running call;
	uint64_t now = 0;

	if (!attached)
		return 0;
	call = px_inside_enter(px_frame_here());
	view = px_load_acquire(&self->view[__builtin_ctzll(attached)]);
	if (view)
		now = px_clock_read((enum px_clock_source)view->rings.source);
	px_inside_leave(call);
	return now;
}

void px_callpoint_cost(uint32_t wrapper, uint64_t ticks)
{
	struct px_self *self = &px_gate.self;
	uint64_t attached = px_load_acquire(&self->attached);
	struct px_running call;

	if (!attached)
		return;
	call = px_inside_enter(px_frame_here());
	for (; attached; attached &= attached - 1) {
		const struct px_view *view =
			px_load_acquire(&self->view[__builtin_ctzll(attached)]);

		if (view)
			px_wrapper_stats_add(&view->segment->wrapper_stats, wrapper, ticks);
	}
	px_inside_leave(call);
}
