/* SPDX-License-Identifier: MIT */
/*
 * A thread waits in each call that may wait and that has no object of threads: locks of files, objects of System V,
 * signals, FIFOs, pipes, futexes.  The main thread ends each wait after it has seen the thread sleep.  It uses system
 * calls for this, so its calls are not recorded.
 */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "oracle/oracle.h"

/* A futex, which a program in C++ would call bank::word. */
static uint32_t word __asm__("_ZN4bank4wordE");
static const char *word_name = "_ZN4bank4wordE";

static int file_fd, lock_fd, empty_pipe[2], full_socket[2], semaphores, queue, event, ring;
static aio_context_t requests; /* 0: the kernel has no such requests */
static atomic_int worker_tid;
static char directory[] = "/tmp/oracle-XXXXXX", file[64], fifo[64], other_fifo[64];

struct message {
	long type;
	char text[64];
};

/* Steps: the worker waits in a call, and the main thread ends the wait. */
struct step {
	const char *service;
	const volatile void *object;
	void (*wait)(void);
	void (*wake)(void);
};

static void is_true(bool is, const char *what)
{
	if (!is) {
		dprintf(2, "calls: %s: %s\n", what, strerror(errno));
		exit(1);
	}
}
#define MUST(condition) is_true(condition, #condition)

static void send_signal(int number)
{
	MUST(syscall(SYS_tgkill, getpid(), worker_tid, number) == 0);
}

static void send_first(void)
{
	send_signal(SIGUSR1);
}

static void send_handled(void)
{
	send_signal(SIGUSR2);
}

static void feed_pipe(void)
{
	MUST(syscall(SYS_write, empty_pipe[1], "x", 1) == 1);
}

/* Locks of files. */

static void wait_flock(void)
{
	MUST(ORACLE_CALL(flock, NULL, flock(file_fd, LOCK_EX)) == 0);
	MUST(syscall(SYS_flock, file_fd, LOCK_UN) == 0);
}

static void unlock_flock(void)
{
	MUST(syscall(SYS_flock, lock_fd, LOCK_UN) == 0);
}

static void set_lock(int fd, int type)
{
	struct flock64 lock = {.l_type = (short)type, .l_whence = SEEK_SET};

#ifdef SYS_fcntl64 /* a machine of 32 bits */
	MUST(syscall(SYS_fcntl64, fd, F_OFD_SETLK, &lock) == 0);
#else
	MUST(syscall(SYS_fcntl, fd, F_OFD_SETLK, &lock) == 0);
#endif
}

static void wait_fcntl(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	MUST(ORACLE_CALL(fcntl, NULL, fcntl(file_fd, F_SETLKW, &lock)) == 0);
	lock.l_type = F_UNLCK;
	MUST(syscall(SYS_fcntl, file_fd, F_SETLK, &lock) == 0);
}

static void wait_ofd(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	MUST(ORACLE_CALL(fcntl, NULL, fcntl(file_fd, F_OFD_SETLKW, &lock)) == 0);
	set_lock(file_fd, F_UNLCK);
}

static void wait_lockf(void)
{
	struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	MUST(ORACLE_CALL(lockf, NULL, lockf(file_fd, F_LOCK, 0)) == 0);
	MUST(syscall(SYS_fcntl, file_fd, F_SETLK, &lock) == 0);
}

static void unlock_file(void)
{
	set_lock(lock_fd, F_UNLCK);
}

/* Objects of System V. */

static struct sembuf take = {.sem_op = -1}, post = {.sem_op = 1};

static void wait_semop(void)
{
	MUST(ORACLE_CALL(semop, NULL, semop(semaphores, &take, 1)) == 0);
}

static void wait_semtimedop(void)
{
	struct timespec minute = {60, 0};

	MUST(ORACLE_CALL(semop, NULL, semtimedop(semaphores, &take, 1, &minute)) == 0);
}

static void post_semaphore(void)
{
#ifdef SYS_semop
	MUST(syscall(SYS_semop, semaphores, &post, 1) == 0);
#else
	MUST(syscall(SYS_ipc, 1 /* SEMOP */, semaphores, 1, 0, &post) == 0);
#endif
}

static void wait_msgrcv(void)
{
	struct message message;

	MUST(ORACLE_CALL(msgrcv, NULL, msgrcv(queue, &message, sizeof(message.text), 0, 0)) >= 0);
}

