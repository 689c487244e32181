/* SPDX-License-Identifier: MIT */
/*
 * <trace.h>: constants, limits, members, prototypes.  The compiler checks most of them; the tests only give these
 * checks names. tests/tree/headers.sh compiles the header alone, as C and C++.
 */
#include <limits.h>
#include <unistd.h>
#include <trace.h>

#include "support/common.h"

#include <pthread.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* HDR-11: constants for the compiler; those that are plain integers also work in the preprocessor. */
#if POSIX_TRACE_SUSPENDED != 0 || POSIX_TRACE_RUNNING == 0
#error "stream status"
#endif
#if POSIX_TRACE_NOT_FULL != 0 || POSIX_TRACE_FULL == 0
#error "full status"
#endif
#if POSIX_TRACE_NO_OVERRUN != 0 || POSIX_TRACE_OVERRUN == 0
#error "overrun status"
#endif
#if POSIX_TRACE_NOT_FLUSHING != 0 || POSIX_TRACE_FLUSHING == 0
#error "flush status"
#endif
#if POSIX_TRACE_NOT_TRUNCATED != 0 || POSIX_TRACE_TRUNCATED_RECORD == POSIX_TRACE_TRUNCATED_READ
#error "truncation"
#endif
#if POSIX_TRACE_CLOSE_FOR_CHILD != 0 || POSIX_TRACE_INHERITED == 0
#error "inheritance"
#endif
#if POSIX_TRACE_LOOP == POSIX_TRACE_UNTIL_FULL || POSIX_TRACE_FLUSH == POSIX_TRACE_APPEND
#error "policies"
#endif
#if POSIX_TRACE_ERROR == 0 || POSIX_TRACE_START == POSIX_TRACE_STOP || \
	POSIX_TRACE_FILTER == POSIX_TRACE_OVERFLOW || \
	POSIX_TRACE_RESUME == POSIX_TRACE_FLUSH_START || \
	POSIX_TRACE_FLUSH_STOP == POSIX_TRACE_UNNAMED_USER_EVENT
#error "event types"
#endif
#if POSIX_TRACE_UNNAMED_USEREVENT != POSIX_TRACE_UNNAMED_USER_EVENT
#error "AMB-9"
#endif
#if POSIX_TRACE_ALL_EVENTS == POSIX_TRACE_SYSTEM_EVENTS || POSIX_TRACE_WOPID_EVENTS == 0
#error "set contents"
#endif
#if POSIX_TRACE_SET_EVENTSET == POSIX_TRACE_ADD_EVENTSET || POSIX_TRACE_SUB_EVENTSET == 0
#error "filter operations"
#endif

/* The values of a group must differ. zero_first: the first value is 0 and stands for "none". */
struct shared_names {
	const char *name;
	bool zero_first;
	unsigned int count;
	long long value[10];
};

/* All symbols; those that initialise a static object are constant expressions. */
static const struct shared_names families[] = {
	{"stream status", true, 2, {POSIX_TRACE_SUSPENDED, POSIX_TRACE_RUNNING}},
	{"full status", true, 2, {POSIX_TRACE_NOT_FULL, POSIX_TRACE_FULL}},
	{"overrun status", true, 2, {POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_OVERRUN}},
	{"flush status", true, 2, {POSIX_TRACE_NOT_FLUSHING, POSIX_TRACE_FLUSHING}},
	{"truncation",
	 true,
	 3,
	 {POSIX_TRACE_NOT_TRUNCATED, POSIX_TRACE_TRUNCATED_RECORD, POSIX_TRACE_TRUNCATED_READ}},
	{"inheritance", true, 2, {POSIX_TRACE_CLOSE_FOR_CHILD, POSIX_TRACE_INHERITED}},
	{"policies",
	 false,
	 4,
	 {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND}},
	/* 0 is "no event". */
	{"event types",
	 true,
	 10,
	 {0, POSIX_TRACE_ERROR, POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_FILTER,
	  POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME, POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP,
	  POSIX_TRACE_UNNAMED_USEREVENT}},
	{"set contents",
	 false,
	 3,
	 {POSIX_TRACE_WOPID_EVENTS, POSIX_TRACE_SYSTEM_EVENTS, POSIX_TRACE_ALL_EVENTS}},
	{"filter operations",
	 false,
	 3,
	 {POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET, POSIX_TRACE_SUB_EVENTSET}},
};

