/* SPDX-License-Identifier: MIT */
#include "support/helper_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"

#define HELPERS_MAX 512

static const struct px_named_trick *own_tricks;
static char program[4096];

/* The same program for a process of another user, who may not enter the directory of the build. */
static const char program_anywhere[] = "/proc/self/exe";

/* The sockets of helpers that this process holds: a child closes them, so that each helper ends with its test. */
static int held_fd[HELPERS_MAX];
static int nr_held_fds;

/* In a helper: the socket of its orders, and its streams. */
static int served_fd = -1;
static trace_id_t own_stream[PX_HELPER_STREAMS];

/* Orders. */

static void send_order(int fd, const struct px_order *order, int passed_fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec bytes = {(void *)(uintptr_t)order, sizeof(*order)};
	struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};

	if (passed_fd >= 0) {
		memset(&control, 0, sizeof(control));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &passed_fd, sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* Return false at the end, or after a time that is longer than any trick takes. */
static bool receive_order(int fd, struct px_order *order, int *passed_fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec bytes = {order, sizeof(*order)};
	struct msghdr message = {.msg_iov = &bytes,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t got;

	memset(&control, 0, sizeof(control));
	do
		got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	*passed_fd = -1;
	if (message.msg_controllen >= CMSG_LEN(sizeof(int)) && got > 0)
		memcpy(passed_fd, CMSG_DATA(&control.header), sizeof(int));
	return got == (ssize_t)sizeof(*order);
}

static struct px_order make_order(const char *name, int64_t a, int64_t b, const char *text)
{
	struct px_order order = {.a = a, .b = b};

	snprintf(order.name, sizeof(order.name), "%s", name);
	snprintf(order.text, sizeof(order.text), "%s", text ? text : "");
	return order;
}

/* Ways to make a process.  These run in a child with its own memory. */

_Noreturn static void serve(void);

static void become_helper(int fd)
{
	for (int i = 0; i < nr_held_fds; i++)
		close(held_fd[i]);
	nr_held_fds = 0;
	if (served_fd >= 0)
		close(served_fd);
	served_fd = fd;
	serve();
}

static void say_who(int fd)
{
	struct px_order hello = make_order("hello", getpid(), 0, NULL);

	send_order(fd, &hello, -1);
}

/* Async-signal-safe, for vfork. */
static void exec_program(int fd, const char *number)
{
	char *const arguments[] = {program, (char *)(uintptr_t) "--helper",
				   (char *)(uintptr_t)number, NULL};

	fcntl(fd, F_SETFD, 0);
	execv(program, arguments);
	execv(program_anywhere, arguments);
	_exit(127);
}

/* Shells know only descriptors with one digit. */
static void exec_shell(int fd, const char *script)
{
	if (fd == 3)
		fcntl(fd, F_SETFD, 0);
	else
		dup2(fd, 3);
	execl("/bin/sh", "sh", "-c", script, program, (char *)NULL);
	_exit(127);
}

static pid_t spawn_program(int fd, const char *number)
{
	char *const arguments[] = {program, (char *)(uintptr_t) "--helper",
				   (char *)(uintptr_t)number, NULL};
	posix_spawn_file_actions_t actions;
	pid_t child = -1;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, fd);
	if (posix_spawn(&child, program, &actions, NULL, arguments, environ) != 0 &&
	    posix_spawn(&child, program_anywhere, &actions, NULL, arguments, environ) != 0)
		child = -1;
	posix_spawn_file_actions_destroy(&actions);
	return child;
}

/* Run in the child.  It returns if the child goes on as a helper. */
static void grow_up(enum px_birth birth, int fd, const char *number)
{
	pid_t middle = getpid();

	switch (birth) {
	case PX_BY_FORK_EXEC:
		exec_program(fd, number);
		break;
	case PX_BY_SHELL:
		exec_shell(fd, "\"$0\" --helper 3; :");
		break;
	case PX_BY_SHELL_LATER:
		say_who(fd);
		exec_shell(fd, "read line <&3; exec \"$0\" --helper 3");
		break;
	case PX_BY_FORK_ORPHAN:
		if (fork() != 0)
			_exit(0);
		while (getppid() == middle)
			sched_yield();
		break;
	default:
		break;
	}
}

/* Make a child that serves fd.  Return its pid, if it is a child of this process. */
static pid_t bear(enum px_birth birth, int fd)
{
	char number[16];
	pid_t child;

	snprintf(number, sizeof(number), "%d", fd);
	if (birth == PX_BY_SPAWN)
		return spawn_program(fd, number);
	if (birth == PX_BY_VFORK_EXEC) {
		child = vfork();
		if (child == 0)
			exec_program(fd, number);
		return child;
	}
	if (birth == PX_BY_CLONE)
		child = px_test_clone();
	else
		child = fork();
	if (child == 0) {
		grow_up(birth, fd, number);
		say_who(fd);
		become_helper(fd);
	}
	if (birth == PX_BY_FORK_ORPHAN)
		waitpid(child, NULL, 0);
	return child;
}

/* Tricks. */

static void trick_open(struct px_order *order)
{
	trace_event_id_t id = 0;

	order->a = posix_trace_eventid_open(order->text, &id);
	order->b = id;
}

static void trick_trace(struct px_order *order)
{
	px_test_trace((trace_event_id_t)order->a, (uint32_t)order->b);
}

static int create_for(pid_t target, bool inherited, trace_id_t *stream)
{
	trace_attr_t attr;

	if (posix_trace_attr_init(&attr) || txtrace_attr_setrings(&attr, 1) ||
	    posix_trace_attr_setstreamsize(&attr, 65536) ||
	    posix_trace_attr_setinherited(&attr, inherited ? POSIX_TRACE_INHERITED :
							     POSIX_TRACE_CLOSE_FOR_CHILD))
		return -1;
	return posix_trace_create(target, &attr, stream);
}

static void trick_create(struct px_order *order)
{
	order->a = create_for((pid_t)order->b, order->text[0] == 'i', &own_stream[order->a]);
}

static void trick_start(struct px_order *order)
{
	order->a = posix_trace_start(own_stream[order->a]);
}

static void trick_trid_open(struct px_order *order)
{
	trace_event_id_t id = 0;

	order->a = posix_trace_trid_eventid_open(own_stream[order->a], order->text, &id);
	order->b = id;
}

static void trick_shutdown(struct px_order *order)
{
	order->a = posix_trace_shutdown(own_stream[order->a]);
}

static void trick_take(struct px_order *order)
{
	struct posix_trace_event_info info = {0};
	uint32_t number = 0;
	size_t length;
	int unavailable = 1;

	if (posix_trace_trygetnext_event(own_stream[order->a], &info, &number, sizeof(number),
					 &length, &unavailable) != 0)
		abort();
	order->a = unavailable ? 0 : (int64_t)info.posix_event_id;
	order->b = number;
	order->c = info.posix_pid;
}

static void trick_exec(struct px_order *order)
{
	char number[16];

	if (order->text[0])
		snprintf(program, sizeof(program), "%s", order->text);
	snprintf(number, sizeof(number), "%d", served_fd);
	exec_program(served_fd, number);
}

/* Another program, without the library; it stays until it is killed. */
static void trick_sleep(struct px_order *order)
{
	order->a = execlp("sleep", "sleep", "1000", (char *)NULL);
}

static void trick_exec_nothing(struct px_order *order)
{
	order->a = execl("/nonexistent", "nonexistent", (char *)NULL);
}

static void trick_exit(struct px_order *order)
{
	if (order->b)
		_exit((int)order->a);
	exit((int)order->a);
}

/* Test points: an action at one of them, once. */
static char point[96];
static int point_signal; /* 0: be held */

static bool obey(void);

static void at_point(const char *name)
{
	struct px_order held = make_order("held", 0, 0, NULL);

	if (strcmp(name, point) != 0)
		return;
	point[0] = '\0';
	if (point_signal) {
		raise(point_signal);
		return;
	}
	send_order(served_fd, &held, -1);
	while (obey())
		;
}

static void trick_hold(struct px_order *order)
{
	point_signal = (int)order->a;
	snprintf(point, sizeof(point), "%s", order->text);
	__atomic_store_n(&px_testpoint_hook, at_point, __ATOMIC_RELEASE);
}

static const struct px_named_trick common_tricks[] = {
	{"open", trick_open},
	{"trace", trick_trace},
	{"create", trick_create},
	{"start", trick_start},
	{"trid-open", trick_trid_open},
	{"shutdown", trick_shutdown},
	{"take", trick_take},
	{"exec", trick_exec},
	{"sleep", trick_sleep},
	{"exec-nothing", trick_exec_nothing},
	{"exit", trick_exit},
	{"hold", trick_hold},
	{NULL, NULL},
};

static px_trick *find_trick(const struct px_named_trick *tricks, const char *name)
{
	for (; tricks && tricks->name; tricks++)
		if (strcmp(tricks->name, name) == 0)
			return tricks->trick;
	return NULL;
}

/* False: released. */
static bool obey(void)
{
	struct px_order order;
	px_trick *trick;
	int fd;

	if (!receive_order(served_fd, &order, &fd))
		_exit(0);
	if (strcmp(order.name, "release") == 0)
		return false;
	if (strcmp(order.name, "make") == 0) {
		order.b = bear((enum px_birth)order.a, fd);
		close(fd);
	} else {
		trick = find_trick(common_tricks, order.name);
		if (!trick)
			trick = find_trick(own_tricks, order.name);
		if (!trick)
			abort();
		trick(&order);
	}
	send_order(served_fd, &order, -1);
	return true;
}

_Noreturn static void serve(void)
{
	for (;;)
		obey();
}

void px_helper_go_on(const struct px_order *answer)
{
	send_order(served_fd, answer, -1);
	serve();
}

bool px_helper_main(int argc, char **argv, const struct px_named_trick *tricks)
{
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length < 0)
		abort();
	own_tricks = tricks;
	if (argc != 3 || strcmp(argv[1], "--helper") != 0)
		return false;
	served_fd = atoi(argv[2]);
	fcntl(served_fd, F_SETFD, FD_CLOEXEC);
	say_who(served_fd);
	serve();
}

