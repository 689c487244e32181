/* SPDX-License-Identifier: MIT */
/* Waiting for children.  If the program waits for a child, the wrapper first makes the call with WNOHANG. */
#include "hook.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "wrap/descriptor.h"
#include "wrap/vfork_exec.h"

struct wait_request {
	struct px_site site;
	pid_t pid;
	int *status; /* not NULL: the event shows the status too */
	int options;
	struct rusage *usage;
	__typeof__(wait3) *wait3; /* the real function, if the program calls this one */
	__typeof__(wait4) *wait4;
};

/* The data of a wait that got the status of a child. */
struct wait_data {
	union px_call_data data;
	int32_t child, status;
};

static void record_wait(struct px_site site, uint32_t flags, const struct wait_data *data)
{
	px_hook_record_long(site, flags, data,
			    data->child > 0 ? sizeof(*data) : sizeof(data->data));
}

static pid_t really_wait(const struct wait_request *request, int more)
{
	int options = request->options | more;

	if (request->site.wrapper == PX_WRAPPER_wait && more == 0)
		return px_real.wait(request->status);
	if (request->site.wrapper == PX_WRAPPER_wait || request->site.wrapper == PX_WRAPPER_waitpid)
		return px_real.waitpid(request->pid, request->status, options);
	if (request->wait4)
		return request->wait4(request->pid, request->status, options, request->usage);
	return request->wait3(request->status, options, request->usage);
}

static pid_t traced_wait(const struct wait_request *request)
{
	struct px_hook_sample sample = px_hook_begin();
	struct wait_data data = {.data.of_fd = {.fd = request->pid, .value = (uint32_t)request->options}};
	pid_t result = PX_REAL(&sample, really_wait(request, WNOHANG));
	bool waits = result == 0 && !(request->options & WNOHANG);

	px_vfork_exec_record();
	if (waits) {
		record_wait(request->site, PX_RECORD_BEGINS, &data);
		result = PX_REAL(&sample, really_wait(request, 0));
	}
	data.data.of_fd.result = px_outcome(result);
	if (result > 0) {
		data.child = result;
		data.status = *request->status;
	}
	record_wait(request->site, waits ? PX_RECORD_ENDS : PX_RECORD_WHOLE, &data);
	px_hook_end(&sample, request->site.wrapper);
	return result;
}

PX_WRAP pid_t wait(int *status)
{
	int own;
	const struct wait_request request = {PX_SITE(wait, waitpid), -1, status ?: &own, 0, NULL, NULL, NULL};

	if (PX_NOT_TRACED(process))
		return px_real.wait(status);
	return traced_wait(&request);
}

PX_WRAP pid_t waitpid(pid_t pid, int *status, int options)
{
	int own;
	const struct wait_request request = {PX_SITE(waitpid, waitpid), pid, status ?: &own, options, NULL, NULL, NULL};

	if (PX_NOT_TRACED(process))
		return px_real.waitpid(pid, status, options);
	return traced_wait(&request);
}

#define WAIT3(symbol)                                                                              \
	PX_WRAP pid_t symbol(int *status, int options, struct rusage *usage)                       \
	{                                                                                          \
		int own;                                                                           \
		struct wait_request request = {PX_SITE(symbol, waitpid), -1,                       \
					       status ?: &own, options, usage, NULL, NULL};        \
                                                                                                   \
		if (PX_NOT_TRACED(process))                                                        \
			return px_real.symbol(status, options, usage);                             \
		request.wait3 = px_real.symbol;                                                    \
		return traced_wait(&request);                                                      \
	}
WAIT3(wait3)

#define WAIT4(symbol)                                                                              \
	PX_WRAP pid_t symbol(pid_t pid, int *status, int options, struct rusage *usage)            \
	{                                                                                          \
		int own;                                                                           \
		struct wait_request request = {PX_SITE(symbol, waitpid), pid,                      \
					       status ?: &own, options, usage, NULL, NULL};        \
                                                                                                   \
		if (PX_NOT_TRACED(process))                                                        \
			return px_real.symbol(pid, status, options, usage);                        \
		request.wait4 = px_real.symbol;                                                    \
		return traced_wait(&request);                                                      \
	}
WAIT4(wait4)

#ifdef HAVE_TIME64_FUNCTIONS
/* These differ from the others only in the times of `usage`, which the wrappers pass on. */
WAIT3(__wait3_time64)
WAIT4(__wait4_time64)
#endif

/* Return what wait() stores for this child. */
static int status_of(const siginfo_t *info)
{
	switch (info->si_code) {
	case CLD_EXITED:
		return (info->si_status & 0xFF) << 8;
	case CLD_KILLED:
		return info->si_status;
	case CLD_DUMPED:
		return info->si_status | WCOREFLAG;
	case CLD_CONTINUED:
		return 0xFFFF;
	default:
		return info->si_status << 8 | 0x7F;
	}
}

/* The kernel fills in *info even if no child has changed state, so it is safe to make the call twice. */
static int traced_waitid(struct px_site site, idtype_t type, id_t id, siginfo_t *info, int options)
{
	struct px_hook_sample sample = px_hook_begin();
	struct wait_data data = {.data.of_fd = {.fd = (int)id, .value = (uint32_t)options}};
	siginfo_t own, *to = info ? info : &own;
	int result = PX_REAL(&sample, px_real.waitid(type, id, to, options | WNOHANG));
	bool waits = result == 0 && !(options & WNOHANG) && to->si_pid == 0;

	px_vfork_exec_record();
	if (waits) {
		record_wait(site, PX_RECORD_BEGINS, &data);
		result = PX_REAL(&sample, px_real.waitid(type, id, to, options));
	}
	data.data.of_fd.result = px_outcome(result);
	if (result == 0 && to->si_pid > 0) {
		data.child = to->si_pid;
		data.status = status_of(to);
	}
	record_wait(site, waits ? PX_RECORD_ENDS : PX_RECORD_WHOLE, &data);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	if (PX_NOT_TRACED(process))
		return px_real.waitid(type, id, info, options);
	return traced_waitid(PX_SITE(waitid, waitpid), type, id, info, options);
}

/* This wrapper does not know the pid of the child, so it records every call as a wait. */
PX_WRAP int pclose(FILE *stream)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result;

	if (PX_NOT_TRACED(process))
		return px_real.pclose(stream);
	site = PX_SITE(pclose, waitpid);
	sample = px_hook_begin();
	px_hook_record_fd(site, PX_RECORD_BEGINS, -1, 0, 0);
	result = PX_REAL(&sample, px_real.pclose(stream));
	px_hook_record_fd(site, PX_RECORD_ENDS, -1, 0, px_outcome(result));
	px_hook_end(&sample, site.wrapper);
	return result;
}
