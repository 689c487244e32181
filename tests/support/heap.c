/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "support/heap.h"

#include <malloc.h>

bool px_test_heap(size_t *bytes)
{
#if defined HAVE_MALLINFO2
	struct mallinfo2 info = mallinfo2();
#elif defined HAVE_MALLINFO
	struct mallinfo info = mallinfo(); /* its numbers have 32 bits, which is enough for a test */
#else
	struct {
		size_t uordblks, hblkhd;
	} info = {0, 0};
#endif

	*bytes = (size_t)info.uordblks + (size_t)info.hblkhd;
#if defined HAVE_MALLINFO2 || defined HAVE_MALLINFO
	return true;
#else
	return false;
#endif
}