/* HDR-9 HDR-10 HDR-11 SYSEV-1 */
START_TEST(constants_of_a_family_are_distinct)
{
	const struct shared_names *shared_names = &families[_i];

	if (shared_names->zero_first)
		ck_assert_int_eq(shared_names->value[0], 0);
	for (unsigned int i = 0; i < shared_names->count; i++)
		for (unsigned int j = i + 1; j < shared_names->count; j++)
			ck_assert_msg(shared_names->value[i] != shared_names->value[j],
				      "%s: %u and %u", shared_names->name, i, j);
}
END_TEST

#define HAS_TYPE(expression, type) _Generic((expression), type: 1, default: 0)
#define MEMBER_IS(structure, member, type) HAS_TYPE(&((struct structure *)NULL)->member, type *)

/* HDR-9 AMB-9: event types have the type of ids, the others have type int.  A value with two names is listed twice. */
START_TEST(constants_have_their_types)
{
	_Static_assert(HAS_TYPE(POSIX_TRACE_ERROR, trace_event_id_t), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_START, trace_event_id_t), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_STOP, trace_event_id_t), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_FILTER, trace_event_id_t), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_OVERFLOW, trace_event_id_t), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_RESUME, trace_event_id_t), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_FLUSH_START, trace_event_id_t), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_FLUSH_STOP, trace_event_id_t), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_UNNAMED_USEREVENT, trace_event_id_t), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_UNNAMED_USER_EVENT, trace_event_id_t), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_RUNNING, int), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_LOOP, int), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_ALL_EVENTS, int), "");
	_Static_assert(HAS_TYPE(POSIX_TRACE_SET_EVENTSET, int), "");
	ck_assert_uint_eq(POSIX_TRACE_UNNAMED_USEREVENT, POSIX_TRACE_UNNAMED_USER_EVENT);
}
END_TEST

/* HDR-2 */
START_TEST(event_info_has_its_members)
{
	_Static_assert(MEMBER_IS(posix_trace_event_info, posix_event_id, trace_event_id_t), "");
	_Static_assert(MEMBER_IS(posix_trace_event_info, posix_pid, pid_t), "");
	_Static_assert(MEMBER_IS(posix_trace_event_info, posix_prog_address, void *), "");
	_Static_assert(MEMBER_IS(posix_trace_event_info, posix_thread_id, pthread_t), "");
	_Static_assert(MEMBER_IS(posix_trace_event_info, posix_timestamp, struct timespec), "");
	_Static_assert(MEMBER_IS(posix_trace_event_info, posix_truncation_status, int), "");
}
END_TEST

/* HDR-3 */
START_TEST(status_info_has_its_members)
{
	_Static_assert(MEMBER_IS(posix_trace_status_info, posix_stream_status, int), "");
	_Static_assert(MEMBER_IS(posix_trace_status_info, posix_stream_full_status, int), "");
	_Static_assert(MEMBER_IS(posix_trace_status_info, posix_stream_overrun_status, int), "");
	_Static_assert(MEMBER_IS(posix_trace_status_info, posix_stream_flush_status, int), "");
	_Static_assert(MEMBER_IS(posix_trace_status_info, posix_stream_flush_error, int), "");
	_Static_assert(MEMBER_IS(posix_trace_status_info, posix_log_overrun_status, int), "");
	_Static_assert(MEMBER_IS(posix_trace_status_info, posix_log_full_status, int), "");
}
END_TEST

