/* SPDX-License-Identifier: MIT */
/*
 * descriptors --has: print those of the names on standard input that the C library has. descriptors DIRECTORY [heap]:
 * call functions for descriptors, streams and the heap, by each of their names, with right and wrong arguments.  It
 * prints results, errno and effects, which must be the same whether the program is traced or not.  Before each part it
 * calls unlink() for "@SYMBOL N": parts.awk checks that the trace has N events of this call up to the next unlink(); +
 * means at least one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>

#include "config.h"

/* With _FORTIFY_SOURCE, headers declare functions that this one declares, too. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#include "functions.h"
#pragma GCC diagnostic pop

/* With times of 64 bits where time_t has 32, this is another function, which older C libraries do not have. */
#if defined __USE_TIME_BITS64 && __SIZEOF_LONG__ == 4 && __GLIBC_PREREQ(2, 37)
#define __ppoll_chk __ppoll64_chk
#endif

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441 /* on all machines */
#endif

#define NO_FD 1000
#define BEYOND_FD 5000
#define HIGH_FD 200 /* no call but those of the test has it; the kernel has room for it from the beginning */
#define NOTHING ((void *)nothing)
#define UNTOUCHED 4242

/* A NULL pointer whose value the compiler does not know. */
static void *volatile nothing;

int plain_fscanf(FILE *stream, const char *format, ...) __asm__("fscanf");
int plain_scanf(const char *format, ...) __asm__("scanf");
int plain_vfscanf(FILE *stream, const char *format, va_list arguments) __asm__("vfscanf");
int plain_vscanf(const char *format, va_list arguments) __asm__("vscanf");

static volatile int minus_one = -1;

/* Past all wrappers. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char text[512];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	syscall(SYS_write, 1, text, (size_t)length);
}

static void part(const char *symbol, const char *count)
{
	char text[80];

	snprintf(text, sizeof(text), "@%s %s", symbol, count);
	unlink(text);
	say("%s\n", text);
}

static void on_alarm(int number)
{
	(void)number;
}

static void set_alarms(long us)
{
	const long when[4] = {0, us, 0, us}; /* the interval and the value, as the kernel wants them */

	syscall(SYS_setitimer, 0, when, NULL);
}

/* Send signals that interrupt a wait, until the next TRY() is done: the first signal may come before the wait. */
static void alarms_begin(void)
{
	struct sigaction action = {.sa_handler = on_alarm};

	sigaction(SIGALRM, &action, NULL);
	set_alarms(20000);
}

