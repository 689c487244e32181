/* SPDX-License-Identifier: MIT */
#include "event/attr.h"

#include <string.h>

#include "config.h"

#define MAGIC UINT64_C(0x3172747461787870) /* the bytes "pxxattr1" on a little-endian machine */

_Static_assert(sizeof(PACKAGE_STRING) <= PX_TRACE_NAME_MAX, "GENVER-2");

void px_attr_init(struct px_attr *attr)
{
	struct timespec resolution;

	*attr = (struct px_attr){
		.magic = MAGIC,
		.version = PACKAGE_STRING,
		.stream_size = 65536,
		.max_data_size = 256,
		.log_size = 1 << 20,
		.stream_policy = PX_POLICY_DEFAULT,
		.log_policy = PX_POLICY_LOOP,
	};
	if (clock_getres(CLOCK_MONOTONIC, &resolution) == 0)
		attr->clock_resolution = (struct px_attr_time){.s = resolution.tv_sec, .ns = resolution.tv_nsec};
}

void px_attr_destroy(struct px_attr *attr)
{
	attr->magic = 0;
}

bool px_attr_is_valid(const struct px_attr *attr)
{
	return attr && attr->magic == MAGIC;
}

void px_attr_set_name(struct px_attr *attr, const char *name)
{
	size_t length = strnlen(name, PX_TRACE_NAME_MAX - 1);

	memcpy(attr->name, name, length);
	memset(attr->name + length, 0, sizeof(attr->name) - length);
}
