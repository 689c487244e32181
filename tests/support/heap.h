/* SPDX-License-Identifier: MIT */
/* How much memory malloc() has given away. */
#ifndef PX_TESTS_SUPPORT_HEAP_H
#define PX_TESTS_SUPPORT_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes in use, of the heap and of mappings.  Return false if the C library does not count them. */
bool px_test_heap(size_t *bytes);

#endif