#define TRY(call)                                                                                  \
	({                                                                                         \
		errno = UNTOUCHED;                                                                 \
		long long result_ = (long long)(call);                                             \
		int error_ = errno;                                                                \
		set_alarms(0);                                                                     \
		say("  %s = %lld, errno %d\n", #call, result_, error_);                            \
		result_;                                                                           \
	})
#define TRY_POINTER(call)                                                                          \
	({                                                                                         \
		errno = UNTOUCHED;                                                                 \
		__typeof__(call) result_ = (call);                                                 \
		int error_ = errno;                                                                \
		say("  %s is %s, errno %d\n", #call, result_ ? "there" : "NULL", error_);          \
		result_;                                                                           \
	})

/* Print the current content of a file, with system calls. */
static void say_file(const char *path)
{
	char text[256];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	long length = syscall(SYS_read, fd, text, sizeof(text) - 1);

	text[length < 0 ? 0 : length] = '\0';
	syscall(SYS_close, fd);
	say("  %s: %ld '%s'\n", path, length, text);
}

static int quiet_pipe(int ends[2])
{
	return (int)syscall(SYS_pipe2, ends, 0);
}

static void quiet_close(int fd)
{
	syscall(SYS_close, fd);
}

static void quiet_write(int fd, const char *text)
{
	syscall(SYS_write, fd, text, strlen(text));
}

/* Return true if the main thread waits for something.  A thread that has not yet come to its wait must not count. */
static bool main_waits(void)
{
	char path[64], text[256];
	const char *end;
	long length;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", syscall(SYS_getpid));
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	length = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	text[length < 0 ? 0 : length] = '\0';
	end = strrchr(text, ')');
	return !end || end[2] == 'S';
}

/* Make a call that waits: after a while, a thread ends the wait, past all wrappers. */
static struct {
	int fd;
	const char *text;
	bool reads;
} later;

/* Wait for at most 50 ms, with the system call. */
static long poll_directly(struct pollfd *fd)
{
#ifdef SYS_poll
	return syscall(SYS_poll, fd, 1, 50);
#else
	return syscall(SYS_ppoll, fd, 1, (const long[2]){0, 50000000}, NULL, 0);
#endif
}

static void *do_later(void *unused)
{
	const long while_[2] = {0, 30000000}; /* as the kernel wants it */
	char text[4096];

	(void)unused;
	do {
		syscall(SYS_nanosleep, while_, NULL);
	} while (!main_waits());
	if (!later.reads)
		syscall(SYS_write, later.fd, later.text, strlen(later.text));
	else
		while (poll_directly(&(struct pollfd){.fd = later.fd, .events = POLLIN}) > 0)
			syscall(SYS_read, later.fd, text, sizeof(text));
	return NULL;
}

static pthread_t write_later(int fd, const char *text)
{
	pthread_t thread;

	later.fd = fd;
	later.text = text;
	later.reads = false;
	pthread_create(&thread, NULL, do_later, NULL);
	return thread;
}

static pthread_t read_later(int fd)
{
	pthread_t thread;

	later.fd = fd;
	later.reads = true;
	pthread_create(&thread, NULL, do_later, NULL);
	return thread;
}

static void quiet_fill(int fd)
{
	char text[4096] = {0};
	int flags = (int)syscall(SYS_fcntl, fd, F_GETFL, 0);

	syscall(SYS_fcntl, fd, F_SETFL, flags | O_NONBLOCK);
	while (syscall(SYS_write, fd, text, sizeof(text)) > 0)
		;
	while (syscall(SYS_write, fd, text, 1) > 0)
		;
	syscall(SYS_fcntl, fd, F_SETFL, flags);
}

/* Files. */

#define OPENS(symbol, arguments, wrong)                                                            \
	do {                                                                                       \
		int fd_;                                                                           \
                                                                                                   \
		part(#symbol, "2");                                                                \
		fd_ = (int)TRY(symbol arguments);                                                  \
		TRY(symbol wrong);                                                                 \
		quiet_close(fd_);                                                                  \
	} while (0)

static void opens(void)
{
	struct rlimit64 limit, none;

	OPENS(open, ("a", O_CREAT | O_RDWR | O_TRUNC, 0640), ("no/a", O_RDONLY));
	OPENS(open64, ("a", O_CREAT | O_RDWR, 0600), (NOTHING, O_RDONLY));
	OPENS(__open_2, ("a", O_RDONLY), ("no", O_RDONLY));
	OPENS(__open64_2, ("a", O_RDONLY), ("a/a", O_RDONLY));
	OPENS(openat, (AT_FDCWD, "a", O_RDWR | O_CREAT, 0600), (NO_FD, "a", O_RDONLY));
	OPENS(openat64, (AT_FDCWD, ".", O_TMPFILE | O_RDWR, 0600), (NO_FD, "a", O_RDONLY));
	OPENS(__openat_2, (AT_FDCWD, "a", O_RDONLY), (NO_FD, "a", O_RDONLY));
	OPENS(__openat64_2, (AT_FDCWD, "a", O_RDONLY), (NO_FD, "a", O_RDONLY));
	OPENS(creat, ("b", 0600), ("no/b", 0600));
	OPENS(creat64, ("b", 0600), ("", 0600));
	part("open", "2"); /* together with the thread of closes() */
	syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
	none = limit;
	none.rlim_cur = 0;
	syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &none, NULL);
	TRY(open("a", O_RDONLY));
	syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
}

static void closes(void)
{
	int fd = open("a", O_RDONLY);

	part("close", "1");
	TRY(close(fd));
	part("close", "3");
	TRY(close(fd));
	TRY(close(-1));
	TRY(close(NO_FD));
}

static void reads_of(int fd)
{
	char text[16] = {0}, more[8] = {0};
	struct iovec vector[2] = {{text, 3}, {more, 4}};

	part("read", "5");
	TRY(read(fd, text, 4));
	say("  '%s'\n", text);
	TRY(read(fd, text, 0));
	TRY(read(NO_FD, text, 4));
	TRY(read(fd, NOTHING, 4));
	TRY(read(-1, text, 4));
	part("__read_chk", "2");
	TRY(__read_chk(fd, text, 4, sizeof(text)));
	TRY(__read_chk(NO_FD, text, 4, sizeof(text)));
	part("readv", "3");
	TRY(readv(fd, vector, 2));
	say("  '%s' '%s'\n", text, more);
	TRY(readv(fd, vector, minus_one));
	TRY(readv(fd, NOTHING, 2));
#define READS_AT(symbol, ...)                                                                      \
	part(#symbol, "2");                                                                        \
	TRY(symbol(fd, text, 4, 1, ##__VA_ARGS__));                                                \
	say("  '%s'\n", text);                                                                     \
	TRY(symbol(fd, text, 4, minus_one, ##__VA_ARGS__))
	READS_AT(pread);
	READS_AT(pread64);
	READS_AT(__pread_chk, sizeof(text));
	READS_AT(__pread64_chk, sizeof(text));
#define READS_V(symbol, ...)                                                                       \
	part(#symbol, "2");                                                                        \
	TRY(symbol(fd, vector, 2, 2, ##__VA_ARGS__));                                              \
	say("  '%s' '%s'\n", text, more);                                                          \
	TRY(symbol(NO_FD, vector, 2, 2, ##__VA_ARGS__))
	READS_V(preadv);
	READS_V(preadv64);
	READS_V(preadv2, 0);
	READS_V(preadv64v2, 0);
}

static void writes_of(int fd)
{
	char text[] = "abcdefgh";
	struct iovec vector[2] = {{text, 3}, {text + 4, 2}};

	part("write", "3");
	TRY(write(fd, text, 8));
	TRY(write(NO_FD, text, 8));
	TRY(write(fd, NOTHING, 8));
	part("writev", "2");
	TRY(writev(fd, vector, 2));
	TRY(writev(fd, vector, minus_one));
#define WRITES_AT(symbol)                                                                          \
	part(#symbol, "2");                                                                        \
	TRY(symbol(fd, text, 2, 20));                                                              \
	TRY(symbol(fd, text, 2, minus_one))
	WRITES_AT(pwrite);
	WRITES_AT(pwrite64);
#define WRITES_V(symbol, ...)                                                                      \
	part(#symbol, "2");                                                                        \
	TRY(symbol(fd, vector, 2, 24, ##__VA_ARGS__));                                             \
	TRY(symbol(NO_FD, vector, 2, 24, ##__VA_ARGS__))
	WRITES_V(pwritev);
	WRITES_V(pwritev64);
	WRITES_V(pwritev2, 0);
	WRITES_V(pwritev64v2, 0);
	say_file("c");
#define SEEKS(symbol)                                                                              \
	part(#symbol, "3");                                                                        \
	TRY(symbol(fd, 3, SEEK_SET));                                                              \
	TRY(symbol(fd, -1, SEEK_SET));                                                             \
	TRY(symbol(NO_FD, 0, SEEK_END))
	SEEKS(lseek);
	SEEKS(lseek64);
	reads_of(fd);
	part("fsync", "4");
	TRY(fsync(fd));
	TRY(fsync(NO_FD));
	part("fdatasync", "4");
	TRY(fdatasync(fd));
	TRY(fdatasync(NO_FD));
	part("ftruncate", "2");
	TRY(ftruncate(fd, 5));
	TRY(ftruncate(fd, -1));
	part("ftruncate64", "2");
	TRY(ftruncate64(fd, 4));
	TRY(ftruncate64(NO_FD, 4));
	say_file("c");
}

static void names(void)
{
	char longest[5000];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	part("mkdir", "3");
	TRY(mkdir("d", 0700));
	TRY(mkdir("d", 0700));
	TRY(mkdir(longest, 0700));
	part("mkdirat", "2");
	TRY(mkdirat(AT_FDCWD, "d/d", 0700));
	TRY(mkdirat(NO_FD, "d", 0700));
	part("rename", "4");
	TRY(rename("a", "d/a"));
	TRY(rename("a", "d/a"));
	part("renameat", "4");
	TRY(renameat(AT_FDCWD, "d/a", AT_FDCWD, "a"));
	TRY(renameat(NO_FD, "d/a", AT_FDCWD, "a"));
	part("renameat2", "6");
	TRY(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE));
	TRY(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE));
	TRY(renameat2(AT_FDCWD, NOTHING, AT_FDCWD, "b", ~0U));
	part("remove", "3");
	TRY(remove("d/d"));
	TRY(remove("d"));
	TRY(remove("d"));
	part("unlinkat", "3");
	TRY(unlinkat(AT_FDCWD, "a", 0));
	TRY(unlinkat(AT_FDCWD, "a", 0));
	TRY(unlinkat(AT_FDCWD, NOTHING, ~0));
	part("unlink", "2");
	TRY(unlink("b"));
	TRY(unlink(NOTHING));
}

static void doubles(void)
{
	DIR *volatile no_directory = NULL;
	int ends[2], fd = open("c", O_RDWR), other;

	part("dup", "2");
	other = (int)TRY(dup(fd));
	TRY(dup(NO_FD));
	part("dup2", "3");
	TRY(dup2(fd, other));
	TRY(dup2(fd, fd));
	TRY(dup2(NO_FD, other));
	part("dup3", "3");
	TRY(dup3(fd, other, O_CLOEXEC));
	TRY(dup3(fd, fd, 0));
	TRY(dup3(fd, other, ~0));
	quiet_close(other);
	part("closedir", "1"); /* only where the program opened the descriptor */
	TRY(closedir(fdopendir(open(".", O_RDONLY | O_DIRECTORY))));
	TRY(closedir(opendir(".")));
	TRY(closedir(no_directory));
#ifdef HAVE_CLOSEFROM
	part("closefrom", "2");
	TRY(fcntl(fd, F_DUPFD, HIGH_FD));
	TRY(fcntl(fd, F_DUPFD, HIGH_FD));
	closefrom(HIGH_FD);
	TRY(fcntl(HIGH_FD, F_GETFD));
#endif
#ifdef HAVE_CLOSE_RANGE
	part("close_range", "1");
	TRY(fcntl(fd, F_DUPFD, HIGH_FD));
	TRY(fcntl(fd, F_DUPFD, HIGH_FD));
	TRY(close_range(HIGH_FD, HIGH_FD, 0));
	TRY(close_range(HIGH_FD, HIGH_FD, ~0));
	TRY(close_range(HIGH_FD + 1, HIGH_FD, 0));
	TRY(fcntl(HIGH_FD, F_GETFD));
	part("fcntl", "2"); /* for each descriptor that gets the mark, and the call itself */
	TRY(close_range(HIGH_FD, ~0U, CLOSE_RANGE_CLOEXEC));
	TRY(fcntl(HIGH_FD + 1, F_GETFD));
	quiet_close(HIGH_FD + 1);
#endif
	part("dup", "2");
	other = (int)TRY(fcntl(fd, F_DUPFD, 20));
	quiet_close(other);
	other = (int)TRY(fcntl(fd, F_DUPFD_CLOEXEC, 20));
	quiet_close(other);
	part("fcntl", "4");
	TRY(fcntl(fd, F_GETFL));
	TRY(fcntl(fd, F_SETFD, FD_CLOEXEC));
	TRY(fcntl(fd, F_GETFD));
	TRY(fcntl(NO_FD, F_GETFL));
	part("fcntl64", "2");
	TRY(fcntl64(fd, F_GETFD));
	TRY(fcntl64(fd, F_SETLK, &(struct flock){.l_type = F_RDLCK}));
	part("ioctl", "2");
	TRY(ioctl(fd, FIONBIO, &(int){0}));
	TRY(ioctl(NO_FD, FIONBIO, &(int){0}));
	part("prctl", "2");
	TRY(prctl(PR_GET_DUMPABLE));
	TRY(prctl(-1, 0, 0, 0, 0));
	quiet_close(fd);
	part("pipe", "2");
	TRY(pipe(ends));
	say("  %d %d\n", ends[0], ends[1]);
	quiet_close(ends[0]);
	quiet_close(ends[1]);
	TRY(pipe(NOTHING));
	part("pipe2", "2");
	TRY(pipe2(ends, O_NONBLOCK));
	quiet_close(ends[0]);
	quiet_close(ends[1]);
	TRY(pipe2(ends, ~0));
}

/* The whole file, two parts, the whole file again: calls that find data, that find none, and that do not wait. */
static void pipes(void)
{
	char text[8192] = {0};
	struct iovec vector = {text, 4};
	pthread_t thread;
	int ends[2];

	quiet_pipe(ends);
	part("read", "1");
	quiet_write(ends[1], "ab");
	TRY(read(ends[0], text, 4));
#define WAITS(symbol, call)                                                                        \
	part(#symbol, "2");                                                                        \
	thread = write_later(ends[1], "xyz");                                                      \
	TRY(call);                                                                                 \
	pthread_join(thread, NULL);                                                                \
	say("  '%.4s'\n", text)
	WAITS(read, read(ends[0], text, 4));
	WAITS(__read_chk, __read_chk(ends[0], text, 4, sizeof(text)));
	WAITS(readv, readv(ends[0], &vector, 1));
	part("read", "2");
	alarms_begin();
	TRY(read(ends[0], text, 4));
	part("read", "1");
	TRY(fcntl(ends[0], F_SETFL, O_NONBLOCK));
	TRY(read(ends[0], text, 4));
	part("read", "2");
	TRY(fcntl(ends[0], F_SETFL, 0));
	thread = write_later(ends[1], "xyz");
	TRY(read(ends[0], text, 4));
	pthread_join(thread, NULL);
	part("write", "1");
	TRY(write(ends[1], text, 100));
	quiet_fill(ends[1]);
	part("write", "2");
	thread = read_later(ends[0]);
	TRY(write(ends[1], text, sizeof(text)));
	pthread_join(thread, NULL);
	quiet_fill(ends[1]);
	part("writev", "2");
	thread = read_later(ends[0]);
	TRY(writev(ends[1], &vector, 1));
	pthread_join(thread, NULL);
	quiet_fill(ends[1]);
	part("write", "2");
	alarms_begin();
	TRY(write(ends[1], text, sizeof(text)));
	quiet_close(ends[0]);
	part("write", "1");
	signal(SIGPIPE, SIG_IGN);
	TRY(write(ends[1], text, 1));
	quiet_close(ends[1]);
	ends[0] = eventfd(0, 0);
	ends[1] = dup(ends[0]);
	syscall(SYS_write, ends[1], &(uint64_t){7}, 8);
	part("read", "1");
	TRY(read(ends[0], text, 8));
	part("read", "2");
	alarms_begin();
	TRY(read(ends[0], text, 8));
	quiet_close(ends[0]);
	quiet_close(ends[1]);
}

/* Streams. */

static int printed(int (*print)(FILE *, const char *, va_list), FILE *stream, const char *format,
		   ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = print(stream, format, arguments);
	va_end(arguments);
	return result;
}

static int printed_chk(FILE *stream, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = __vfprintf_chk(stream, 1, format, arguments);
	va_end(arguments);
	return result;
}

enum to_stdout { VPRINTF, VPRINTF_CHK, VDPRINTF, VDPRINTF_CHK };

__attribute__((format(printf, 3, 4))) static int printed_to(enum to_stdout how, int fd, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = how == VPRINTF	    ? vprintf(format, arguments) :
		 how == VPRINTF_CHK ? __vprintf_chk(1, format, arguments) :
		 how == VDPRINTF    ? vdprintf(fd, format, arguments) :
				      __vdprintf_chk(fd, 1, format, arguments);
	va_end(arguments);
	return result;
}

static void prints(void)
{
	FILE *stream = fopen("s", "w"), *memory;
	char *text = NULL;
	size_t size;
	int fd = fileno(stream);

	part("fprintf", "2");
	TRY(fprintf(stream, "%d %s\n", 1, "one"));
	TRY(fprintf(stream, "%s %n\n", "counted", &(int){0}));
	part("__fprintf_chk", "1");
	TRY(__fprintf_chk(stream, 1, "%.3f\n", 2.0));
	part("vfprintf", "1");
	TRY(printed(vfprintf, stream, "%ld\n", 3L));
	part("__vfprintf_chk", "1");
	TRY(printed_chk(stream, "%c\n", 'x'));
	part("fputs", "1");
	TRY(fputs("text\n", stream));
	part("fputs_unlocked", "1");
	TRY(fputs_unlocked("text\n", stream));
	part("fwrite", "2");
	TRY(fwrite("words", 2, 2, stream));
	TRY(fwrite("", 0, 7, stream));
	part("fwrite_unlocked", "1");
	TRY(fwrite_unlocked("words\n", 6, 1, stream));
	part("fflush", "2");
	TRY(fflush(stream));
	TRY(fflush(NULL));
	part("fflush_unlocked", "1");
	TRY(fflush_unlocked(stream));
	part("dprintf", "2");
	TRY(dprintf(fd, "%s\n", "d"));
	TRY(dprintf(NO_FD, "%s\n", "d"));
	part("__dprintf_chk", "1");
	TRY(__dprintf_chk(fd, 1, "%s\n", "d"));
	part("vdprintf", "1");
	TRY(printed_to(VDPRINTF, fd, "%s\n", "v"));
	part("__vdprintf_chk", "1");
	TRY(printed_to(VDPRINTF_CHK, fd, "%s\n", "v"));
#define MOVES(symbol)                                                                              \
	part(#symbol, "2");                                                                        \
	TRY(symbol(stream, 2, SEEK_SET));                                                          \
	TRY(symbol(stream, -7, SEEK_SET))
	MOVES(fseek);
	MOVES(fseeko);
	MOVES(fseeko64);
	part("fread", "1");
	TRY(fread(&size, 1, 1, stream));
	part("fclose", "1");
	TRY(fclose(stream));
	say_file("s");
	memory = open_memstream(&text, &size);
	part("fprintf", "1");
	TRY(fprintf(memory, "%s", "in memory"));
	part("fclose", "1");
	TRY(fclose(memory));
	say("  '%s'\n", text);
	stream = fopen("/dev/full", "w");
	part("fclose", "2"); /* before the call, and its error */
	fputs("x", stream);
	TRY(fclose(stream));
}

/* For this part, standard output is another file. */
static void prints_out(void)
{
	int kept = (int)syscall(SYS_dup, 1), fd;

	fflush(stdout);
	fd = (int)syscall(SYS_openat, AT_FDCWD, "out", O_CREAT | O_RDWR | O_TRUNC, 0600);
	dup2(fd, 1);
	{
		long long results[6];

		part("printf", "1");
		results[0] = printf("%d\n", 5);
		part("__printf_chk", "1");
		results[1] = __printf_chk(1, "%d\n", 6);
		part("vprintf", "1");
		results[2] = printed_to(VPRINTF, 1, "%d\n", 7);
		part("__vprintf_chk", "1");
		results[3] = printed_to(VPRINTF_CHK, 1, "%d\n", 8);
		part("puts", "1");
		results[4] = puts("put");
		part("fflush", "1");
		results[5] = fflush(stdout);
		dup2(kept, 1);
		for (unsigned int i = 0; i < 6; i++)
			say("  %lld\n", results[i]);
	}
	quiet_close(fd);
	quiet_close(kept);
	say_file("out");
}

static void opens_streams(void)
{
	FILE *stream;
	int fd;

#define OPENS_STREAM(symbol)                                                                       \
	part(#symbol, "4");                                                                        \
	stream = TRY_POINTER(symbol("s", "r"));                                                    \
	TRY_POINTER(symbol("no", "r"));                                                            \
	TRY_POINTER(symbol("s", "odd"));                                                           \
	TRY_POINTER(symbol(NOTHING, "r"));                                                         \
	part("rest", "0");                                                                         \
	fclose(stream)
	OPENS_STREAM(fopen);
	OPENS_STREAM(fopen64);
#define REOPENS(symbol)                                                                            \
	part("rest", "0");                                                                         \
	stream = fopen("s", "r");                                                                  \
	part(#symbol, "3");                                                                        \
	stream = TRY_POINTER(symbol("c", "r", stream));                                            \
	stream = TRY_POINTER(symbol(NULL, "r", stream));                                           \
	TRY_POINTER(symbol("no", "r", stream))
	REOPENS(freopen);
	REOPENS(freopen64);
	fd = open("s", O_RDONLY);
	part("fdopen", "3");
	TRY_POINTER(fdopen(NO_FD, "r"));
	TRY_POINTER(fdopen(fd, "odd"));
	stream = TRY_POINTER(fdopen(fd, "r"));
	part("fclose", "1");
	TRY(fclose(stream));
}

static int scanned(int (*scan)(FILE *, const char *, va_list), FILE *stream, const char *format,
		   ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = scan(stream, format, arguments);
	va_end(arguments);
	return result;
}

static int scanned_in(int (*scan)(const char *, va_list), const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = scan(format, arguments);
	va_end(arguments);
	return result;
}

static void reads_streams(void)
{
	FILE *stream = fopen("s", "r");
	char text[64] = {0}, *line = NULL;
	size_t size = 0;
	int number = 0;

#define READS(symbol, call)                                                                        \
	part(#symbol, "1");                                                                        \
	rewind(stream);                                                                            \
	TRY(call);                                                                                 \
	say("  '%s' %d\n", text, number)
	READS(fread, fread(text, 2, 2, stream));
	READS(fread_unlocked, fread_unlocked(text, 2, 2, stream));
	READS(__fread_chk, __fread_chk(text, sizeof(text), 2, 2, stream));
	READS(__fread_unlocked_chk, __fread_unlocked_chk(text, sizeof(text), 2, 2, stream));
	READS(fgets, fgets(text, sizeof(text), stream) != NULL);
	READS(fgets_unlocked, fgets_unlocked(text, 3, stream) != NULL);
	READS(__fgets_chk, __fgets_chk(text, sizeof(text), sizeof(text), stream) != NULL);
	READS(__fgets_unlocked_chk, __fgets_unlocked_chk(text, sizeof(text), 4, stream) != NULL);
	READS(getline, getline(&line, &size, stream));
	READS(getdelim, getdelim(&line, &size, 'e', stream));
	READS(__getdelim, __getdelim(&line, &size, 'o', stream));
	say("  '%s'\n", line);
	READS(fscanf, plain_fscanf(stream, "%d %s", &number, text));
	READS(__isoc99_fscanf, __isoc99_fscanf(stream, "%d %s", &number, text));
	READS(vfscanf, scanned(plain_vfscanf, stream, "%d %s", &number, text));
	READS(__isoc99_vfscanf, scanned(__isoc99_vfscanf, stream, "%d %s", &number, text));
	freopen("s", "r", stdin);
#define READS_IN(symbol, call)                                                                     \
	part(#symbol, "1");                                                                        \
	rewind(stdin);                                                                             \
	TRY(call);                                                                                 \
	say("  '%s' %d\n", text, number)
	READS_IN(scanf, plain_scanf("%d", &number));
	READS_IN(__isoc99_scanf, __isoc99_scanf("%d %s", &number, text));
	READS_IN(vscanf, scanned_in(plain_vscanf, "%d", &number));
	READS_IN(__isoc99_vscanf, scanned_in(__isoc99_vscanf, "%d %s", &number, text));
	fseek(stream, 0, SEEK_END);
	part("fgets", "1");
	TRY(fgets(text, sizeof(text), stream) != NULL);
	part("getline", "1");
	TRY(getline(&line, &size, stream));
	part("fscanf", "1");
	TRY(plain_fscanf(stream, "%d", &number));
	part("fwrite", "1");
	TRY(fwrite("x", 1, 1, stream));
	fclose(stream);
	free(line);
}

static void streams_wait(void)
{
	char text[16] = {0};
	pthread_t thread;
	FILE *stream;
	int ends[2];

	quiet_pipe(ends);
	stream = fdopen(ends[0], "r");
	part("fgets", "2");
	thread = write_later(ends[1], "a\nb\n1 2\n");
	TRY(fgets(text, sizeof(text), stream) != NULL);
	pthread_join(thread, NULL);
	part("fgets", "1");
	TRY(fgets(text, sizeof(text), stream) != NULL);
	say("  '%s'\n", text);
	fclose(stream);
	quiet_close(ends[1]);
}

/* Sockets. */

static void say_address(const struct sockaddr *address, socklen_t length)
{
	say("  family %d, length %d\n", address->sa_family, (int)length);
}

static void makes_sockets(void)
{
	int ends[2], fd;

	part("socket", "3");
	fd = (int)TRY(socket(AF_INET, SOCK_STREAM, 0));
	quiet_close(fd);
	TRY(socket(-1, SOCK_STREAM, 0));
	TRY(socket(AF_INET, -1, 0));
	part("socketpair", "2");
	TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	quiet_close(ends[0]);
	quiet_close(ends[1]);
	TRY(socketpair(AF_INET, SOCK_STREAM, 0, ends));
}

static void serves(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr *address = (struct sockaddr *)&in;
	socklen_t length = sizeof(in);
	int server = socket(AF_INET, SOCK_STREAM, 0), client, fd;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	part("connect", "2");
	client = socket(AF_INET, SOCK_STREAM, 0);
	TRY(connect(NO_FD, address, length));
	TRY(connect(client, NULL, length));
	part("bind", "4");
	TRY(bind(server, address, length));
	TRY(bind(server, address, length));
	TRY(bind(NO_FD, NULL, length));
	TRY(bind(server, address, 1));
	getsockname(server, address, &length);
	part("listen", "2");
	TRY(listen(server, 5));
	TRY(listen(NO_FD, 5));
	part("connect", "1");
	TRY(connect(client, address, length));
	part("accept", "2");
	length = sizeof(in);
	fd = (int)TRY(accept(server, address, &length));
	say_address(address, length);
	TRY(accept(NO_FD, NULL, NULL));
	part("shutdown", "2");
	TRY(shutdown(fd, SHUT_WR));
	TRY(shutdown(NO_FD, SHUT_WR));
	quiet_close(fd);
	quiet_close(client);
	client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	length = sizeof(in);
	getsockname(server, address, &length);
	part("connect", "1");
	connect(client, address, length);
	part("accept4", "2");
	fd = (int)TRY(accept4(server, NULL, NULL, SOCK_NONBLOCK));
	TRY(accept4(server, NULL, NULL, ~0));
	quiet_close(fd);
	quiet_close(client);
	part("accept", "2");
	alarms_begin();
	TRY(accept(server, NULL, NULL));
	part("accept4", "2");
	alarms_begin();
	TRY(accept4(server, NULL, NULL, 0));
	part("accept", "1");
	fcntl(server, F_SETFL, O_NONBLOCK);
	TRY(accept(server, NULL, NULL));
	part("setsockopt", "2");
	TRY(setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)));
	TRY(setsockopt(NO_FD, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)));
	quiet_close(server);
	client = socket(AF_INET, SOCK_STREAM, 0);
	part("connect", "1");
	TRY(connect(client, address, length));
	quiet_close(client);
}

static void sends(const int pair[2])
{
	char text[] = "some text";
	struct iovec vector = {text, 4};
	struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
	struct mmsghdr messages[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
	pthread_t thread;

	part("send", "3");
	TRY(send(pair[0], text, 4, 0));
	TRY(send(NO_FD, text, 4, 0));
	TRY(send(pair[0], NOTHING, 4, 0));
	part("sendto", "2");
	TRY(sendto(pair[0], text, 4, 0, NULL, 0));
	TRY(sendto(NO_FD, text, 4, 0, NULL, 0));
	part("sendmsg", "2");
	TRY(sendmsg(pair[0], &message, 0));
	TRY(sendmsg(pair[0], NULL, 0));
	part("sendmmsg", "2");
	TRY(sendmmsg(pair[0], messages, 2, 0));
	TRY(sendmmsg(NO_FD, messages, 2, 0));
	quiet_fill(pair[0]);
#define SEND_WAITS(symbol, call)                                                                   \
	part(#symbol, "2");                                                                        \
	alarms_begin();                                                                            \
	TRY(call);                                                                                 \
	part(#symbol, "1")
	SEND_WAITS(send, send(pair[0], text, 4, 0));
	TRY(send(pair[0], text, 4, MSG_DONTWAIT));
	SEND_WAITS(sendto, sendto(pair[0], text, 4, 0, NULL, 0));
	TRY(sendto(pair[0], text, 4, MSG_DONTWAIT, NULL, 0));
	SEND_WAITS(sendmsg, sendmsg(pair[0], &message, 0));
	TRY(sendmsg(pair[0], &message, MSG_DONTWAIT));
	SEND_WAITS(sendmmsg, sendmmsg(pair[0], messages, 2, 0));
	TRY(sendmmsg(pair[0], messages, 2, MSG_DONTWAIT));
	part("send", "2");
	thread = read_later(pair[1]);
	TRY(send(pair[0], text, 9, 0));
	pthread_join(thread, NULL);
}

static void receives(const int pair[2])
{
	char text[16] = {0};
	struct iovec vector = {text, 4};
	struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
	struct mmsghdr messages[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
	pthread_t thread;

#define RECEIVES(symbol, call, call_at_once, wrong)                                                \
	part(#symbol, "1");                                                                        \
	quiet_write(pair[0], "pqrs");                                                              \
	TRY(call);                                                                                 \
	say("  '%.4s'\n", text);                                                                   \
	part(#symbol, "2");                                                                        \
	thread = write_later(pair[0], "uvwx");                                                     \
	TRY(call);                                                                                 \
	pthread_join(thread, NULL);                                                                \
	say("  '%.4s'\n", text);                                                                   \
	part(#symbol, "2");                                                                        \
	alarms_begin();                                                                            \
	TRY(call);                                                                                 \
	part(#symbol, "2");                                                                        \
	TRY(call_at_once);                                                                         \
	TRY(wrong)
	RECEIVES(recv, recv(pair[1], text, 4, 0), recv(pair[1], text, 4, MSG_DONTWAIT),
		 recv(NO_FD, text, 4, 0));
	RECEIVES(__recv_chk, __recv_chk(pair[1], text, 4, 16, 0),
		 __recv_chk(pair[1], text, 4, 16, MSG_DONTWAIT), __recv_chk(NO_FD, text, 4, 16, 0));
	RECEIVES(recvfrom, recvfrom(pair[1], text, 4, 0, NULL, NULL),
		 recvfrom(pair[1], text, 4, MSG_DONTWAIT, NULL, NULL),
		 recvfrom(NO_FD, text, 4, 0, NULL, NULL));
	RECEIVES(__recvfrom_chk, __recvfrom_chk(pair[1], text, 4, 16, 0, NULL, NULL),
		 __recvfrom_chk(pair[1], text, 4, 16, MSG_DONTWAIT, NULL, NULL),
		 __recvfrom_chk(NO_FD, text, 4, 16, 0, NULL, NULL));
	RECEIVES(recvmsg, recvmsg(pair[1], &message, 0), recvmsg(pair[1], &message, MSG_DONTWAIT),
		 recvmsg(pair[1], NULL, MSG_DONTWAIT));
	RECEIVES(recvmmsg, recvmmsg(pair[1], messages, 1, 0, NULL),
		 recvmmsg(pair[1], messages, 1, MSG_DONTWAIT, NULL),
		 recvmmsg(NO_FD, messages, 1, 0, NULL));
	RECEIVES(read, read(pair[1], text, 4), read(NO_FD, text, 4), read(NO_FD, text, 4));
	part("recv", "1");
	quiet_write(pair[0], "pqrs");
	TRY(recv(pair[1], text, 9, MSG_PEEK | MSG_TRUNC));
	TRY(read(pair[1], text, 9));
	part("recv", "2");
	setsockopt(pair[1], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 20000},
		   sizeof(struct timeval));
	TRY(recv(pair[1], text, 4, 0));
	part("recv", "1");
	fcntl(pair[1], F_SETFL, O_NONBLOCK);
	TRY(recv(pair[1], text, 4, 0));
}

/* What the kernel tells of own data is not from the other end.  (Sockets of one machine have no such queue.) */
static void receives_errors(void)
{
	char text[16];
	struct iovec vector = {text, 4};
	struct mmsghdr messages[1] = {{.msg_hdr = {.msg_iov = &vector, .msg_iovlen = 1}}};
	int fd;

	part("socket", "1");
	fd = TRY(socket(AF_INET, SOCK_DGRAM, 0));
	part("recv", "0");
	TRY(recv(fd, text, 4, MSG_ERRQUEUE));
	TRY(recvfrom(fd, text, 4, MSG_ERRQUEUE, NULL, NULL));
	TRY(recvmsg(fd, &messages[0].msg_hdr, MSG_ERRQUEUE));
	TRY(recvmmsg(fd, messages, 1, MSG_ERRQUEUE, NULL));
	part("close", "1");
	TRY(close(fd));
}

/* Wait until the number of bytes that was asked for is there. */
static void receives_all(const int pair[2])
{
	char text[16] = {0};
	pthread_t thread;

	part("recv", "+");
	quiet_write(pair[0], "ab");
	thread = write_later(pair[0], "cd");
	TRY(recv(pair[1], text, 4, MSG_WAITALL));
	pthread_join(thread, NULL);
	say("  '%s'\n", text);
	setsockopt(pair[1], SOL_SOCKET, SO_RCVLOWAT, &(int){4}, sizeof(int));
	part("recv", "+"); /* poll() has no such flag in this group of functions */
	quiet_write(pair[0], "ef");
	thread = write_later(pair[0], "gh");
	TRY(recv(pair[1], text, 9, 0));
	pthread_join(thread, NULL);
	say("  '%s'\n", text);
}

static void datagrams(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr *address = (struct sockaddr *)&in;
	socklen_t length = sizeof(in);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char text[8] = {0};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(fd, address, length);
	getsockname(fd, address, &length);
	part("sendto", "1");
	TRY(sendto(fd, "dgram", 5, 0, address, length));
	part("recvfrom", "1");
	length = sizeof(in);
	TRY(recvfrom(fd, text, sizeof(text), 0, address, &length));
	say_address(address, length);
	say("  '%s'\n", text);
	quiet_close(fd);
}

/* Waiting. */

static void polls(void)
{
	struct timespec no_time = {0, 0}, short_time = {0, 20000000}, odd_time = {0, -1};
	struct pollfd of_fd = {.events = POLLIN};
	sigset_t mask;
	pthread_t thread;
	int ends[2];

	sigemptyset(&mask);
	quiet_pipe(ends);
	of_fd.fd = ends[0];
#define POLLS(symbol, at_once, short_, for_ever, wrong)                                            \
	part(#symbol, "1");                                                                        \
	TRY(at_once);                                                                              \
	part(#symbol, "2");                                                                        \
	TRY(short_);                                                                               \
	part(#symbol, "2");                                                                        \
	thread = write_later(ends[1], "x");                                                        \
	TRY(for_ever);                                                                             \
	pthread_join(thread, NULL);                                                                \
	part(#symbol, "1");                                                                        \
	TRY(for_ever);                                                                             \
	say("  %x\n", (unsigned int)of_fd.revents);                                                \
	part(#symbol, "1");                                                                        \
	TRY(wrong);                                                                                \
	part(#symbol, "2");                                                                        \
	syscall(SYS_read, ends[0], &(char){0}, 1);                                                 \
	alarms_begin();                                                                            \
	TRY(for_ever)
	POLLS(poll, poll(&of_fd, 1, 0), poll(&of_fd, 1, 20), poll(&of_fd, 1, -1),
	      poll(NOTHING, 1, -1));
	POLLS(__poll_chk, __poll_chk(&of_fd, 1, 0, sizeof(of_fd)),
	      __poll_chk(&of_fd, 1, 20, sizeof(of_fd)), __poll_chk(&of_fd, 1, -1, sizeof(of_fd)),
	      __poll_chk(NOTHING, 1, -1, sizeof(of_fd)));
	POLLS(ppoll, ppoll(&of_fd, 1, &no_time, NULL), ppoll(&of_fd, 1, &short_time, &mask),
	      ppoll(&of_fd, 1, NULL, &mask), ppoll(&of_fd, 1, &odd_time, NULL));
#if !defined __USE_TIME_BITS64 || defined __ppoll_chk || __SIZEOF_LONG__ == 8
	POLLS(__ppoll_chk, __ppoll_chk(&of_fd, 1, &no_time, NULL, sizeof(of_fd)),
	      __ppoll_chk(&of_fd, 1, &short_time, &mask, sizeof(of_fd)),
	      __ppoll_chk(&of_fd, 1, NULL, &mask, sizeof(of_fd)),
	      __ppoll_chk(&of_fd, 1, &odd_time, NULL, sizeof(of_fd)));
#endif
	quiet_close(ends[0]);
	quiet_close(ends[1]);
}

/* Print the sets and the time after the call. */
static int selected(bool is_pselect, int nr_fds, int fd, int writable, long us)
{
	struct timeval timeout = {us / 1000000, us % 1000000};
	struct timespec precise = {us / 1000000, us % 1000000 * 1000};
	fd_set reads, writes;
	sigset_t mask;
	int result, error;

	FD_ZERO(&reads);
	FD_ZERO(&writes);
	FD_SET(fd, &reads);
	FD_SET(fd + 1, &reads);
	if (writable >= 0)
		FD_SET(writable, &writes);
	sigemptyset(&mask);
	result = is_pselect ?
			 pselect(nr_fds, &reads, &writes, NULL, us < -1 ? NULL : &precise, &mask) :
			 select(nr_fds, &reads, &writes, NULL, us < -1 ? NULL : &timeout);
	error = errno;
	say("  reads %d%d, writes %d, left %d\n", FD_ISSET(fd, &reads) != 0,
	    FD_ISSET(fd + 1, &reads) != 0, writable >= 0 && FD_ISSET(writable, &writes),
	    !is_pselect && us > 0 && timeout.tv_sec == 0 && timeout.tv_usec == 0);
	errno = error;
	return result;
}

static void selects(void)
{
	pthread_t thread;
	int ends[2], full[2];

	quiet_pipe(ends);
	quiet_pipe(full);
#define SELECTS(symbol, is_pselect)                                                                \
	part(#symbol, "1");                                                                        \
	TRY(selected(is_pselect, ends[1] + 1, ends[0], -1, 0));                                    \
	part(#symbol, "1");                                                                        \
	TRY(selected(is_pselect, ends[1] + 1, ends[0], ends[1], 1000));                            \
	part(#symbol, "2");                                                                        \
	TRY(selected(is_pselect, ends[1] + 1, ends[0], -1, 20000));                                \
	part(#symbol, "2");                                                                        \
	thread = write_later(ends[1], "x");                                                        \
	TRY(selected(is_pselect, ends[1] + 1, ends[0], -1, -2));                                   \
	pthread_join(thread, NULL);                                                                \
	part(#symbol, "1");                                                                        \
	TRY(selected(is_pselect, ends[1] + 1, ends[0], -1, -1));                                   \
	part(#symbol, "1");                                                                        \
	TRY(selected(is_pselect, -1, ends[0], -1, 1000));                                          \
	part(#symbol, "2");                                                                        \
	TRY(selected(is_pselect, NO_FD, 900, -1, 1000));                                           \
	part(#symbol, "2");                                                                        \
	syscall(SYS_read, ends[0], &(char){0}, 1);                                                 \
	alarms_begin();                                                                            \
	TRY(selected(is_pselect, ends[1] + 1, ends[0], -1, -2))
	SELECTS(select, false);
	SELECTS(pselect, true);
	quiet_close(ends[0]);
	quiet_close(ends[1]);
	quiet_close(full[0]);
	quiet_close(full[1]);
}

static void epolls(void)
{
	struct timespec no_time = {0, 0}, short_time = {0, 20000000}, odd_time = {0, -1};
	struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = 77}}, got = {0};
	struct pollfd of_fd = {0};
	int ends[2], epoll, other;
	pthread_t thread;

	quiet_pipe(ends);
	part("epoll_create", "2");
	other = (int)TRY(epoll_create(1));
	TRY(epoll_create(0));
	quiet_close(other);
	part("epoll_create1", "2");
	epoll = (int)TRY(epoll_create1(EPOLL_CLOEXEC));
	TRY(epoll_create1(~0));
	part("epoll_ctl", "5");
	TRY(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event));
	TRY(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event));
	TRY(epoll_ctl(epoll, EPOLL_CTL_MOD, ends[0], NULL));
	TRY(epoll_ctl(epoll, EPOLL_CTL_DEL, NO_FD, NULL));
	TRY(epoll_ctl(epoll, -1, ends[0], &event));
	POLLS(epoll_wait, epoll_wait(epoll, &got, 1, 0), epoll_wait(epoll, &got, 1, 20),
	      epoll_wait(epoll, &got, 1, -1), epoll_wait(epoll, &got, 0, -1));
	POLLS(epoll_pwait, epoll_pwait(epoll, &got, 1, 0, NULL),
	      epoll_pwait(epoll, &got, 1, 20, NULL), epoll_pwait(epoll, &got, 1, -1, NULL),
	      epoll_pwait(NO_FD, &got, 1, -1, NULL));
	if (syscall(SYS_epoll_pwait2, NO_FD, &got, 1, NULL, NULL, (size_t)0) == -1 && errno == ENOSYS) {
		part("epoll_pwait2", "1"); /* before Linux 5.11, and in emulators */
		TRY(epoll_pwait2(epoll, &got, 1, NULL, NULL));
	} else {
		POLLS(epoll_pwait2, epoll_pwait2(epoll, &got, 1, &no_time, NULL),
		      epoll_pwait2(epoll, &got, 1, &short_time, NULL),
		      epoll_pwait2(epoll, &got, 1, NULL, NULL),
		      epoll_pwait2(epoll, &got, 1, &odd_time, NULL));
	}
	say("  %u\n", got.data.u32);
	part("epoll_ctl", "1");
	TRY(epoll_ctl(epoll, EPOLL_CTL_DEL, ends[0], NULL));
	quiet_close(epoll);
	quiet_close(ends[0]);
	quiet_close(ends[1]);
}

/* The heap.  The pointers are volatile, because the compiler would remove the calls otherwise. */

/* Calls that wait for a disk: two events each. */
static void disks(int fd)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	part("sync_file_range", "4");
	TRY(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
	TRY(sync_file_range(NO_FD, 0, 0, 0));
	part("syncfs", "4");
	TRY(syncfs(fd));
	TRY(syncfs(NO_FD));
	part("sync", "2");
	sync();
	part("msync", "3");
	TRY(msync(page, 4096, MS_SYNC));
	TRY(msync(page, 4096, MS_ASYNC));
	part("tcdrain", "2");
	TRY(tcdrain(fd));
	part("flock", "4");
	TRY(flock(fd, LOCK_SH));
	TRY(flock(fd, LOCK_EX | LOCK_NB));
	TRY(flock(fd, LOCK_UN));
	TRY(flock(NO_FD, LOCK_EX));
	part("lockf", "3");
	TRY(lockf(fd, F_LOCK, 1));
	TRY(lockf(fd, F_ULOCK, 1));
	TRY(lockf(NO_FD, F_LOCK, 1));
	part("lockf64", "3");
	TRY(lockf64(fd, F_LOCK, 1));
	TRY(lockf64(fd, F_TEST, 1));
	TRY(lockf64(fd, 77, 1));
	munmap(page, 4096);
}

/* Transfers between a file with a few bytes and empty pipes. */
static void transfers(int fd)
{
	struct iovec vector = {(void *)"more", 4};
	pthread_t thread;
	off_t start = 0;
	off64_t at = 0;
	int from[2], to[2];
	eventfd_t value;

	quiet_pipe(from);
	quiet_pipe(to);
	part("sendfile", "2");
	TRY(sendfile(from[1], fd, &start, 5));
	TRY(sendfile(from[1], NO_FD, NULL, 5));
	part("sendfile64", "1");
	TRY(sendfile64(from[1], fd, &at, 5));
	part("tee", "1");
	TRY(tee(from[0], to[1], 3, 0));
	part("splice", "4");
	TRY(splice(from[0], NULL, to[1], NULL, 100, 0));
	TRY(splice(from[0], NULL, to[1], NULL, 100, SPLICE_F_NONBLOCK));
	TRY(splice(NO_FD, NULL, to[1], NULL, 100, 0));
	part("splice", "2");
	thread = write_later(from[1], "late");
	TRY(splice(from[0], NULL, to[1], NULL, 100, 0));
	pthread_join(thread, NULL);
	part("vmsplice", "2");
	TRY(vmsplice(from[1], &vector, 1, 0));
	TRY(vmsplice(NO_FD, &vector, 1, 0));
	quiet_close(from[0]);
	quiet_close(from[1]);
	quiet_close(to[0]);
	quiet_close(to[1]);
	part("copy_file_range", "4");
	at = 1;
	TRY(copy_file_range(fd, &at, fd, &(off64_t){100}, 3, 0));
	TRY(copy_file_range(fd, &at, NO_FD, NULL, 3, 0));
	fd = eventfd(1, 0);
	part("eventfd_read", "3");
	TRY(eventfd_read(fd, &value));
	thread = write_later(fd, "8 bytes.");
	TRY(eventfd_read(fd, &value));
	pthread_join(thread, NULL);
	part("eventfd_write", "2");
	TRY(eventfd_write(fd, 1));
	TRY(eventfd_write(NO_FD, 1));
	quiet_close(fd);
}

/* Queries to name servers that the C library answers itself. */
static void hosts(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST}, *found;
	struct hostent entry, *host;
	char text[1024], service[32];
	int error;

	part("getaddrinfo", "4");
	TRY(getaddrinfo("127.0.0.1", "80", &numeric, &found));
	freeaddrinfo(found);
	TRY(getaddrinfo("none.", NULL, &numeric, &found));
	part("getnameinfo", "4");
	TRY(getnameinfo((void *)&address, sizeof(address), text, sizeof(text), service,
			sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV));
	TRY(getnameinfo((void *)&address, 1, text, sizeof(text), NULL, 0, NI_NUMERICHOST));
	part("gethostbyname", "2");
	TRY_POINTER(gethostbyname("127.0.0.1"));
	part("gethostbyname2", "2");
	TRY_POINTER(gethostbyname2("127.0.0.1", AF_INET));
	part("gethostbyaddr", "2");
	TRY_POINTER(gethostbyaddr(&address.sin_addr, 1, AF_INET));
	part("gethostbyname_r", "4");
	TRY(gethostbyname_r("127.0.0.1", &entry, text, sizeof(text), &host, &error));
	TRY(gethostbyname_r("127.0.0.1", &entry, text, 1, &host, &error));
	part("gethostbyname2_r", "2");
	TRY(gethostbyname2_r("127.0.0.1", AF_INET, &entry, text, sizeof(text), &host, &error));
	part("gethostbyaddr_r", "2");
	TRY(gethostbyaddr_r(&address.sin_addr, 1, AF_INET, &entry, text, sizeof(text), &host, &error));
}

static void requests(int fd)
{
	struct aiocb request = {.aio_fildes = fd};
	const struct aiocb *list[] = {NULL, &request};
	struct aiocb64 large = {.aio_fildes = fd};
	const struct aiocb64 *large_list[] = {&large};

	part("aio_suspend", "2");
	aio_fsync(O_SYNC, &request);
	while (aio_error(&request) == EINPROGRESS)
		syscall(SYS_sched_yield);
	TRY(aio_suspend(list, 2, NULL));
	TRY(aio_suspend(list, 0, &(struct timespec){0, 1}));
	part("aio_suspend64", "1");
	aio_fsync64(O_SYNC, &large);
	while (aio_error64(&large) == EINPROGRESS)
		syscall(SYS_sched_yield);
	TRY(aio_suspend64(large_list, 1, NULL));
}

static void *volatile memory;
static volatile size_t too_much = (size_t)-1 / 2;

static void heap(void)
{
	void *aligned = NULL;

#define ALLOCATES(symbol, right, wrong)                                                            \
	part(#symbol, "2");                                                                        \
	memory = TRY_POINTER(right);                                                               \
	say("  %d\n", (int)((uintptr_t)memory % 16));                                              \
	free(memory);                                                                              \
	memory = TRY_POINTER(wrong)
	ALLOCATES(malloc, malloc(100), malloc(too_much));
	ALLOCATES(calloc, calloc(10, 10), calloc(too_much, 4));
	ALLOCATES(realloc, realloc(NULL, 50), realloc(NULL, too_much));
	ALLOCATES(reallocarray, reallocarray(NULL, 5, 5), reallocarray(NULL, too_much, 4));
	ALLOCATES(memalign, memalign(64, 64), memalign(64, too_much));
	ALLOCATES(aligned_alloc, aligned_alloc(64, 64), aligned_alloc(64, too_much));
	ALLOCATES(valloc, valloc(10), valloc(too_much));
	ALLOCATES(pvalloc, pvalloc(10), pvalloc(too_much));
	part("posix_memalign", "2");
	TRY(posix_memalign(&aligned, 64, 10));
	free(aligned);
	TRY(posix_memalign(&aligned, 3, 10));
	memory = malloc(8);
	memcpy(memory, "1234567", 8);
	part("realloc", "1");
	memory = realloc(memory, 100000);
	say("  '%s'\n", (char *)memory);
	part("free", "2");
	free(memory);
	free(NULL);
	say("  errno %d\n", errno);
	part("end", "0");
}

static int print_those_there(void)
{
	char name[80];

	while (scanf("%79s", name) == 1)
		if (dlsym(RTLD_DEFAULT, name))
			puts(name);
	return 0;
}

/* Calls of wrappers that can record two calls: the other call of each. */
static void other_calls(void)
{
	FILE *stream = fopen("stream", "w");

	quiet_close(fcntl(0, F_DUPFD, HIGH_FD));
	prctl(PR_SET_NAME, "others");
	freopen("missing/file", "r", stream);
#ifdef HAVE_CLOSE_RANGE
	close_range(2, 2, CLOSE_RANGE_CLOEXEC);
#endif
}

/* The call of the same wrappers that has their name, or the one of their row. */
static void own_calls(void)
{
	fcntl(0, F_GETFD);
	prctl(PR_GET_DUMPABLE);
	freopen("file", "w", stdout);
#ifdef HAVE_CLOSE_RANGE
	close_range(2, 2, 0);
#endif
}

int main(int argc, char **argv)
{
	int pair[2], fd;

	if (argc == 2 && strcmp(argv[1], "--has") == 0)
		return print_those_there();

	if (argc < 2 || chdir(argv[1]) != 0)
		return 2;
	if (argc > 2 && strcmp(argv[2], "beyond") == 0) {
		/* Descriptors that the object has no table for: one that is open, and two that are not. */
		if (fcntl(0, F_DUPFD, BEYOND_FD) != BEYOND_FD)
			return 77;
		close(BEYOND_FD);
		close(BEYOND_FD);
		close(BEYOND_FD + 1);
		return 0;
	}
	if (argc > 2 && strcmp(argv[2], "others") == 0) {
		other_calls();
		own_calls();
		return 0;
	}
	if (argc > 2 && strcmp(argv[2], "own") == 0) {
		own_calls();
		other_calls();
		return 0;
	}
	if (argc > 2) {
		heap();
		return 0;
	}
	opens();
	closes();
	fd = open("c", O_CREAT | O_RDWR | O_TRUNC, 0600);
	writes_of(fd);
	disks(fd);
	transfers(fd);
	requests(fd);
	hosts();
	quiet_close(fd);
	names();
	doubles();
	pipes();
	prints();
	prints_out();
	opens_streams();
	reads_streams();
	streams_wait();
	makes_sockets();
	serves();
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	sends(pair);
	quiet_close(pair[0]);
	quiet_close(pair[1]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	receives(pair);
	quiet_close(pair[0]);
	quiet_close(pair[1]);
	datagrams();
	polls();
	selects();
	epolls();
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	receives_all(pair);
	receives_errors();
	part("end", "0");
	return 0;
}