/* The test's side. */

static void make_sockets(int fd[2])
{
	const struct timeval give_up = {30, 0};

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
	setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &give_up, sizeof(give_up));
	ck_assert_int_lt(nr_held_fds, HELPERS_MAX);
	held_fd[nr_held_fds++] = fd[0];
}

static struct px_order expect_order(const struct px_helper *helper, const char *name)
{
	struct px_order order = {.name = "nothing"};
	int fd;

	receive_order(helper->fd, &order, &fd);
	ck_assert_str_eq(order.name, name);
	return order;
}

static struct px_helper await_helper(enum px_birth birth, int fd)
{
	struct px_helper helper = {.fd = fd};
	char path[64], name[16] = "";
	FILE *file;

	helper.pid = (pid_t)expect_order(&helper, "hello").a;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)helper.pid);
	while (birth == PX_BY_SHELL_LATER && strcmp(name, "sh\n") != 0) {
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		ck_assert_ptr_nonnull(fgets(name, sizeof(name), file));
		fclose(file);
	}
	return helper;
}

struct px_helper px_helper_make(enum px_birth birth)
{
	int fd[2];

	make_sockets(fd);
	ck_assert_int_ge(bear(birth, fd[1]), 0);
	close(fd[1]);
	return await_helper(birth, fd[0]);
}

