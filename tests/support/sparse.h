/* SPDX-License-Identifier: MIT */
#ifndef PX_TEST_SPARSE_H
#define PX_TEST_SPARSE_H
/*
 * Files of which most are holes.  Nothing here reads or touches a hole: each of its pages would be a page fault, and
 * thousands of them take longer than what a test does with the data.
 *
 * The functions move the offset of the descriptor.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a file has data. */
struct px_test_extents {
	struct px_test_extent {
		off_t begin, end;
	} *data;
	size_t nr;
};

/* The extents of the file's first size bytes.  The caller frees .data. */
struct px_test_extents px_test_find_extents(int fd, uint64_t size);

/* Return memory for the file's first size bytes, with these extents in it, or NULL if the file is too short. */
unsigned char *px_test_copy_extents(int fd, uint64_t size, const struct px_test_extents *extents);

/* The file has this size, the same extents, and the same data in them as the memory. */
bool px_test_is_copy(const unsigned char *bytes, int fd, uint64_t size, const struct px_test_extents *extents);

/* Make the file one that has only these extents, with the data that the memory has there. */
void px_test_put_extents(int fd, const unsigned char *bytes, uint64_t size, const struct px_test_extents *extents);

#endif