static void send_message(void)
{
	struct message message = {.type = 1};

	MUST(syscall(SYS_msgsnd, queue, &message, sizeof(message.text), IPC_NOWAIT) == 0);
}

static void wait_msgsnd(void)
{
	struct message message = {.type = 1};

	MUST(ORACLE_CALL(msgsnd, NULL, msgsnd(queue, &message, sizeof(message.text), 0)) == 0);
}

static void receive_message(void)
{
	struct message message;

	MUST(syscall(SYS_msgrcv, queue, &message, sizeof(message.text), 0, IPC_NOWAIT) >= 0);
}

static void fill_queue(void)
{
	struct message message = {.type = 1};

	while (syscall(SYS_msgsnd, queue, &message, sizeof(message.text), IPC_NOWAIT) == 0)
		;
}

/* Signals. */

static sigset_t first;

static void wait_sigwait(void)
{
	int number;

	MUST(ORACLE_CALL(sigwait, NULL, sigwait(&first, &number)) == 0 && number == SIGUSR1);
}

static void wait_sigwaitinfo(void)
{
	MUST(ORACLE_CALL(sigwaitinfo, NULL, sigwaitinfo(&first, NULL)) == SIGUSR1);
}

static void wait_sigtimedwait(void)
{
	struct timespec minute = {60, 0};

	MUST(ORACLE_CALL(sigtimedwait, NULL, sigtimedwait(&first, NULL, &minute)) == SIGUSR1);
}

static void wait_sigsuspend(void)
{
	sigset_t none;

	sigemptyset(&none);
	MUST(ORACLE_CALL(sigsuspend, NULL, sigsuspend(&none)) == -1);
}

/* Descriptors. */

static void wait_open(void)
{
	int fd = ORACLE_CALL(open, NULL, open(fifo, O_RDONLY));

	MUST(fd >= 0);
	syscall(SYS_close, fd);
}

static void wait_fopen(void)
{
	FILE *stream = ORACLE_CALL(fopen, NULL, fopen(other_fifo, "r"));

	MUST(stream);
	fclose(stream);
}

static void open_and_close(const char *path)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY);

	MUST(fd >= 0);
	syscall(SYS_close, fd);
}

static void open_fifo(void)
{
	open_and_close(fifo);
}

static void open_other_fifo(void)
{
	open_and_close(other_fifo);
}

static void wait_splice(void)
{
	MUST(ORACLE_CALL(splice, NULL, splice(empty_pipe[0], NULL, lock_fd, NULL, 100, 0)) == 1);
}

static void wait_tee(void)
{
	char byte;
	int to[2];

	MUST(syscall(SYS_pipe2, to, 0) == 0);
	MUST(ORACLE_CALL(splice, NULL, tee(empty_pipe[0], to[1], 100, 0)) == 1);
	MUST(syscall(SYS_read, empty_pipe[0], &byte, 1) == 1);
}

static void wait_sendfile(void)
{
	off_t at = 0;

	MUST(ORACLE_CALL(sendfile, NULL, sendfile(full_socket[0], file_fd, &at, 1)) == 1);
}

static void drain_socket(void)
{
	char bytes[4096];

	while (syscall(SYS_recvfrom, full_socket[1], bytes, sizeof(bytes), MSG_DONTWAIT, NULL, NULL) > 0)
		;
}

static void wait_eventfd(void)
{
	eventfd_t value;

	MUST(ORACLE_CALL(read, NULL, eventfd_read(event, &value)) == 0);
}

static void signal_event(void)
{
	uint64_t one = 1;

	MUST(syscall(SYS_write, event, &one, sizeof(one)) == sizeof(one));
}

static void wait_aio(void)
{
	char byte;
	struct aiocb request = {.aio_fildes = empty_pipe[0], .aio_buf = &byte, .aio_nbytes = 1};
	const struct aiocb *list[] = {&request};

	MUST(aio_read(&request) == 0);
	MUST(ORACLE_CALL(aio_suspend, NULL, aio_suspend(list, 1, NULL)) == 0);
	MUST(aio_return(&request) == 1);
}

static void wait_ring(void)
{
	sigset_t none;

	sigemptyset(&none);
	MUST(ORACLE_CALL(io_uring_enter, NULL,
			 syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, &none, 8)) < 0);
	MUST(errno == EINTR);
}

