/* SPDX-License-Identifier: MIT */
#include "live/directory.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "live/target.h"

#define NAME_BYTES 40
#define ADVICE "; see TXTRACE_DIR in posixtrace(7)"

/* The library does not follow a link at the end of TXTRACE_DIR, and target_registry() does. */
static char *path_for(uid_t uid)
{
	const char *own = getenv("TXTRACE_DIR");

	return must(uid == geteuid() && own && *own ? strdup(own) : directory_of(target_registry(uid)));
}

static const char *user_name(uid_t uid, char name[NAME_BYTES])
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(name, NAME_BYTES, "%s", user->pw_name);
	else
		snprintf(name, NAME_BYTES, "user %u", (unsigned int)uid);
	return name;
}

/* Return the error number of making a directory with this path; 0: it can be made, as far as this process can tell. */
static int error_of_making(const char *path, uid_t uid)
{
	char *parent = must(directory_of(path));
	int error = 0;

	if (may_access(parent, uid == geteuid() ? W_OK | X_OK : F_OK) != 0)
		error = errno;
	free(parent);
	return error;
}

static bool judge(const char *path, const struct stat *status, uid_t uid, char *why)
{
	char owner[NAME_BYTES], user[NAME_BYTES];

	if (!S_ISDIR(status->st_mode))
		snprintf(why, DIRECTORY_REFUSAL_BYTES, "%s, the place for shared memory, is no directory" ADVICE, path);
	else if (status->st_uid != uid)
		snprintf(why, DIRECTORY_REFUSAL_BYTES,
			 "%s, the directory for shared memory, belongs to %s, not to %s" ADVICE, path,
			 user_name(status->st_uid, owner), user_name(uid, user));
	else if ((status->st_mode & 077) != 0)
		snprintf(why, DIRECTORY_REFUSAL_BYTES,
			 "other users can access %s, the directory for shared memory: its mode is %04o, not "
			 "0700" ADVICE,
			 path, (unsigned int)status->st_mode & 07777);
	else if (uid == geteuid() && may_access(path, R_OK | W_OK | X_OK) != 0)
		snprintf(why, DIRECTORY_REFUSAL_BYTES, "%s, the directory for shared memory: %s" ADVICE, path,
			 strerror(errno));
	else
		return false;
	return true;
}

bool directory_is_refused(uid_t uid, char why[DIRECTORY_REFUSAL_BYTES])
{
	char *path = path_for(uid);
	struct stat status;
	bool is_refused;
	int error;

	if (lstat(path, &status) == 0) {
		is_refused = judge(path, &status, uid, why);
	} else {
		error = errno == ENOENT ? error_of_making(path, uid) : errno;
		is_refused = error != 0;
		if (is_refused)
			snprintf(why, DIRECTORY_REFUSAL_BYTES,
				 "%s, the directory for shared memory, cannot be made: %s" ADVICE, path,
				 strerror(error));
	}
	free(path);
	return is_refused;
}