struct px_helper px_helper_make_by(const struct px_helper *parent, enum px_birth birth)
{
	struct px_order order = make_order("make", birth, 0, NULL);
	int fd[2];

	make_sockets(fd);
	send_order(parent->fd, &order, fd[1]);
	close(fd[1]);
	ck_assert_int_ge((int)expect_order(parent, "make").b, 0);
	return await_helper(birth, fd[0]);
}

void px_helper_wake(struct px_helper *helper)
{
	ck_assert_int_eq(send(helper->fd, "\n", 1, MSG_NOSIGNAL), 1);
	ck_assert_int_eq((pid_t)expect_order(helper, "hello").a, helper->pid);
}

void px_helper_begin(const struct px_helper *helper, const char *name, int64_t a, int64_t b,
		     const char *text)
{
	struct px_order order = make_order(name, a, b, text);

	send_order(helper->fd, &order, -1);
}

struct px_order px_helper_end(const struct px_helper *helper)
{
	struct px_order order = {.name = "nothing"};
	int fd;

	receive_order(helper->fd, &order, &fd);
	ck_assert_str_ne(order.name, "nothing");
	ck_assert_str_ne(order.name, "held");
	return order;
}

struct px_order px_helper_do(const struct px_helper *helper, const char *name, int64_t a, int64_t b,
			     const char *text)
{
	px_helper_begin(helper, name, a, b, text);
	return px_helper_end(helper);
}