/* The kernel's own asynchronous input and output. */

static void wait_getevents(void)
{
	struct iocb poll = {.aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = (uint32_t)empty_pipe[0], .aio_buf = POLLIN};
	struct iocb *list[] = {&poll};
	struct io_event done;
	char byte;

	MUST(syscall(SYS_io_submit, requests, 1, list) == 1);
	MUST(ORACLE_CALL(io_getevents, NULL, syscall(SYS_io_getevents, requests, 1, 1, &done, NULL)) == 1);
	MUST(syscall(SYS_read, empty_pipe[0], &byte, 1) == 1);
}

static void wait_pgetevents(void)
{
	sigset_t none;
	struct {
		const sigset_t *set;
		size_t size;
	} mask = {&none, 8};
	struct io_event done;

	sigemptyset(&none);
	MUST(ORACLE_CALL(io_getevents, NULL, syscall(SYS_io_pgetevents, requests, 1, 1, &done, NULL, &mask)) < 0);
	MUST(errno == EINTR);
}

/* Futexes. */

static void wait_futex(void)
{
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
		ORACLE_CALL(futex_wait, &word,
			    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
	__atomic_store_n(&word, 0, __ATOMIC_RELEASE);
}

static void wait_futex_until(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 60;
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
		ORACLE_CALL(futex_wait, &word,
			    syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL,
				    FUTEX_BITSET_MATCH_ANY));
	__atomic_store_n(&word, 0, __ATOMIC_RELEASE);
}

/* The wake is recorded, so that `why` knows which thread ended the wait. */
static void wake_futex(void)
{
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	MUST(ORACLE_CALL(futex_wake, &word,
			 syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0)) == 1);
}

static const struct step steps[] = {
	{"flock", NULL, wait_flock, unlock_flock},
	{"fcntl", NULL, wait_fcntl, unlock_file},
	{"fcntl", NULL, wait_ofd, unlock_file},
	{"lockf", NULL, wait_lockf, unlock_file},
	{"semop", NULL, wait_semop, post_semaphore},
	{"semop", NULL, wait_semtimedop, post_semaphore},
	{"msgrcv", NULL, wait_msgrcv, send_message},
	{"msgsnd", NULL, wait_msgsnd, receive_message},
	{"sigwait", NULL, wait_sigwait, send_first},
	{"sigwaitinfo", NULL, wait_sigwaitinfo, send_first},
	{"sigtimedwait", NULL, wait_sigtimedwait, send_first},
	{"sigsuspend", NULL, wait_sigsuspend, send_handled},
	{"open", NULL, wait_open, open_fifo},
	{"fopen", NULL, wait_fopen, open_other_fifo},
	{"splice", NULL, wait_splice, feed_pipe},
	{"splice", NULL, wait_tee, feed_pipe},
	{"sendfile", NULL, wait_sendfile, drain_socket},
	{"read", NULL, wait_eventfd, signal_event},
	{"aio_suspend", NULL, wait_aio, feed_pipe},
	{"io_uring_enter", NULL, wait_ring, send_handled},
	{"io_getevents", NULL, wait_getevents, feed_pipe},
	{"io_getevents", NULL, wait_pgetevents, send_handled},
	{"futex_wait", &word, wait_futex, wake_futex},
	{"futex_wait", &word, wait_futex_until, wake_futex},
};

static bool is_possible(const struct step *step)
{
	if (step->wait == wait_getevents || step->wait == wait_pgetevents)
		return requests != 0;
	return step->wait != wait_ring || ring >= 0;
}

/* What is needed before the worker begins the step. */
static void prepare(const struct step *step)
{
	if (step->wait == wait_flock)
		MUST(syscall(SYS_flock, lock_fd, LOCK_EX) == 0);
	if (step->wake == unlock_file)
		set_lock(lock_fd, F_WRLCK);
	if (step->wait == wait_msgsnd)
		fill_queue();
}

static void on_signal(int number)
{
	(void)number;
}

static atomic_int next = -1, begun = -1, ended = -1; /* numbers of steps: what the worker may do, and has done */

static void await(const atomic_int *number, int least)
{
	while (atomic_load(number) < least)
		syscall(SYS_sched_yield);
}

