/* SPDX-License-Identifier: MIT */
/*
 * The tables have no pointers, as in native.c, so the dynamic linker has nothing to relocate in
 * them.
 */
#include "event/calls.h"

#include <stddef.h>

struct names {
#define PX_CALL(name, ...) char of_##name[sizeof(#name)];
#include "event/calls.def"
};

static const struct names names = {
#define PX_CALL(name, ...) .of_##name = #name,
#include "event/calls.def"
};

static const uint16_t offset[PX_CALLS] = {
#define PX_CALL(name, ...) offsetof(struct names, of_##name),
#include "event/calls.def"
};

#define PX_TXTB_NONE PX_CALL_OBJECT_NONE
#define PX_TXTB_SOCKET PX_CALL_OBJECT_SOCKET

const struct px_call_facts px_calls[PX_CALLS] = {
#define PX_CALL(name, group, layout_, object_, native_, state_, info1, info2, info3, info4,        \
		fields)                                                                            \
	{.native = native_,                                                                        \
	 .layout = PX_LAYOUT_##layout_,                                                            \
	 .object = PX_TXTB_##object_,                                                              \
	 .state = state_,                                                                          \
	 .info = {PX_INFO_##info1, PX_INFO_##info2, PX_INFO_##info3, PX_INFO_##info4}},
#include "event/calls.def"
};

const uint8_t px_calls_counted[PX_CALLS] = {
#define PX_COUNTED(name, effect) [PX_CALL_##name] = PX_COUNTED_##effect,
#include "event/calls.def"
};

const char *px_call_name(enum px_call call)
{
	return (const char *)&names + offset[call];
}