/* HDR-4: these values belong to the ABI. */
START_TEST(structures_have_their_fixed_order_and_a_tail)
{
	static const size_t info[] = {
		offsetof(struct posix_trace_event_info, posix_event_id),
		offsetof(struct posix_trace_event_info, posix_pid),
		offsetof(struct posix_trace_event_info, posix_prog_address),
		offsetof(struct posix_trace_event_info, posix_thread_id),
		offsetof(struct posix_trace_event_info, posix_timestamp),
		offsetof(struct posix_trace_event_info, posix_truncation_status),
		sizeof(struct posix_trace_event_info) - 7 * sizeof(int),
	};
	static const size_t status[] = {
		offsetof(struct posix_trace_status_info, posix_stream_status),
		offsetof(struct posix_trace_status_info, posix_stream_full_status),
		offsetof(struct posix_trace_status_info, posix_stream_overrun_status),
		offsetof(struct posix_trace_status_info, posix_stream_flush_status),
		offsetof(struct posix_trace_status_info, posix_stream_flush_error),
		offsetof(struct posix_trace_status_info, posix_log_overrun_status),
		offsetof(struct posix_trace_status_info, posix_log_full_status),
		sizeof(struct posix_trace_status_info) - 9 * sizeof(int),
	};

	for (size_t i = 1; i < COUNT(info); i++)
		ck_assert_uint_gt(info[i], info[i - 1]);
	for (size_t i = 1; i < COUNT(status); i++)
		ck_assert_uint_eq(status[i], i * sizeof(int));
	ck_assert_uint_eq(sizeof(trace_attr_t), 512);
	ck_assert_uint_eq(sizeof(trace_event_set_t), 512);
}
END_TEST

/* LIM-1 LIM-4; TRACE_EVENT_NAME_MAX is 59, because a name in the trace buffer has 60 bytes. */
START_TEST(limits_are_at_least_their_minimum)
{
	_Static_assert(_POSIX_TRACE_EVENT_NAME_MAX == 30, "");
	_Static_assert(_POSIX_TRACE_NAME_MAX == 8, "");
	_Static_assert(_POSIX_TRACE_SYS_MAX == 8, "");
	_Static_assert(_POSIX_TRACE_USER_EVENT_MAX == 32, "");
	_Static_assert(TRACE_EVENT_NAME_MAX >= _POSIX_TRACE_EVENT_NAME_MAX, "");
	_Static_assert(TRACE_NAME_MAX >= _POSIX_TRACE_NAME_MAX, "");
	_Static_assert(TRACE_SYS_MAX >= _POSIX_TRACE_SYS_MAX, "");
	_Static_assert(TRACE_USER_EVENT_MAX >= _POSIX_TRACE_USER_EVENT_MAX, "");
	ck_assert_int_eq(TRACE_EVENT_NAME_MAX, 59);
	ck_assert_int_eq(TRACE_NAME_MAX, 63);
	ck_assert_int_eq(TRACE_SYS_MAX, 64);
	ck_assert_int_eq(TRACE_USER_EVENT_MAX, 1024);
}
END_TEST

#if TRACE_EVENT_NAME_MAX < _POSIX_TRACE_EVENT_NAME_MAX || TRACE_NAME_MAX < _POSIX_TRACE_NAME_MAX
#error "limits are for the preprocessor, too"
#endif

/* LIM-2: -1 means that sysconf() knows no limit, so it does not restrict. */
START_TEST(sysconf_limits_are_not_more_restrictive)
{
	static const struct {
		int name;
		long limit;
	} limits[] = {
		{_SC_TRACE_EVENT_NAME_MAX, TRACE_EVENT_NAME_MAX},
		{_SC_TRACE_NAME_MAX, TRACE_NAME_MAX},
		{_SC_TRACE_SYS_MAX, TRACE_SYS_MAX},
		{_SC_TRACE_USER_EVENT_MAX, TRACE_USER_EVENT_MAX},
	};

	for (size_t i = 0; i < COUNT(limits); i++) {
		long value;

		errno = 0;
		value = sysconf(limits[i].name);
		ck_assert(value == -1 || value >= limits[i].limit);
		ck_assert_int_eq(errno, 0);
	}
}
END_TEST

