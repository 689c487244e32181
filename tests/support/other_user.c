/* SPDX-License-Identifier: MIT */
#include "base/layout.h"
#include "support/other_user.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/common.h"

#define ARGUMENT "--foreigner"

/* Ids that no system gives to a user, and that also exist in a container with 65536 ids. */
#define FIRST_USER 54000
#define NR_GROUPS_OF_USERS 5000

static uid_t first_user;

/*
 * Only one socket at a time can have a name.  The kernel frees the name with the last descriptor of the socket.  A
 * forked child shares the descriptor.
 */
static bool reserve_name(unsigned int group)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			      "posixtrace-check-users-%u", group);

	if (fd >= 0 &&
	    bind(fd, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0)
		return true;
	close(fd);
	return false;
}

void px_test_reserve_users(void)
{
	unsigned int group = 0;
	struct stat status;

	/* These users must be able to execute this program; after a build under umask 077 they cannot. */
	if (geteuid() == 0 && stat("/proc/self/exe", &status) == 0)
		chmod("/proc/self/exe", (status.st_mode & 07777) | 0555);
	while (!reserve_name(group))
		if (++group == NR_GROUPS_OF_USERS)
			abort();
	first_user = FIRST_USER + group * PX_TEST_USERS;
}

uid_t px_test_user(unsigned int index)
{
	if (!first_user || index >= PX_TEST_USERS)
		abort();
	return first_user + index;
}

struct message {
	uint32_t order; /* enum px_other_user_request */
	uint32_t number;
	uint32_t count;
	char text[64];
};

/* In the process of the other user: the socket is descriptor 0. */

static trace_event_id_t type;

static int open_type(const char *name)
{
	int error = posix_trace_eventid_open(name, &type);

	return error ? -error : (int)type;
}

static int exit_code(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int record_in_child(uint32_t number)
{
	pid_t child = fork();

	if (child == 0) {
		px_test_trace(type, number);
		_exit(0);
	}
	return exit_code(child);
}

static int run_program(const char *path, const char *name, uint32_t number)
{
	char text[16];
	pid_t child;

	snprintf(text, sizeof(text), "%u", number);
	child = fork();
	if (child == 0) {
		execl(path, "check", ARGUMENT, "record", name, text, NULL);
		_exit(126);
	}
	return exit_code(child);
}

static int create_for_itself(void)
{
	trace_id_t trid;
	int error = posix_trace_create(0, NULL, &trid);

	return error ? error : posix_trace_shutdown(trid);
}

static int hold_lock(void)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[128];

	px_other_user_path(path, geteuid(), PX_LAYOUT_REGISTRY);
	return fcntl(open(path, O_RDWR | O_CLOEXEC), F_SETLK, &whole) == 0 ? 0 : errno;
}

static int obey(const struct message *message)
{
	switch ((enum px_other_user_request)message->order) {
	case FOREIGN_OPEN:
		return open_type(message->text);
	case FOREIGN_RECORD:
		for (uint32_t i = 0; i < message->count; i++)
			px_test_trace(type, message->number + i);
		return 0;
	case FOREIGN_FORK:
		return record_in_child(message->number);
	case FOREIGN_EXEC:
		return run_program("/proc/self/exe", message->text, message->number);
	case FOREIGN_RUN:
		return run_program(message->text, "by program", message->number);
	case FOREIGN_CREATE:
		return create_for_itself();
	case FOREIGN_SECURE:
		return (int)getauxval(AT_SECURE);
	case FOREIGN_HOLD_LOCK:
		return hold_lock();
	}
	return -1;
}

static int serve(void)
{
	struct message message;
	int answer = 0;

	if (write(0, &answer, sizeof(answer)) != sizeof(answer))
		return 1;
	while (read(0, &message, sizeof(message)) == sizeof(message)) {
		answer = obey(&message);
		if (write(0, &answer, sizeof(answer)) != sizeof(answer))
			return 2;
	}
	return 0;
}

/* The kernel lets no process inspect a set-user-ID program, so the leak sanitizer would fail. */
_Noreturn static void leave(int code)
{
	if (getauxval(AT_SECURE))
		_exit(code);
	exit(code);
}

