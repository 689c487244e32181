/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "stream/own_rings.h"

#include <trace.h>
#include <trace_ext.h>

#include "base/membarrier.h"
#include "log/format.h"
#include "registry/registry.h"
#include "ring/cpuring.h"
#include "ring/trial.h"

#define RESULT_BITS 2

/* Return a word for this start of the machine, with zeros in the bits of the result; or 0 if it is not known. */
static uint64_t word_of_boot(void)
{
	uint64_t word = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	char boot_id[40];

	px_log_boot_id(boot_id);
	if (!boot_id[0])
		return 0;
	for (const char *c = boot_id; *c; c++)
		word = (word ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	return word >> RESULT_BITS << RESULT_BITS;
}

static enum px_trial try_or_remember(struct rseq *area)
{
	struct px_registry *registry = px_registry_get();
	uint64_t boot = registry ? word_of_boot() : 0;
	uint64_t known = registry ? px_read_once(&registry->gate.trial) : 0;
	enum px_trial result = (enum px_trial)(known & ((1u << RESULT_BITS) - 1));

	if (boot != 0 && known - (uint64_t)result == boot && (result == PX_TRIAL_GOOD || result == PX_TRIAL_FAULTY))
		return result;
	result = px_trial_run(area);
	if (boot != 0 && result != PX_TRIAL_NOTHING)
		px_write_once(&registry->gate.trial, boot | (uint64_t)result);
	return result;
}

/* Two threads may make a trial at the same time; both get a result. */
static enum px_trial result_of_trial(struct rseq *area)
{
	static uint32_t known; /* 1 + the result */
	uint32_t now = px_read_once(&known);

	if (now == 0) {
		now = 1 + (uint32_t)try_or_remember(area);
		px_write_once(&known, now);
	}
	return (enum px_trial)(now - 1);
}

int px_own_rings_obstacle(enum px_clock_source source)
{
	struct rseq *area = px_cpu_area();

	if (source != PX_CLOCK_HARDWARE)
		return TXTRACE_RINGS_NO_COUNTER;
	if (!area)
		return TXTRACE_RINGS_NO_SEQUENCES;
	if (!px_membarrier_register() || !px_membarrier_all())
		return TXTRACE_RINGS_NO_BARRIER;
	switch (result_of_trial(area)) {
	case PX_TRIAL_GOOD:
		return 0;
	case PX_TRIAL_FAULTY:
		return TXTRACE_RINGS_NOT_RESTARTED;
	case PX_TRIAL_NOTHING:
		break;
	}
#if defined __x86_64__
	return 0;
#else
	return TXTRACE_RINGS_NOT_TESTED;
#endif
}