#if _POSIX_TRACE != 200809L || _POSIX_TRACE_EVENT_FILTER != 200809L || \
	_POSIX_TRACE_INHERIT != 200809L || _POSIX_TRACE_LOG != 200809L
#error "CFG-1"
#endif

/* CFG-1 CFG-2: after <trace.h>, even if <unistd.h> was included before it. */
START_TEST(options_are_all_supported)
{
	ck_assert_int_eq(_POSIX_TRACE, 200809L);
	ck_assert_int_eq(_POSIX_TRACE_EVENT_FILTER, 200809L);
	ck_assert_int_eq(_POSIX_TRACE_INHERIT, 200809L);
	ck_assert_int_eq(_POSIX_TRACE_LOG, 200809L);
}
END_TEST

/* CFG-3: the library does not replace sysconf(), so the C library answers. */
START_TEST(sysconf_options_are_those_of_the_c_library)
{
	static const int names[] = {_SC_TRACE, _SC_TRACE_EVENT_FILTER, _SC_TRACE_INHERIT,
				    _SC_TRACE_LOG};

	for (size_t i = 0; i < COUNT(names); i++)
		ck_assert_int_eq(sysconf(names[i]), -1);
}
END_TEST

/* Each function except posix_trace_event(): name, arguments. */
#define FUNCTIONS(f)                                                                               \
	f(attr_init, (trace_attr_t *))                                                             \
	f(attr_destroy, (trace_attr_t *))                                                          \
	f(attr_getclockres, (const trace_attr_t *, struct timespec *))                             \
	f(attr_getcreatetime, (const trace_attr_t *, struct timespec *))                           \
	f(attr_getgenversion, (const trace_attr_t *, char *))                                      \
	f(attr_getname, (const trace_attr_t *, char *))                                            \
	f(attr_setname, (trace_attr_t *, const char *))                                            \
	f(attr_getinherited, (const trace_attr_t *restrict, int *restrict))                        \
	f(attr_setinherited, (trace_attr_t *, int))                                                \
	f(attr_getstreamfullpolicy, (const trace_attr_t *restrict, int *restrict))                 \
	f(attr_setstreamfullpolicy, (trace_attr_t *, int))                                         \
	f(attr_getmaxdatasize, (const trace_attr_t *restrict, size_t *restrict))                   \
	f(attr_setmaxdatasize, (trace_attr_t *, size_t))                                           \
	f(attr_getmaxsystemeventsize, (const trace_attr_t *restrict, size_t *restrict))            \
	f(attr_getmaxusereventsize, (const trace_attr_t *restrict, size_t, size_t *restrict))      \
	f(attr_getstreamsize, (const trace_attr_t *restrict, size_t *restrict))                    \
	f(attr_setstreamsize, (trace_attr_t *, size_t))                                            \
	f(attr_getlogfullpolicy, (const trace_attr_t *restrict, int *restrict))                    \
	f(attr_setlogfullpolicy, (trace_attr_t *, int))                                            \
	f(attr_getlogsize, (const trace_attr_t *restrict, size_t *restrict))                       \
	f(attr_setlogsize, (trace_attr_t *, size_t))                                               \
	f(create_withlog, (pid_t, const trace_attr_t *restrict, int, trace_id_t *restrict))        \
	f(flush, (trace_id_t))                                                                     \
	f(open, (int, trace_id_t *))                                                               \
	f(rewind, (trace_id_t))                                                                    \
	f(close, (trace_id_t))                                                                     \
	f(create, (pid_t, const trace_attr_t *restrict, trace_id_t *restrict))                     \
	f(shutdown, (trace_id_t))                                                                  \
	f(clear, (trace_id_t))                                                                     \
	f(start, (trace_id_t))                                                                     \
	f(stop, (trace_id_t))                                                                      \
	f(get_attr, (trace_id_t, trace_attr_t *))                                                  \
	f(get_status, (trace_id_t, struct posix_trace_status_info *))                              \
	f(get_filter, (trace_id_t, trace_event_set_t *))                                           \
	f(set_filter, (trace_id_t, const trace_event_set_t *, int))                                \
	f(eventid_open, (const char *restrict, trace_event_id_t *restrict))                        \
	f(trid_eventid_open, (trace_id_t, const char *restrict, trace_event_id_t *restrict))       \
	f(eventid_equal, (trace_id_t, trace_event_id_t, trace_event_id_t))                         \
	f(eventid_get_name, (trace_id_t, trace_event_id_t, char *))                                \
	f(eventtypelist_getnext_id, (trace_id_t, trace_event_id_t *restrict, int *restrict))       \
	f(eventtypelist_rewind, (trace_id_t))                                                      \
	f(eventset_add, (trace_event_id_t, trace_event_set_t *))                                   \
	f(eventset_del, (trace_event_id_t, trace_event_set_t *))                                   \
	f(eventset_empty, (trace_event_set_t *))                                                   \
	f(eventset_fill, (trace_event_set_t *, int))                                               \
	f(eventset_ismember,                                                                       \
	  (trace_event_id_t, const trace_event_set_t *restrict, int *restrict))                    \
	f(getnext_event,                                                                           \
	  (trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t,            \
	   size_t *restrict, int *restrict))                                                       \
	f(timedgetnext_event,                                                                      \
	  (trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t,            \
	   size_t *restrict, int *restrict, const struct timespec *restrict))                      \
	f(trygetnext_event,                                                                        \
	  (trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t,            \
	   size_t *restrict, int *restrict))

