/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "ring/cpuring.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#if PX_HAS_CPURINGS

/* Every kernel accepts the size 32.  If the area is already registered, the call fails and does no harm. */
struct rseq *px_cpu_area_ensure(void)
{
	struct rseq *area = px_cpu_area();
	int saved_errno = errno;

	if (area)
		syscall(SYS_rseq, area, 32, 0, RSEQ_SIG);
	errno = saved_errno;
	return area;
}

/* No thread can register an area that is not there: only the error tells whether the kernel has the call. */
int px_cpu_area_check(void)
{
	int saved_errno = errno, error = 0;

	if (!px_cpu_area()) {
		syscall(SYS_rseq, NULL, 0, 0, RSEQ_SIG);
		error = errno == EINVAL || errno == EBUSY ? ENOTSUP : errno;
	}
	errno = saved_errno;
	return error;
}

/*
 * If the sequence would overwrite the record at tail, save the counter of that record and repeat the sequence.  The
 * sequence goes on only if tail is still the same, because the saved counter belongs to that record (C4).
 */
enum px_outcome px_cpuring_take(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				uint64_t limit, uint32_t tid, struct px_reservation *reservation,
				struct px_claim *claim)
{
	struct px_bound bound = px_bound_of(px_bound_of_one(ring->mask + 1, limit), n);
	struct px_sequence_request request = {
		.nr_claims = n, .low = px_word(0, tid, PX_SLOT_CLAIMED), .advance = n};
	enum px_outcome outcome;

	px_write_once(&claim->nr_slots, n);
	while ((outcome = px_sequence_any(ring, cpu, &request, bound, reservation, &claim->position)) == PX_NO_ROOM &&
	       limit == 0) {
		request.saved = px_load_acquire(&ring->control->tail);
		request.has_saved = 1;
		px_ring_save_first_lost(ring, request.saved);
		px_write_fence(); /* the claim that overwrites the record comes later (edge lost) */
	}
	if (outcome != PX_TAKEN)
		return outcome;
	PX_TESTPOINT("ring.reserve.done");
	if (request.nr_claims < n) {
		px_ring_skip(ring, reservation->position + request.nr_claims);
		return PX_HELD;
	}
	PX_TESTPOINT("ring.claim.done");
	px_write_fence(); /* EDGE claim release */
	return PX_TAKEN;
}

#else

int px_cpu_area_check(void)
{
	return ENOTSUP;
}

struct rseq *px_cpu_area_ensure(void)
{
	return NULL;
}

enum px_outcome px_cpuring_take(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				uint64_t limit, uint32_t tid, struct px_reservation *reservation,
				struct px_claim *claim)
{
	(void)ring, (void)cpu, (void)n, (void)limit, (void)tid, (void)reservation, (void)claim;
	return PX_DISTURBED; /* no thread has an area */
}

#endif