void px_other_user_main(int argc, char **argv, const struct px_other_user_role_entry *roles)
{
	if (argc < 3 || strcmp(argv[1], ARGUMENT) != 0) {
		px_test_reserve_users();
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(argv[2], "serve") == 0)
		leave(serve());
	if (strcmp(argv[2], "record") == 0 && argc == 5) {
		if (open_type(argv[3]) < 0)
			exit(3);
		px_test_trace(type, (uint32_t)strtoul(argv[4], NULL, 10));
		leave(0);
	}
	for (; roles && roles->name; roles++)
		if (strcmp(argv[2], roles->name) == 0)
			exit(roles->run(argc - 3, argv + 3));
	exit(125);
}

/* The test's side. */

static void become(uid_t real, uid_t effective)
{
	unsetenv("TXTRACE_DIR");
	if (setgroups(0, NULL) != 0 || setresgid(effective, effective, effective) != 0 ||
	    setresuid(real, effective, effective) != 0)
		_exit(124);
}

static void start(struct px_other_user *foreigner, const char *path, uid_t real, uid_t effective)
{
	int ends[2], answer = -1;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	foreigner->pid = fork();
	ck_assert_int_ge(foreigner->pid, 0);
	if (foreigner->pid == 0) {
		become(real, effective);
		dup2(ends[1], 0);
		execl(path, "check", ARGUMENT, "serve", NULL);
		_exit(126);
	}
	close(ends[1]);
	foreigner->socket = ends[0];
	ck_assert_int_eq(read(ends[0], &answer, sizeof(answer)), sizeof(answer));
	ck_assert_int_eq(answer, 0);
}

void px_other_user_start(struct px_other_user *foreigner, uid_t uid)
{
	start(foreigner, "/proc/self/exe", uid, uid);
}

void px_other_user_start_program(struct px_other_user *foreigner, const char *path, uid_t real,
				uid_t effective)
{
	start(foreigner, path, real, effective);
}

pid_t px_other_user_start_role(const char *role, uid_t uid, const char *argument)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		become(uid, uid);
		execl("/proc/self/exe", "check", ARGUMENT, role, argument, NULL);
		_exit(126);
	}
	return child;
}

int px_other_user_tell(const struct px_other_user *foreigner, enum px_other_user_request order,
		      const char *text, uint32_t number, uint32_t count)
{
	struct message message = {.order = order, .number = number, .count = count};
	int answer;

	if (text)
		snprintf(message.text, sizeof(message.text), "%s", text);
	ck_assert_int_eq(write(foreigner->socket, &message, sizeof(message)), sizeof(message));
	ck_assert_int_eq(read(foreigner->socket, &answer, sizeof(answer)), sizeof(answer));
	return answer;
}

int px_other_user_stop(struct px_other_user *foreigner)
{
	close(foreigner->socket);
	return exit_code(foreigner->pid);
}

/* What is left. */

void px_other_user_path(char path[128], uid_t uid, const char *name)
{
	snprintf(path, 128, "/dev/shm/posixtrace-%u%s%.60s", (unsigned int)uid, *name ? "/" : "",
		 name);
}

bool px_other_user_exists(uid_t uid, const char *name)
{
	struct stat status;
	char path[128];

	px_other_user_path(path, uid, name);
	return lstat(path, &status) == 0;
}

int px_other_user_count_files(uid_t uid, const char *prefix)
{
	struct dirent *entry;
	char path[128];
	int count = 0;
	DIR *files;

	px_other_user_path(path, uid, "");
	files = opendir(path);
	if (!files)
		return 0;
	while ((entry = readdir(files)))
		count += entry->d_name[0] != '.' &&
			 strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	closedir(files);
	return count;
}

void px_other_user_remove_directory(uid_t uid)
{
	char path[128], command[300];

	px_other_user_path(path, uid, "");
	snprintf(command, sizeof(command), "rm -rf '%s' '%s.aside'", path, path);
	ck_assert_int_eq(system(command), 0);
}

/* key shmid perms size cpid lpid nattch uid ... */
static int for_segments(uid_t uid, bool remove)
{
	FILE *list = fopen("/proc/sysvipc/shm", "r");
	char line[512];
	int count = 0;

	ck_assert_ptr_nonnull(list);
	while (fgets(line, sizeof(line), list)) {
		unsigned int owner;
		int id;

		if (sscanf(line, "%*s %d %*s %*s %*s %*s %*s %u", &id, &owner) != 2 || owner != uid)
			continue;
		count++;
		if (remove)
			shmctl(id, IPC_RMID, NULL);
	}
	fclose(list);
	return count;
}

int px_other_user_count_segments(uid_t uid)
{
	return for_segments(uid, false);
}

void px_other_user_remove_segments(uid_t uid)
{
	for_segments(uid, true);
}
