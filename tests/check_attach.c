/* SPDX-License-Identifier: MIT */
/*
 * How streams come to a process and go: threads that find one, or its end, at the same time, each held where
 * the others can see it half done.
 */
#include "common.h"

#include <string.h>
#include <trace.h>

#include "compiler.h"
#include "process.h"

static trace_event_id_t type;

static void setup(void)
{
	ok(posix_trace_eventid_open("attached", &type));
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

static trace_id_t create(void)
{
	return px_test_create(&(struct px_test_stream){.nr_rings = 1, .size = 65536});
}

/* How often the number is reported. */
static int count(trace_id_t stream, uint32_t number)
{
	struct px_test_event event;
	trace_event_id_t found;
	int times = 0;

	while ((found = px_test_take(stream, &event)))
		times += found == type && px_test_number(&event) == number;
	return times;
}

/* A thread that records one event, and is held where its points say, one after the other. */
#define STOPS 3

struct walker {
	pthread_t thread;
	const char *points[STOPS]; /* NULL behind the last */
	int at;
	uint32_t number;
	sem_t arrived, released;
};

static __thread struct walker *walker_self;

/* What the main thread does at a point; once. */
static struct {
	const char *point;
	void (*function)(void);
} act;

static void at_point(const char *name)
{
	struct walker *self = walker_self;

	if (!self) {
		if (act.point && strcmp(name, act.point) == 0) {
			act.point = NULL;
			act.function();
		}
		return;
	}
	if (self->at == STOPS || !self->points[self->at] ||
	    strcmp(name, self->points[self->at]) != 0)
		return;
	self->at++;
	sem_post(&self->arrived);
	while (sem_wait(&self->released) != 0)
		;
}

static void act_at(const char *point, void (*function)(void))
{
	act.function = function;
	act.point = point;
	__atomic_store_n(&px_testpoint_hook, at_point, __ATOMIC_RELEASE);
}

static void *walk(void *argument)
{
	walker_self = argument;
	px_test_trace(type, walker_self->number);
	walker_self->at = STOPS;
	sem_post(&walker_self->arrived);
	return NULL;
}

static void await(struct walker *walker)
{
	while (sem_wait(&walker->arrived) != 0)
		;
}

/* Begin; returns when it is at its first point, or done. */
static void walk_off(struct walker *walker, uint32_t number)
{
	walker->number = number;
	walker->at = 0;
	sem_init(&walker->arrived, 0, 0);
	sem_init(&walker->released, 0, 0);
	__atomic_store_n(&px_testpoint_hook, at_point, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_create(&walker->thread, NULL, walk, walker), 0);
	await(walker);
}

/* On to its next point, or its end. */
static void walk_on(struct walker *walker)
{
	sem_post(&walker->released);
	await(walker);
}

static void walk_home(struct walker *walker)
{
	while (walker->at != STOPS)
		walk_on(walker);
	sem_post(&walker->released);
	pthread_join(walker->thread, NULL);
}

static struct walker first, second;

/* Two threads that have found a stream, mapped it, and sleep before they say so. */
static void two_walk_off(void)
{
	first = (struct walker){.points = {"process.attach.mapped", "process.attach.swapped"}};
	second = (struct walker){.points = {"process.attach.mapped"}};
	walk_off(&first, 101);
	walk_off(&second, 102);
}

static void second_walks_home(void)
{
	walk_home(&second);
}

/* MODEL-1 EVENT-1: threads that slept through the end of a stream put it into the place of the next one. */
START_TEST(attach_of_a_stream_that_ended_meanwhile_leaves_its_successor_attached)
{
	trace_id_t stream;

	act_at("process.attach.mapped", two_walk_off);
	stream = create();
	ck_assert_int_eq(first.at, 1);
	ck_assert_int_eq(second.at, 1);
	ok(posix_trace_shutdown(stream));
	walk_on(&first); /* the ended stream is attached */
	act_at("process.detach.hidden", second_walks_home);
	stream = create(); /* and again, as soon as the creator has taken it out */
	ok(posix_trace_start(stream));
	act.point = NULL;
	px_test_trace(type, 1);
	ck_assert_int_eq(count(stream, 1), 1);
	walk_home(&first);
	px_test_trace(type, 2);
	ck_assert_int_eq(count(stream, 2), 1);
	ok(posix_trace_shutdown(stream));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attach");
	TCase *races = tcase_create("races");

	tcase_add_checked_fixture(races, setup, teardown);
	tcase_set_timeout(races, 30);
	tcase_add_test(races,
		       attach_of_a_stream_that_ended_meanwhile_leaves_its_successor_attached);
	suite_add_tcase(suite, races);
	return run_suite(suite);
}