void px_helper_hold_at(const struct px_helper *helper, const char *name)
{
	px_helper_do(helper, "hold", 0, 0, name);
}

void px_helper_signal_at(const struct px_helper *helper, const char *name, int signal)
{
	px_helper_do(helper, "hold", signal, 0, name);
}

void px_helper_await_held(const struct px_helper *helper)
{
	expect_order(helper, "held");
}

void px_helper_release(const struct px_helper *helper)
{
	px_helper_begin(helper, "release", 0, 0, NULL);
}

void px_helper_await_gone(const struct px_helper *helper)
{
	int fd = (int)syscall(SYS_pidfd_open, helper->pid, 0);
	struct pollfd end = {.fd = fd, .events = POLLIN};

	if (fd >= 0) {
		ck_assert_int_eq(poll(&end, 1, 30000), 1);
		close(fd);
	}
	waitpid(helper->pid, NULL, WNOHANG); /* if it is a child of this process */
}

void px_helper_kill(const struct px_helper *helper)
{
	kill(helper->pid, SIGKILL);
	px_helper_await_gone(helper);
}

void px_helper_await_state(const struct px_helper *helper, char state)
{
	char path[64], text[512];
	const char *at;
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)helper->pid);
	do {
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		length = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		text[length] = '\0';
		at = strrchr(text, ')');
		ck_assert_ptr_nonnull(at);
	} while (at[2] != state);
}

trace_event_id_t px_helper_open(const struct px_helper *helper, const char *name)
{
	struct px_order answer = px_helper_do(helper, "open", 0, 0, name);

	ok((int)answer.a);
	return (trace_event_id_t)answer.b;
}

void px_helper_trace(const struct px_helper *helper, trace_event_id_t type, uint32_t number)
{
	px_helper_do(helper, "trace", type, number, NULL);
}

int px_helper_create(const struct px_helper *helper, int stream, pid_t target, bool inherited)
{
	return (int)px_helper_do(helper, "create", stream, target, inherited ? "i" : "").a;
}

int px_helper_start(const struct px_helper *helper, int stream)
{
	return (int)px_helper_do(helper, "start", stream, 0, NULL).a;
}

int px_helper_shutdown(const struct px_helper *helper, int stream)
{
	return (int)px_helper_do(helper, "shutdown", stream, 0, NULL).a;
}

trace_event_id_t px_helper_take(const struct px_helper *helper, int stream, uint32_t *number,
				pid_t *pid)
{
	struct px_order answer = px_helper_do(helper, "take", stream, 0, NULL);

	if (number)
		*number = (uint32_t)answer.b;
	if (pid)
		*pid = (pid_t)answer.c;
	return (trace_event_id_t)answer.a;
}

trace_id_t px_test_create_for(pid_t target, bool inherited)
{
	trace_id_t stream;

	ok(create_for(target, inherited, &stream));
	return stream;
}

trace_id_t px_test_start_for(pid_t target, bool inherited)
{
	trace_id_t stream = px_test_create_for(target, inherited);

	ok(posix_trace_start(stream));
	return stream;
}

int64_t px_test_next_number(trace_id_t stream, struct px_test_event *event)
{
	trace_event_id_t type;

	do
		type = px_test_take(stream, event);
	while (type != 0 && type <= POSIX_TRACE_UNNAMED_USEREVENT);
	return type == 0 ? -1 : (int64_t)px_test_number(event);
}

void px_test_expect_number(trace_id_t stream, uint32_t number, pid_t pid)
{
	struct px_test_event event;

	ck_assert_int_eq(px_test_next_number(stream, &event), number);
	ck_assert_int_eq(event.info.posix_pid, pid);
}

int px_test_count_segments(void)
{
	DIR *directory = opendir(px_test_directory());
	struct dirent *entry;
	int count = 0;

	ck_assert_ptr_nonnull(directory);
	while ((entry = readdir(directory)))
		count += strncmp(entry->d_name, "stream.", 7) == 0;
	closedir(directory);
	return count;
}
