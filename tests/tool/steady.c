/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes a file every millisecond, as often as the first argument says.  It writes the time before each
 * open(), in ns of CLOCK_REALTIME, to the file of the second argument, without a call that is traced meanwhile.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long nr = argc > 2 ? atol(argv[1]) : 0;
	long long *begun = calloc((size_t)nr + 1, sizeof(*begun));
	FILE *account;

	for (long i = 0; i < nr; i++) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		begun[i] = now.tv_sec * 1000000000LL + now.tv_nsec;
		close(open("/dev/null", O_RDONLY));
		usleep(1000);
	}
	account = argc > 2 ? fopen(argv[2], "w") : NULL;
	if (!account)
		return 1;
	for (long i = 0; i < nr; i++)
		fprintf(account, "%lld\n", begun[i]);
	free(begun);
	return fclose(account) != 0;
}