/* Calls that wait for a disk or a name server, each with a test that the log has it once. */
static void call_others(void)
{
	struct addrinfo *found = NULL;
	char other[80];

	snprintf(other, sizeof(other), "%s.new", file);
	MUST(ORACLE_CALL(fsync, NULL, fsync(file_fd)) == 0);
	MUST(ORACLE_CALL(fsync, NULL, fdatasync(file_fd)) == 0);
	MUST(ORACLE_CALL(rename, NULL, rename(file, other)) == 0);
	MUST(ORACLE_CALL(getaddrinfo, NULL, getaddrinfo("127.0.0.1", "80", NULL, &found)) == 0);
	freeaddrinfo(found);
	unlink(other);
}

static void *work(void *unused)
{
	oracle_thread("worker");
	atomic_store(&worker_tid, (int)syscall(SYS_gettid));
	for (int i = 0; i < (int)(sizeof(steps) / sizeof(steps[0])); i++) {
		await(&next, i);
		atomic_store(&begun, i);
		if (is_possible(&steps[i]))
			steps[i].wait();
		atomic_store(&ended, i);
	}
	call_others();
	return unused;
}

static void make_objects(void)
{
	struct io_uring_params params = {0};
	struct sigaction action = {.sa_handler = on_signal};
	char bytes[4096] = {0};
	sigset_t both;

	MUST(mkdtemp(directory));
	snprintf(file, sizeof(file), "%s/file", directory);
	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	MUST((file_fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT, 0600)) >= 0);
	MUST((lock_fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR)) >= 0);
	MUST(syscall(SYS_write, file_fd, "byte", 4) == 4);
	MUST(syscall(SYS_mknodat, AT_FDCWD, fifo, S_IFIFO | 0600, 0) == 0);
	snprintf(other_fifo, sizeof(other_fifo), "%s/other", directory);
	MUST(syscall(SYS_mknodat, AT_FDCWD, other_fifo, S_IFIFO | 0600, 0) == 0);
	MUST(syscall(SYS_pipe2, empty_pipe, 0) == 0);
	MUST(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, full_socket) == 0);
	while (syscall(SYS_sendto, full_socket[0], bytes, sizeof(bytes), MSG_DONTWAIT, NULL, 0) > 0)
		;
	MUST((semaphores = semget(IPC_PRIVATE, 1, 0600)) >= 0);
	MUST((queue = msgget(IPC_PRIVATE, 0600)) >= 0);
	MUST((event = eventfd(0, 0)) >= 0);
	oracle_waits_for("open", "%s", fifo);
	oracle_waits_for("fopen", "%s", other_fifo);
	oracle_waits_for("read", "file fd %d", event);
	ring = (int)syscall(SYS_io_uring_setup, 4, &params);
	if (syscall(SYS_io_setup, 1, &requests) != 0)
		requests = 0;
	sigemptyset(&first);
	sigaddset(&first, SIGUSR1);
	both = first;
	sigaddset(&both, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	sigaction(SIGUSR2, &action, NULL);
}

static void remove_objects(void)
{
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	unlink(fifo);
	unlink(other_fifo);
	rmdir(directory);
}

/* At a time when the worker certainly slept, why names the call, and not that the thread ran. */
static void say_wait(const struct step *step)
{
	char command[80];

	snprintf(command, sizeof(command), "why worker@%s", step->object ? word_name : step->service);
	oracle_says(command, "%s", step->service);
	oracle_says_not(command, "^worker [0-9]+ ran");
}

int main(void)
{
	pthread_t thread;

	oracle_thread("main");
	if (dlopen("libstdc++.so.6", RTLD_LAZY))
		word_name = "bank::word";
	oracle_object(&word, word_name);
	make_objects();
	pthread_create(&thread, NULL, work, NULL);
	for (int i = 0; i < (int)(sizeof(steps) / sizeof(steps[0])); i++) {
		struct timespec while_ = {0, 2000000};
		const struct step *step = &steps[i];

		await(&ended, i - 1);
		prepare(step);
		atomic_store(&next, i);
		await(&begun, i);
		if (!is_possible(step))
			continue;
		oracle_await_sleep("worker", step->object);
		syscall(SYS_nanosleep, &while_, NULL);
		oracle_wakes("worker");
		step->wake();
		say_wait(step);
	}
	pthread_join(thread, NULL);
	remove_objects();
	oracle_report();
	return 0;
}