#define AS_PROTOTYPED(name, arguments)                                                             \
	_Static_assert(HAS_TYPE(&posix_trace_##name, int(*) arguments), #name);
#define AS_POINTER(name, arguments) (void (*)(void))&posix_trace_##name,

FUNCTIONS(AS_PROTOTYPED)
_Static_assert(HAS_TYPE(&posix_trace_event,
		       void (*)(trace_event_id_t, const void *restrict, size_t)), "event");

/* HDR-5 EVENT-18 */
START_TEST(functions_have_addresses)
{
	static void (*const volatile pointers[])(void) = {
		FUNCTIONS(AS_POINTER)
		(void (*)(void))&posix_trace_event,
	};

	ck_assert_uint_eq(COUNT(pointers), 50);
	for (size_t i = 0; i < COUNT(pointers); i++) {
		ck_assert(pointers[i] != NULL);
		for (size_t j = 0; j < i; j++)
			ck_assert(pointers[i] != pointers[j]);
	}
}
END_TEST

/* HDR-5 EVENT-18: in parentheses, and without the macro. */
START_TEST(functions_without_their_macros_can_be_called)
{
	int member = -1;
	trace_event_set_t set;

	(posix_trace_event)(0, NULL, 0);
	posix_trace_event(0, NULL, 0);
#undef posix_trace_event
	posix_trace_event(0, NULL, 0);
#undef posix_trace_eventset_empty
#undef posix_trace_eventset_ismember
	ok(posix_trace_eventset_empty(&set));
	ok((posix_trace_eventset_ismember)(POSIX_TRACE_START, &set, &member));
	ck_assert_int_eq(member, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("limits");
	TCase *tcase = tcase_create("limits");

	tcase_add_loop_test(tcase, constants_of_a_family_are_distinct, 0, COUNT(families));
	tcase_add_test(tcase, constants_have_their_types);
	tcase_add_test(tcase, event_info_has_its_members);
	tcase_add_test(tcase, status_info_has_its_members);
	tcase_add_test(tcase, structures_have_their_fixed_order_and_a_tail);
	tcase_add_test(tcase, limits_are_at_least_their_minimum);
	tcase_add_test(tcase, sysconf_limits_are_not_more_restrictive);
	tcase_add_test(tcase, options_are_all_supported);
	tcase_add_test(tcase, sysconf_options_are_those_of_the_c_library);
	tcase_add_test(tcase, functions_have_addresses);
	tcase_add_test(tcase, functions_without_their_macros_can_be_called);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
